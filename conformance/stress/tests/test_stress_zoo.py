"""The zoo: its bookkeeping on programs that race by rule, and its sources through the compiler, the wrapper and lint."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.pdlkit.toolchain import cuda_headers, find_nvcc
from conformance.rewrite import library
from conformance.stress import main
from conformance.stress.detector import LATENT, NOW, PLACE
from conformance.stress.zoo import command as zoo_command
from conformance.stress.zoo import server as zoo_server
from conformance.stress.zoo.command import Session, _resumed
from conformance.stress.zoo.examine import Amount, Examiner, Line
from conformance.stress.zoo.server import SOURCES, Entry, Runs, Server

FAKE = [sys.executable, str(Path(__file__).parent / "fake_zoo.py")]


@pytest.fixture(scope="module")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report") / "report.json"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, report_file: Path) -> Session:
    folder = tmp_path_factory.mktemp("zoo")
    patience, zoo_server.ANSWER_S = zoo_server.ANSWER_S, 5.0
    plain, stressed = Server(FAKE, folder / "plain", False), Server(FAKE, folder / "stressed", True)
    made = Session(Amount(10, 50, 2, 1), io.StringIO(), report_file, time.monotonic() + 600, report={"schema": "x"})
    try:
        made.examine(plain, stressed)
        made.cost(plain, stressed, None)
    finally:
        zoo_server.ANSWER_S = patience
        plain.close()
        stressed.close()
    return made


def line(session: Session, name: str) -> dict[str, Any]:
    return next(line for line in session.lines if line["name"] == name)


@pytest.mark.parametrize("name,named", [("pair", ["produce>consume"]), ("two", ["a>b", "b>c"]), ("last", ["a>b"])])
def test_a_bug_is_shown_and_named_and_its_twin_is_silent(session: Session, name: str, named: list[str]) -> None:
    found = line(session, name)
    assert found["good"] and found["natural"] == 0 and found["shown"] == 10 and found["named"] == named
    assert found["twin_runs"] == 50 and found["twin_wrong"] == 0 and found["hold_0_same"]


def test_a_kernel_whose_trigger_alone_opens_the_window_is_not_named(session: Session) -> None:
    found = line(session, "far")
    assert found["named"] == ["a>c"] and found["also"] == ["b>c"]


def test_a_twin_that_goes_wrong_is_held_against_the_detector(session: Session) -> None:
    found = line(session, "imagined")
    assert found["twin_wrong"] > 0 and not found["good"]


@pytest.mark.parametrize(("plain", "stressed", "same"), [
    (Runs(".", 1.0, "77"), Runs("..", 1.0, "77"), True), (Runs(".", 1.0, "77"), Runs("..", 1.0, "78"), False),
    (Runs("X", 1.0, "77"), Runs("..", 1.0, "77"), False), (Runs(".", 1.0, "77"), Runs(".X", 1.0, "77"), False)])
def test_a_twin_computes_the_same_with_triggers_alone(plain: Runs, stressed: Runs, same: bool) -> None:
    entry = Entry("n", "b", "s", "stream", ["a"], ["a"], [])
    plainly: Any = SimpleNamespace(run=lambda *_: plain)
    stressing: Any = SimpleNamespace(run=lambda *_: stressed, use=lambda *_: None)
    examiner = Examiner(plainly, stressing, entry, Amount(1, 2, 1, 1))
    examiner._twin()
    assert examiner.line.hold_0_same is same


def test_a_candidate_that_never_shows_counts_neither_way(session: Session) -> None:
    found = line(session, "layout")
    assert found["impossible_here"] and not found["good"]
    assert "cannot show here: why" in session.stream.getvalue()  # type: ignore[attr-defined]
    never = Line("", "", "", "", [], runs=10, candidate="why", hold_0_same=True)
    assert never.impossible_here()
    for other in ({"shown": 1}, {"candidate": ""}, {"twin_wrong": 1}, {"hold_0_same": False}, {"error": "it fell"}):
        assert not replace(never, **other).impossible_here()


def test_a_program_that_falls_or_hangs_stops_none_of_the_others(session: Session) -> None:
    assert "launch failure" in line(session, "falls")["error"] and "no answer" in line(session, "hangs")["error"]
    assert not line(session, "falls")["good"] and session.lines[-1]["name"] == "last"


def test_the_report_is_whole_and_names_what_was_skipped(session: Session, report_file: Path) -> None:
    report = json.loads(report_file.read_text())
    assert report["bugs"] == 7 and report["good"] == 4 and report["skipped"] == {"other": "it is not here"}
    assert report["cost_of_1000_graph_kernels"]["pdl"]["ratio"] == pytest.approx(1.1)


def test_only_the_same_numbers_and_sources_are_resumed(session: Session, tmp_path: Path) -> None:
    same: dict[str, object] = {"schema": "x", "device": {}, "amount": {"runs": 10}, "sources": "1"}
    before = tmp_path / "before.json"
    before.write_text(json.dumps(same | {"lines": session.lines}))
    assert [line["name"] for line in _resumed(before, same)] == ["pair", "two", "far", "last"]
    assert _resumed(before, same | {"sources": "2"}) == []


def test_a_line_is_good_only_if_everything_is() -> None:
    good = Line("", "", "", "", ["a>b"], runs=100, shown=99, twin_runs=1, hold_0_same=True, named=["a>b"])
    assert good.good() and replace(good, expected=["a>c|a>b"]).good()
    worse: tuple[dict[str, Any], ...] = (
        {"shown": 98}, {"twin_wrong": 1}, {"named": []}, {"named": ["a>b", "a>c"]}, {"hold_0_same": False}, {"error": "x"},
        {"named": ["a>c"]}, {"labels": {"a>b": "race now"}}, {"runs": 0, "shown": 0}, {"twin_runs": 0}, {"header_twin": 1})
    assert replace(good, labels={"a>b": "race now"}, label="race now").good()
    for change in worse:
        assert not replace(good, **change).good(), change


def test_without_a_gpu_the_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoo_command, "query", lambda: {"error": "there is no driver"})
    with pytest.raises(SetupImpossible, match="there is no driver"):
        main(["zoo"])
    for argv in (["zoo", "--runs", "0"], ["zoo", "--resume"], ["zoo", "--seed", "x"]):
        with pytest.raises(BadArguments):
            main(argv)


# ---- the sources ------------------------------------------------------------------------------------------------------

_NVCC = find_nvcc()
_HEADERS = cuda_headers(_NVCC)
needs_nvcc = pytest.mark.skipif(_NVCC is None or _HEADERS is None or not (_HEADERS / "nvrtc.h").is_file(),
                                reason="there is no nvcc here, or no NVRTC beside it")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVCC_APPEND_FLAGS", "-O0")  # of the host's half alone, which nobody runs here
        zoo_server.build(folder, "90")
    return folder


def findings(program: Path) -> dict[str, set[str]]:
    """What lint says above a hint, by kernel."""
    done = subprocess.run([sys.executable, str(KIT), "lint", str(program), "--overlapping", ".", "--json"], capture_output=True, text=True)
    report = json.loads(done.stdout)
    found: dict[str, set[str]] = {}
    for entry in report["findings"]:
        if entry["severity"] != "hint":
            found.setdefault(entry["kernel"], set()).add(entry["id"])
    return found


@needs_nvcc
def test_lint_sees_every_planted_bug_and_no_twin(built: Path) -> None:
    text = (SOURCES / "zoo_programs.cuh").read_text()
    found = findings(built / "zoo")
    planted = set(re.findall(r'"\w+>(\w+)["|]', text))
    planted |= set(re.findall(r"(?:PAIR_OF|AFTER)\(\"[^)]*?, \w+, (\w+), \w+\)", text))
    planted -= {"loaded_nowait"}  # arrives as PTX
    assert len(planted) > 25 and "scale_warp" in planted and "restrict_hoist" in planted
    assert planted <= set(found) and not [name for name in found if name.endswith("_ok")]
    assert {name for name in found if name not in ("poison", "chain_plain", "last_copy")} == planted


@needs_nvcc
def test_the_zoo_is_machine_code_only_and_every_kernel_of_it_can_be_rewritten(built: Path, tmp_path: Path) -> None:
    done = subprocess.run([library.tool(), "--unpack", built / "zoo", tmp_path], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["images"] >= 2
    listed = subprocess.run([library.tool(), "--list", built / "zoo"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert {json.loads(line)["kind"] for line in listed} == {"machine code"}
    (tmp_path / "plan").write_text("* 7 1000 0 1\n")
    kernels = []
    for image in tmp_path.glob("*.cubin"):
        said = subprocess.run([library.tool(), image, tmp_path / "out", "--plan", tmp_path / "plan"], capture_output=True, text=True)
        kernels += [json.loads(line) for line in said.stdout.splitlines()]
    assert len(kernels) > 70 and all(kernel["rewritten"] for kernel in kernels)
    assert {"consume_ok", "old_image", "bare_consume"} <= {kernel["kernel"] for kernel in kernels}


def test_the_zoo_is_as_large_and_as_wide_as_it_has_to_be() -> None:
    text = (SOURCES / "zoo_programs.cuh").read_text()
    names = re.findall(r'(?:\badd|PAIR_OF|AFTER|add_image)\("([\w-]+)"', text)
    assert len(names) == len(set(names)) >= 25 + 3
    for way in ("GRAPH", "STREAM", "BUILT_GRAPH", "TWO_STREAMS"):
        assert re.search(rf"\b{way}\b", text)


def test_every_kind_of_finding_is_planted() -> None:
    text = (SOURCES / "zoo.cu").read_text()
    assert {NOW, LATENT, PLACE} == set(re.findall(r'#define (?:NOW|LATENT|PLACE) "(.+)"', text))
    programs = (SOURCES / "zoo_programs.cuh").read_text()
    assert re.search(r"\bNOW\b", programs) and re.search(r"\bPLACE\b", programs)


def test_the_whole_command_with_a_library_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                                                          capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(zoo_command, "_device", lambda: {"cc": 90, "name": "none"})
    monkeypatch.setattr(zoo_server, "build", lambda folder, arch: {"plain": FAKE, "stressed": FAKE, "header": FAKE})
    monkeypatch.setattr(zoo_server, "work_folder", lambda: tmp_path / "work")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # PyTorch, should it be installed here, has no GPU: the pair is skipped either way
    (tmp_path / "torch.py").write_text("raise ImportError('no GPU')\n")
    argv = ["zoo", "--runs", "4", "--twin-runs", "8", "--only", "pair", "--only", "last", "--output", str(tmp_path / "report.json")]
    assert main(argv) == 1  # everything is good, and something was skipped
    out = capsys.readouterr().out
    assert "2 of 2 bugs shown and named" in out and "skipped: " in out and "no GPU" in out
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["good"] == report["bugs"] == 2 and report["amount"]["runs"] == 4 and report["sources"]
    assert main([*argv, "--no-triton", "--resume"]) == 1 and "pair " not in capsys.readouterr().out


def test_the_digest_of_a_record_follows_what_decides_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(KIT / "stress", tmp_path / "stress", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(KIT / "rewrite", tmp_path / "rewrite", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(zoo_server, "SOURCES", tmp_path / "stress" / "zoo")
    before = zoo_command.sources_hash()
    for name in ("rewrite/main.c", "rewrite/tests/fuzz.c", "stress/README.md"):
        (tmp_path / name).write_text("changed")
    with (tmp_path / "rewrite" / "stubs.c").open("a") as file:
        file.write("/* said in other words */\n")
    assert zoo_command.sources_hash() == before
    found = {before}
    for name in ("rewrite/stubs.c", "rewrite/injection/loads.c", "stress/injection/kernels.c", "stress/zoo/zoo.cu", "stress/search.py",
                 "stress/ptx/hold_code.py"):
        with (tmp_path / name).open("a") as file:
            file.write("int more;\n" if name[-1] != "y" else "more = 1\n")
        found.add(zoo_command.sources_hash())
    assert len(found) == 7
