"""The injection library in front of a driver that only remembers, in each way a program reaches a driver."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit.exits import SetupImpossible
from conformance.stress.injection import library as injection
from conformance.stress.options import Options
from conformance.stress.plan import Plan
from conformance.stress.program import read_build_log, read_calibration
from conformance.stress.ptx import nvcc_wrapper

HERE = Path(__file__).parent
PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry first(.param .u64 p)
{
	ret;
}
.visible .entry second(.param .u64 p)
{
	membar.gl;
	griddepcontrol.launch_dependents;
	ret;
}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("driver")
    driver = folder / "libcuda.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", driver, HERE / "fake_driver.c",
                    "-Wl,-soname,libcuda.so.1,-Bsymbolic"], check=True)
    subprocess.run(["cc", "-o", folder / "program", HERE / "fake_program.c", driver, "-ldl"], check=True)
    (folder / "module.ptx").write_text(PTX)
    (folder / "code.bin").write_text("\x7fELF no text")
    return folder


def run(place: Path, tmp_path: Path, plan: Plan, way: str, image: str = "module.ptx", options: Options = Options()) -> list[str]:
    plan.write(tmp_path / "plan", ["first", "second"])
    environment = injection.environment(tmp_path, ["program"], options) | {
        "LD_LIBRARY_PATH": str(place), "PDL_STRESS_PLAN": str(tmp_path / "plan"), "PDL_STRESS_RECORDS": str(tmp_path / "records")}
    done = subprocess.run([place / "program", way, place / image, "first", "second"], env=environment, capture_output=True,
                          text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("way", ["linked", "dlsym", "address"])
def test_ptx_is_rewritten_and_the_plan_is_written_before_each_launch(place: Path, tmp_path: Path, way: str) -> None:
    plan = Plan(hold=frozenset({"first"}), protect=frozenset({"second"}), lengths={"first": 1000})
    lines = run(place, tmp_path, plan, way)
    assert lines[0] == "loaded rewritten"
    assert [line for line in lines if "runs" in line] == [
        "first runs with 3 750 250", "first runs with 3 750 250", "second runs with 5 0 0", "second runs with 5 0 0"]
    assert "carve-out of first: 9 100" in lines
    # writing takes longer than a hold: in a program that launches each kernel once it must not stand between two launches
    assert lines.index("words written") < lines.index("launching")


def test_a_plan_that_is_off_touches_nothing(place: Path, tmp_path: Path) -> None:
    lines = run(place, tmp_path, Plan(off=True), "dlsym")
    assert [line for line in lines[1:] if "runs" in line] == ["first runs with 0 0 0"] * 2 + ["second runs with 0 0 0"] * 2
    assert all("asks for 1 attributes" in line for line in lines if "asks" in line)


def test_launches_are_counted_and_fences_reported(place: Path, tmp_path: Path) -> None:
    run(place, tmp_path, Plan(off=True, calibrate=True), "address")
    found = read_calibration(tmp_path / "records")
    assert list(found.kernels) == ["first", "second"]
    assert found.kernels["first"].rewritten and found.kernels["first"].eager == 2
    assert found.kernels["first"].before_attribute == 2 and found.kernels["second"].attribute == 2
    assert read_build_log(tmp_path / "build.jsonl")["fenced"] == ["second"]


def test_machine_code_is_named_as_not_rewritten(place: Path, tmp_path: Path) -> None:
    lines = run(place, tmp_path, Plan(off=True, calibrate=True), "linked", "code.bin")
    assert lines[0] == "loaded as it is"
    records = [json.loads(line) for line in (tmp_path / "records").read_text().splitlines()]
    assert [(entry["name"], entry["rewritten"]) for entry in records if entry["record"] == "kernel"] == [
        ("first", False), ("second", False)]


def test_machine_code_is_protected_by_a_launch_without_the_attribute(place: Path, tmp_path: Path) -> None:
    lines = run(place, tmp_path, Plan(protect=frozenset({"second"})), "address", "code.bin")
    assert lines.count("first asks for 1 attributes") == 2 and lines.count("second asks for 0 attributes") == 2
    lines = run(place, tmp_path, Plan(protect=frozenset({"second"})), "address")
    assert lines.count("second asks for 1 attributes") == 2 and "second runs with 5 0 0" in lines  # a wait at its entry instead


def test_names_of_thousands_of_characters_get_their_plan_and_their_record(place: Path, tmp_path: Path) -> None:
    name = "_Z" + "k" * 9000
    (place / "long.ptx").write_text(PTX.replace("first", name))
    Plan(hold=frozenset({name}), lengths={name: 1000}, calibrate=True).write(tmp_path / "plan", [name])
    environment = injection.environment(tmp_path, ["program"], Options()) | {
        "LD_LIBRARY_PATH": str(place), "PDL_STRESS_PLAN": str(tmp_path / "plan"), "PDL_STRESS_RECORDS": str(tmp_path / "records")}
    done = subprocess.run([place / "program", "dlsym", place / "long.ptx", name], env=environment, capture_output=True, text=True, check=True)
    assert f"{name} runs with 3 750 250" in done.stdout
    assert read_calibration(tmp_path / "records").kernels[name].rewritten


def test_without_a_plan_the_library_does_nothing(place: Path) -> None:
    environment = {"LD_LIBRARY_PATH": str(place), "LD_PRELOAD": str(injection.library())}
    done = subprocess.run([place / "program", "dlsym", place / "module.ptx", "first"], env=environment, capture_output=True,
                          text=True, check=True)
    assert done.stdout.splitlines()[0] == "loaded as it is" and "carve-out" not in done.stdout


def test_the_library_lies_where_the_loader_can_be_told_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc_wrapper, "BUILD", tmp_path / "a tree")
    monkeypatch.setattr(nvcc_wrapper.tempfile, "gettempdir", lambda: str(tmp_path))
    assert nvcc_wrapper.work_folder().parent == tmp_path
    monkeypatch.setattr(nvcc_wrapper.tempfile, "gettempdir", lambda: str(tmp_path / "a:b"))
    with pytest.raises(SetupImpossible, match="spaces and colons"):
        nvcc_wrapper.work_folder()
    monkeypatch.setattr(nvcc_wrapper, "BUILD", tmp_path / "tree")
    assert nvcc_wrapper.work_folder() == tmp_path / "tree" / "stress"
