"""The whole command against a program that races by rule."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import KIT
from conformance.pdlkit.tests.processes import alive
from conformance.rewrite.tests.images import EXIT, STACK, Kernel, cubin
from conformance.stress import command, main
from conformance.stress.detector import Effort, Result, hold_lengths, sentence
from conformance.stress.oracle import Observed, Oracle
from conformance.stress.program import Calibration
from conformance.stress.ptx.hold_code import AFTER_WAIT, BEFORE_EXIT
from conformance.stress.search import Race

LONGEST_S = 600.0  # against a hang
KERNELS = "a,b,c,d,e"
FAKE: list[str] = []  # the program that races by rule


@pytest.fixture(scope="module", autouse=True)
def _fake(fake_races: str) -> None:
    FAKE[:] = [fake_races]


def stress(capsys: pytest.CaptureFixture[str], pairs: str, *options: str) -> tuple[int, str]:
    code = main([*options, "--compare-outputs", "--seed", "7", "--", *FAKE, pairs, KERNELS])
    return code, capsys.readouterr().out


def test_two_races_are_named_with_a_seed_to_replay(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = stress(capsys, "a>b,d>c")
    assert code == 1
    assert "kernel b reads before, or without, its wait, what kernel a writes" in out
    assert "kernel c reads before, or without, its wait, what kernel d writes" in out
    replay = next(line for line in out.splitlines() if line.strip().startswith("replay: "))
    assert "--seed" in replay and "--only" in replay and "stressed at most" in out


def test_a_right_program_is_left_in_peace(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = stress(capsys, "")
    assert code == 0 and "nothing found" in out


def test_replay_goes_wrong_at_once_and_exempting_the_primary_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert stress(capsys, "a>b", "--seeds", "1", "--only", "^a$")[0] == 1
    assert stress(capsys, "a>b", "--exempt", "^a$")[0] == 0
    assert stress(capsys, "a>b", "--protect", "^b$")[0] == 0


def test_what_the_user_exempts_does_not_make_a_session_inconclusive(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--compare-outputs", "--seed", "7", "--", *FAKE, "", "a,b,untouched"]
    assert main(argv) == 2
    out = capsys.readouterr().out
    assert "not stressed: untouched: it was not seen when it was loaded" in out and "1 kernels could not be rewritten" in out
    assert main(["--exempt", "^untouched$", *argv]) == 0


@pytest.mark.parametrize("own,label,code", [("", "latent", 1), ("a=early", "race now", 1),
                                            ("a=late", "relies on the trigger\'s place", 0)])
def test_each_race_gets_its_kind_and_a_trigger_that_is_moved_accuses_nobody(capsys: pytest.CaptureFixture[str], own: str, label: str,
                                                                            code: int) -> None:
    argv = ["--compare-outputs", "--seed", "7", "--", *FAKE, "a>b", KERNELS, own]
    assert main(argv) == code
    out = capsys.readouterr().out
    assert f"  {label}: " in out and "kernel b reads" in out
    assert main(["--strict", *argv]) == 1


def test_without_an_oracle_the_copies_that_are_the_same_each_time_judge(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--seed", "7", "--json", "--", *FAKE, "a>b", KERNELS]
    assert main(argv) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["copies"] == 2 and report["stable_copies"] == 1 and report["races"] == [{"primary": "a", "dependents": ["b"]}]
    assert report["failures"][0] == "copy 1 to the host (64 bytes, made after kernel e) differs from the plain runs' in 1 of its 16 parts"
    assert main([*argv[:-2], "", KERNELS]) == 0


@pytest.mark.parametrize(("options", "said"), [(["--only", "^typo$"], "--only names no kernel"),
                                               (["--exempt", "."], "every kernel is exempt")])
def test_a_session_that_holds_nothing_finds_nothing_out(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = stress(capsys, "a>b", *options)
    assert code == 2 and said in out and "nothing was stressed" in out


def test_nothing_found_needs_something_that_judges(capsys: pytest.CaptureFixture[str]) -> None:
    """A program whose results stay on the GPU ends with the same code, right or wrong."""
    for options, code in (([], 2), (["--compare-outputs"], 2), (["--expr", "code == 0"], 0)):
        assert main(["--seed", "7", *options, "--", *FAKE, "", KERNELS, "silent=yes"]) == code
        assert ("nothing but the exit code judged them" in capsys.readouterr().out) == (code == 2)
    plain = Observed(code=0, stdout=b"", stderr=b"", seconds=0.1)
    for oracle, judges in ((Oracle(digests=True), False), (Oracle(compare_stdout=True), False), (Oracle(check="true"), True),
                           (Oracle(files=("x",)), True), (Oracle(expression="code == 0"), True)):
        assert oracle.judges(plain, Counter()) is judges
    assert Oracle(compare_stdout=True).judges(replace(plain, stdout=b"1"), Counter())


def session(capsys: pytest.CaptureFixture[str], pairs: str, own: str, *options: str, kernels: str = KERNELS) -> tuple[int, dict[str, Any]]:
    code = main([*options, "--seed", "7", "--json", "--", *FAKE, pairs, kernels, own])
    return code, json.loads(capsys.readouterr().out)


def test_a_hang_under_stress_is_reported_and_is_no_race(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = session(capsys, "", "hangs=b", "--timeout", "2", "--seeds", "1")
    assert code == 2 and report["races"] == [] and "holding b: it did not end in 2 s" in report["hangs"]
    assert "which is no race" in report["sentence"]


def test_what_no_wait_cures_is_a_missing_order_or_a_matter_of_time(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = session(capsys, "", "host=b")
    assert code == 1 and "the order is missing on the host" in report["sentence"]
    code, report = session(capsys, "", "time=b")
    assert code == 2 and "time-dependent, inconclusive" in report["sentence"] and report["races"] == []


def test_kernels_that_wait_for_others_are_left_alone_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    kernels = "a,ncclDevKernel_AllReduce,b"
    code, report = session(capsys, "ncclDevKernel_AllReduce>b", "", kernels=kernels)
    assert code == 0 and report["left_alone"] == ["ncclDevKernel_AllReduce"]


def test_copies_that_differ_among_plain_runs_show_a_race_only_if_waiting_settles_them(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = session(capsys, "a>b", "natural=yes")
    assert report["natural"] and code == 1
    code, report = session(capsys, "", "")  # the first copy holds the process's number and never settles
    assert code == 0 and not report["natural"] and report["stable_copies"] == 1


def test_output_files_are_never_removed_and_count_only_if_the_run_wrote_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                                             capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    main(["--compare-files", "precious", "--", *FAKE, "", KERNELS])
    assert precious.read_text() == "mine"
    capsys.readouterr()
    oracle = Oracle(files=("precious",))
    before = oracle.marks(tmp_path)
    assert oracle.collect(tmp_path, before) == {"precious": None}
    precious.write_text("mine")
    assert oracle.collect(tmp_path, before) == {"precious": b"mine"}
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadArguments, match="regular files"):
        main(["--compare-files", "pipe", "--", "true"])


def test_json_is_alone_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = stress(capsys, "a>b", "--json")
    report = json.loads(out)
    assert code == 1 and report["races"] == [{"primary": "a", "dependents": ["b"]}] and report["failed_runs"] > 0


def test_a_flaky_program_is_inconclusive(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--compare-outputs", "--", sys.executable, "-c", "import os; print(os.getpid())"])
    assert code == 2 and "flaky" in capsys.readouterr().out


def test_a_program_without_kernels_is_inconclusive(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--", sys.executable, "-c", "pass"]) == 2
    assert main(["--", sys.executable, "-c", "raise SystemExit(3)"]) == 2
    assert "wrong without any stress" in capsys.readouterr().out


@pytest.mark.parametrize("argv", [[], ["--"], ["--seed", "xyz", "--", "true"], ["--seeds", "0", "--", "true"],
                                  ["--only", "(", "--", "true"], ["--", "/no/such/program"], ["--hold", "-1", "--", "true"],
                                  ["--check", " ", "--", "true"], ["--check", "'", "--", "true"],
                                  ["--check", "/no/such/program", "--", "true"], ["--dtype", "float32", "--", "true"],
                                  ["--bogus", "--", "true"]])
def test_bad_arguments(argv: list[str]) -> None:
    with pytest.raises(BadArguments):
        main(argv)


ASKED = ["--seed", "5eed", "--seeds", "4", "--plain-runs", "5", "--repeats", "6", "--confirm", "7", "--hold", "8", "--only", "o",
         "--exempt", "e", "--protect", "p"]


@pytest.mark.parametrize(("option", "more"), [("--after-wait", AFTER_WAIT), ("--before-exit", BEFORE_EXIT)])
def test_every_number_and_name_reaches_the_session(option: str, more: int) -> None:
    """A repeat that got lost would leave a race unseen, and a name another kernel unheld."""
    given = command._checked(command._parser().parse_args([*ASKED, option, "--strict", "--", "true"]))
    assert command._effort(given) == Effort(0x5EED, 4, 5, 6, 7, 8, "o", "e", "p", more, True)
    assert not command._effort(command._parser().parse_args(["--", "true"])).strict


@pytest.mark.parametrize("option", ["--seeds", "--plain-runs", "--repeats", "--confirm"])
def test_what_is_run_is_run_at_least_once(option: str) -> None:
    with pytest.raises(BadArguments, match=f"{option} takes 1 or more"):
        command._checked(command._parser().parse_args([option, "0", "--", "true"]))


@pytest.mark.parametrize(("tolerance", "allowed"), [("0", True), ("0.999", True), ("1", False), ("-0.1", False), ("nan", False)])
def test_a_tolerance_is_small_and_dtype_goes_with_any(tolerance: str, allowed: bool) -> None:
    given = command._parser().parse_args(["--tolerance", tolerance, "--dtype", "float32", "--", "true"])
    with contextlib.nullcontext() if allowed else pytest.raises(BadArguments, match="--tolerance"):
        command._checked(given)


@pytest.mark.parametrize("loading", ["--lazy-loading", "--eager-loading"])
def test_a_replay_judges_and_loads_as_the_session_did(loading: str) -> None:
    judged = [loading, "--check", "true", "--expr", "code == 0", "--hold", "9", "--tolerance", "0.5", "--dtype", "float32",
              "--exempt", "e f", "--protect", "p", "--compare-files", "x", "--compare-files", "y", "--compare-outputs",
              "--after-wait", "--before-exit", "--strict"]
    given = command._checked(command._parser().parse_args([*judged, "--", "true", "two words"]))
    result: Any = SimpleNamespace(seed=0x5)
    words = shlex.split(command._replay(given, result, Race("a.b with c", ("d",))))
    assert words[:3] == ["python3", "conformance", "stress"]
    again = command._checked(command._parser().parse_args(words[3:]))
    assert vars(again) == {**vars(given), "seed": "0000000000000005", "seeds": 1, "only": r"^(a\.b|c)$"}
    assert "--only" not in command._replay(given, result, None)


@pytest.mark.parametrize("judge", [[], ["--check", "true"], ["--expr", "1"], ["--compare-files", "x"], ["--compare-outputs"]])
def test_copies_to_the_host_judge_if_nothing_else_does(judge: list[str], tmp_path: Path) -> None:
    given = command._parser().parse_args([*judge, "--lazy-loading", "--", "true"])
    assert command._program(given, tmp_path).oracle.digests is not bool(judge)


def test_all_that_was_found_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    races = [Race("a", ("b",)), Race("c", ("d",))]
    command._print(Result(code=1, races=races, unexplained=["nobody knows"], hangs=["one"], waiting=["d"]), ["first", "second"])
    out = capsys.readouterr().out
    assert all(word in out for word in (*map(sentence, races), "replay: first", "replay: second", "nobody knows", "hang: one"))
    assert out.count("no wait was seen in its code") == 1, "d waits"


@pytest.mark.parametrize(("blocking", "told"), [("1", True), ("0", False), ("", False)])
def test_what_is_kept_stays_and_the_folder_of_a_session_goes(blocking: str, told: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                                                              capsys: pytest.CaptureFixture[str]) -> None:
    folders = list[Path]()

    class Stub:
        def __init__(self, program: Any, effort: Effort, say: object) -> None:
            folders.append(program.folder)

        def run(self) -> Result:
            (folders[-1] / "plan").touch()
            return Result(code=0)

    monkeypatch.setattr(command, "Detector", Stub)
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", blocking)
    for more in (["--keep", str(tmp_path / "mine")], []):
        assert main([*more, "--json", "--lazy-loading", "--", "true"]) == 0
        assert any("CUDA_LAUNCH_BLOCKING" in note for note in json.loads(capsys.readouterr().out)["notes"]) is told
    assert folders[0] == tmp_path / "mine" and (folders[0] / "plan").is_file() and not folders[1].exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_program_and_all_that_it_started_end_with_the_command(tmp_path: Path, number: signal.Signals) -> None:
    said = tmp_path / "pids"
    program = (f"import os, subprocess, time; child = subprocess.Popen(['sleep', '3600'], start_new_session=True); "
               f"open({str(tmp_path / 'draft')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}'); "
               f"os.rename({str(tmp_path / 'draft')!r}, {str(said)!r}); time.sleep(3600)")
    command = subprocess.Popen([sys.executable, KIT, "stress", "--keep", tmp_path / "kept", "--", sys.executable, "-c", program],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + LONGEST_S
    while not said.exists():
        assert command.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    pids = [int(word) for word in said.read_text().split()]
    command.send_signal(number)
    command.wait()
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < until, "the program outlives the command"
        time.sleep(0.05)


def test_the_hold_follows_the_path() -> None:
    found = Calibration(gap_us=30)
    found.kernel("eager").eager = 5
    found.kernel("graph").captured = 5
    lengths = hold_lengths(found, None)
    assert lengths["graph"] < 30_000 < 60_000 <= lengths["eager"]
    assert set(hold_lengths(found, 123).values()) == {123}


def seen(stdout: bytes = b"", code: int | None = 0, **files: bytes) -> Observed:
    return Observed(code, stdout, b"", 1.0, dict(files))


def test_the_oracle_compares_files_and_numbers(tmp_path: Path) -> None:
    def wrong(oracle: Oracle, run: Observed, plain: Observed) -> bool:
        return oracle.complaint(run, plain, tmp_path, {}) is not None
    exact, near = Oracle(files=("f",)), Oracle(files=("f",), tolerance=1e-3)
    binary = Oracle(files=("f",), tolerance=1e-3, dtype="float32")
    one, close, far = (b"1.0 x", b"1.0001 x", b"1.1 x")
    assert wrong(exact, seen(f=close), seen(f=one)) and not wrong(near, seen(f=close), seen(f=one))
    assert wrong(near, seen(f=far), seen(f=one)) and wrong(near, seen(f=b"1.0 y"), seen(f=one))
    assert not wrong(binary, seen(f=b"\0\0\x80\x3f"), seen(f=b"\1\0\x80\x3f"))
    assert wrong(binary, seen(f=b"\0\0\0\x40"), seen(f=b"\0\0\x80\x3f"))
    assert wrong(near, seen(f=b"inf x"), seen(f=one)) and wrong(near, seen(f=b"-inf x"), seen(f=b"inf x"))
    assert wrong(near, seen(f=b"nan x"), seen(f=one)) and not wrong(near, seen(f=b"inf 1"), seen(f=b"inf 1.0001"))
    assert wrong(binary, seen(f=b"\0\0\x80\x7f"), seen(f=b"\0\0\x80\x3f"))
    assert wrong(Oracle(), seen(code=None), seen()) and wrong(Oracle(), seen(code=1), seen()) and not wrong(Oracle(), seen(b"x"), seen())
    assert wrong(Oracle(expression="'good' in stdout"), seen(b"bad"), seen()) and wrong(Oracle(expression="nonsense"), seen(), seen())
    python = shlex.quote(sys.executable)
    assert wrong(Oracle(check=f"{python} -c 'raise SystemExit(1)'"), seen(), seen())
    assert not wrong(Oracle(check=f"{python} -c pass"), seen(), seen())


def test_rewrite_from_the_command_line(tmp_path: Path) -> None:
    source, target = tmp_path / "in.ptx", tmp_path / "out.ptx"
    source.write_text(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n")
    done = subprocess.run([sys.executable, KIT, "stress", "rewrite", source, target, "--json"], capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["rewritten"] == ["k"] and "launch_dependents" in target.read_text()
    image = cubin([Kernel("k", [STACK, EXIT]), Kernel("other", [STACK, EXIT])])
    source.write_bytes(image)
    done = subprocess.run([sys.executable, KIT, "stress", "rewrite", source, target, "--only", "^k$", "--json"], capture_output=True,
                          text=True)
    report = json.loads(done.stdout)
    assert done.returncode == 0 and report["rewritten"] == ["k"] and report["left"] == {"other": "not chosen"}
    assert len(target.read_bytes()) > len(image)
    source.write_text("not PTX")
    assert subprocess.run([sys.executable, KIT, "stress", "rewrite", source, target], capture_output=True).returncode == 2
    assert subprocess.run([sys.executable, KIT, "stress", "rewrite", tmp_path / "none", target], capture_output=True).returncode == 64


def test_python_with_triton_loads_lazily_unless_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from conformance.stress.injection import library as injection

    monkeypatch.delenv("CUDA_MODULE_LOADING", raising=False)
    program = "import os; print(os.environ.get('CUDA_MODULE_LOADING'))"

    def notes(*options: str) -> str:
        main([*options, "--json", "--expr", "'EAGER' in stdout", "--", sys.executable, "-c", program])
        report = json.loads(capsys.readouterr().out)
        return str(report["sentence"]) + " ".join(report["notes"])
    monkeypatch.setattr(injection, "has_triton", lambda command: False)
    assert "wrong" not in notes() and "wrong" in notes("--lazy-loading")
    monkeypatch.setattr(injection, "has_triton", lambda command: True)
    assert "loaded lazily" in notes() and "loaded lazily" not in notes("--eager-loading")
