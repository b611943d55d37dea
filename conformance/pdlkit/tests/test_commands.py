"""`list` and `doctor`, and the sentences about what is missing."""

from __future__ import annotations

import argparse
import copy
import errno
import json
import re
from pathlib import Path

import pytest

from conformance.pdlkit import device_choice, doctor, list_rules, machine, packages, places, run, sources, toolchain
from conformance.pdlkit.arguments import amount
from conformance.pdlkit.device_choice import _judge
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.kernel_lines import kernel_lines, mutant_lines, pair_line
from conformance.pdlkit.machine import Driver, Gpu
from conformance.pdlkit.rules import load
from conformance.pdlkit.tests.kit_runs import conformance
from conformance.pdlkit.tests.test_rules import GOOD, text_of


def test_list_shows_every_rule(tmp_path: Path) -> None:
    ran = conformance("list", folder=tmp_path)
    assert ran.code == 0
    for rule in load(places.RULES).rules:
        assert rule.id in ran.out


def test_one_step_from_a_rule_to_its_kernel_and_mutants(tmp_path: Path) -> None:
    out = conformance("list", "wait-01", folder=tmp_path).out
    for word in ("WAIT-01", "conformance/kernels/wait.cu", "nowait", "PTX ISA", "WAIT-01.store.widened.captured"):
        assert word in out


@pytest.mark.parametrize(("name", "words"), [
    ("WAIT-01.overwrite.widened.stream", ["WAIT-01  documented", "wait.cu:"]),
    ("war", ["war  kernel", "B34", "rule     WAIT-01  conformance/"]),
    ("erased-sass", ["-gencode arch=compute_80,code=sm_90"]), ("trig-0[12]", ["TRIG-01  doc", "TRIG-02  doc", "kernels/start.h:"])])
def test_a_case_a_mutant_or_a_group_leads_there_too(name: str, words: list[str], tmp_path: Path) -> None:
    out = conformance("list", name, folder=tmp_path).out
    assert all(word in out for word in words), out


@pytest.mark.parametrize("arguments", [("NOPE",), ("WAIT-01", "NOPE"), ("--cases", "WAIT-01"), ("--broken-devices", "WAIT-01")])
def test_a_name_that_list_does_not_know_or_would_not_use_is_refused(arguments: tuple[str, ...], tmp_path: Path) -> None:
    ran = conformance("list", *arguments, folder=tmp_path)
    assert ran.code == 64 and arguments[-1] in ran.err and not ran.out


def test_every_case_and_every_mutant_has_its_line() -> None:
    book = load(places.RULES)
    for case in book.cases:
        assert ":" in pair_line(case.family, case.pair), case.name
    for rule in book.rules:
        for name in rule.mutants:
            assert list_rules.planted_at(book.tags[name], rule), f"{rule.id} {name}"


def test_every_case_with_trials_leads_to_its_kernels() -> None:
    pairs = dict.fromkeys((case.family, case.pair) for case in load(places.RULES).cases if case.kind != "api")
    for family, pair in pairs:
        assert all(re.fullmatch(r"\w+ conformance/kernels/\w+\.\w+:\d+", line) for line in kernel_lines(family, pair)), pair
    alone = [pair for pair in pairs if not kernel_lines(*pair)]
    assert not alone


def test_a_mutant_of_another_kernel_of_the_family_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shared.h").write_text("#ifdef MUTANT_bug\n#define WAITS 0\n#else\n#define WAITS 1\n#endif\n")
    (tmp_path / "some.cu").write_text("""#include "shared.h"
KERNEL(some_primary) { (void)args; }
DEVICE_FN void helps(void)
{
#ifdef MUTANT_bug
#endif
}
KERNEL(some_dependent)
{
    helps();
}
KERNEL(other_dependent)
{
#ifdef MUTANT_bug
#endif
    use(WAITS);
}
#define BOTH(name) PAIR(name, some_primary, some_dependent)
static const struct pair some_pairs[] = {
    PAIR("other", some_primary,
         other_dependent), BOTH("one"),
};
""")
    monkeypatch.setattr(places, "KERNELS", tmp_path)
    monkeypatch.setattr(places, "in_tree", lambda path: path.name)
    assert kernel_lines("some", "one") == ["some_primary some.cu:2", "some_dependent some.cu:8"]
    assert kernel_lines("some", "other") == ["some_primary some.cu:2", "other_dependent some.cu:12"]
    assert mutant_lines("some", "one", "bug") == ["some.cu:5"]
    assert mutant_lines("some", "other", "bug") == ["some.cu:14", "shared.h:1"]


def test_what_is_missing_stands_out(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_bytes(text_of(GOOD))
    book = load(tmp_path / "rules.toml")
    lines = list_rules.rules_table(book)
    bare = next(line for line in lines if "FWD-09" in line)
    assert "untestable" in bare and "NO MUTANT" not in bare
    assert "NO MUTANT" not in next(line for line in lines if "WAIT-01" in line)


@pytest.mark.parametrize(("role", "words"), [("proving", "NO MUTANT"), ("observing", "NO MUTANT, ONLY OBSERVES")])
def test_a_rule_that_nothing_tries_stands_out(role: str, words: str, tmp_path: Path) -> None:
    data = copy.deepcopy(GOOD)
    case = data["rule"][0]["case"][0]
    case.update(mutants=[], controls=[], broken_waits=False, windows={"widened": role})
    data["rule"][0].update(note="nothing applies", core=False)
    (tmp_path / "rules.toml").write_bytes(text_of(data))
    line = next(line for line in list_rules.rules_table(load(tmp_path / "rules.toml")) if "WAIT-01" in line)
    assert line.split("PTX", 1)[1].strip() == words


def test_list_json_is_whole(tmp_path: Path) -> None:
    data = json.loads(conformance("list", "--json", folder=tmp_path).out)
    book = load(places.RULES)
    assert data["suite"] == book.suite
    assert [case["name"] for rule in data["rules"] for case in rule["cases"]] == [case.name for case in book.cases]


def test_every_mutant_is_listed_with_its_rules(tmp_path: Path) -> None:
    out = conformance("list", "--mutants", folder=tmp_path).out
    for tag in load(places.RULES).tags:
        assert tag in out


def test_doctor_answers(tmp_path: Path) -> None:
    ran = conformance("doctor", folder=tmp_path)
    assert ran.code in (0, 1) and "python" in ran.out and "surroundings" not in ran.out
    data = json.loads(conformance("doctor", "--json", folder=tmp_path).out)
    assert {"build", "device", "surroundings", "gpu", "model"} <= set(data)


def test_doctor_calls_a_record_ok_only_if_it_is_of_this_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "digest", lambda: "0123456789abcdef")
    monkeypatch.setattr(sources, "recorded", lambda: [("a", "0123456789abcdef"), ("b", "fedcba9876543210"), ("c", None)])
    said = [(item.state, item.text) for item in doctor.results()]
    assert said == [("ok", "a: by this code"), ("note", "b: by other code (fedcba9876543210)"),
                    ("note", "c: by other code (digest not kept)")]


@pytest.mark.parametrize("name", ["CUDA_LAUNCH_BLOCKING", "CUDA_INJECTION64_PATH", "LD_PRELOAD"])
def test_doctor_names_what_is_in_the_way(name: str) -> None:
    assert doctor.surroundings({}) == []
    found = doctor.surroundings({name: "1"})
    assert [item.what for item in found] == [name] and found[0].state == "bad"
    assert machine.interposers({name: "0"}) == {} and list(machine.interposers({name: "x"})) == [name]


H200 = Gpu("NVIDIA H200", 90, 132)


@pytest.mark.parametrize(("driver", "absent", "broken"), [
    (Driver(None, 13000, (H200,)), False, False),
    (Driver(None, 13000, (Gpu("NVIDIA A100", 80, 108),)), True, False),
    (Driver("cuInit says CUDA_ERROR_SYSTEM_NOT_READY"), False, True),
])
def test_hardware_that_cannot_be_used_is_never_hidden(driver: Driver, absent: bool, broken: bool) -> None:
    choice = _judge("cuda", driver, ["a sign"], 90)
    assert (choice.absent is not None, choice.broken is not None) == (absent, broken)
    assert choice.architectures == ("90" if not absent and not broken else None)


def test_a_device_that_is_not_there_is_a_bad_argument() -> None:
    with pytest.raises(BadArguments, match="offers 1 device,"):
        _judge("cuda:1", Driver(None, 13000, (H200,)), ["a sign"], 90)


def test_a_given_harness_is_asked_wherever_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(device_choice, "nvidia_hardware", list)
    monkeypatch.chdir(tmp_path)
    harness = Path("harness")  # not on PATH
    harness.write_text("#!/bin/sh\nexit $(test \"$3\" = model && echo 64 || echo 77)\n")
    harness.chmod(0o755)
    assert device_choice.choose("cuda", 90, harness).absent
    with pytest.raises(BadArguments, match="it runs on a GPU, and there is no NVIDIA hardware here"):
        device_choice.choose("auto", 90, harness)


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with nothing on PATH and no toolkit."""
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX", "CC", "XXHASH_INCLUDE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("toolkit_root", "ninja_program", "xxhash_folder"):
        monkeypatch.setattr(packages, name, lambda: None)
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: None)
    monkeypatch.setattr(toolchain, "cuda_headers", lambda _nvcc: None)
    return tmp_path


@pytest.mark.parametrize(("for_gpu", "words"), [
    (True, ["CMake 3.25", "C compiler", "ninja", "nvcc is not there"]),
    (False, ["CMake 3.25", "C compiler", "ninja", "cuda_runtime_api.h is not there"]),
])
def test_everything_missing_is_named_at_once(for_gpu: bool, words: list[str], bare_machine: Path) -> None:
    with pytest.raises(SetupImpossible) as caught:
        toolchain.require(for_gpu)
    for word in words:
        assert word in str(caught.value)


def test_what_can_be_fetched_is_fetched_and_what_cannot_is_named(monkeypatch: pytest.MonkeyPatch, bare_machine: Path) -> None:
    monkeypatch.setattr(toolchain, "missing_basics", lambda _for_gpu: [])
    asked: list[object] = []

    def refuse(*given: object) -> Path:
        asked.append(given)
        raise SetupImpossible(f"sentence {len(asked)}")

    for name in ("make_toolkit", "make_ninja", "make_xxhash"):
        monkeypatch.setattr(packages, name, refuse)
    with pytest.raises(SetupImpossible, match="sentence 1; sentence 2; sentence 3"):
        toolchain.require(True, 12040)
    assert asked == [(12040,), (), ()]


def test_nvcc_needs_a_cxx_compiler_and_the_model_does_not(monkeypatch: pytest.MonkeyPatch, bare_machine: Path) -> None:
    for name in ("CXX", "CUDAHOSTCXX"):
        monkeypatch.delenv(name, raising=False)
    compiler = bare_machine / "gcc"
    compiler.write_text("#!/bin/sh\necho gcc 12.2.0\n")
    compiler.chmod(0o755)
    assert any("no C++ compiler" in text for text in toolchain.missing(for_gpu=True))
    assert not any("no C++ compiler" in text for text in toolchain.missing(for_gpu=False))
    compiler.rename(bare_machine / "g++")
    monkeypatch.setenv("CC", "g++")
    assert not any("no C++ compiler" in text for text in toolchain.missing(for_gpu=True))


def test_a_missing_xxhash_says_where_to_put_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XXHASH_INCLUDE_DIR", str(tmp_path))
    sentence = next(text for text in toolchain.missing(for_gpu=False) if "xxhash" in text)
    assert str(tmp_path) in sentence and "libxxhash-dev" in sentence
    (tmp_path / "xxhash.h").write_text("")
    assert not any("xxhash" in text for text in toolchain.missing(for_gpu=False))


def test_an_old_cmake_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "cmake"
    fake.write_text("#!/bin/sh\necho cmake version 3.16.3\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert any("3.16.3 is too old" in text for text in toolchain.missing(for_gpu=False))


def test_the_output_folder_is_blamed_for_what_is_its_own_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadArguments, match="--output"), run._held(tmp_path / "file" / "named"):
        pass
    with pytest.raises(SetupImpossible, match="out cannot be written"), run._held(tmp_path / "out"):
        raise PermissionError(errno.EACCES, "no", str(tmp_path / "out" / "report.json"))
    with pytest.raises(PermissionError), run._held(tmp_path / "out"):
        raise PermissionError(errno.EACCES, "no", "/elsewhere")
    monkeypatch.setattr(places, "BUILD", tmp_path)
    with pytest.raises(NotADirectoryError), run._held(tmp_path / "file" / "chosen"):
        pass


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "0", "1e400", "x", ""])
def test_an_amount_that_no_clock_can_count_to_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a number above 0"):
        amount(text)


@pytest.mark.parametrize("arguments", [
    ("stress", "--timeout", "nan", "--", "true"), ("trace", "--timeout", "inf", "--", "true"), ("whatif", "--timeout", "nan", "--", "true"),
    ("stress", "--tolerance", "inf", "--", "true"), ("stress", "--tolerance", "nan", "--", "true"), ("site", "--output", "/dev/null"),
    ("submit", "absent.json"),
])
def test_numbers_and_places_that_cannot_be_are_bad_arguments(arguments: tuple[str, ...], tmp_path: Path) -> None:
    ran = conformance(*arguments, folder=tmp_path)
    assert ran.code == 64 and "Traceback" not in ran.err, ran.err
