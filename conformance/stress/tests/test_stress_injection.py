"""The injection library with a stand-in driver that only records calls, in each way a program reaches a driver."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit.exits import SetupImpossible
from conformance.rewrite import check, library
from conformance.rewrite.tests.images import ADD, EXIT, STACK, TRIGGER, WAIT, Kernel, container, cubin, entry
from conformance.stress.injection import library as injection
from conformance.stress.plan import Plan
from conformance.stress.program import read_calibration

HERE = Path(__file__).parent
KERNELS = [Kernel("first", [STACK, ADD, TRIGGER, ADD, EXIT], exits=[0x40]), Kernel("second", [STACK, WAIT, ADD, EXIT], exits=[0x30])]
CUBIN = cubin(KERNELS)
PTX = b".version 8.0\n.target sm_90\n.address_size 64\n"
CONTAINER = container(entry(2, 80, cubin(KERNELS, 80)), entry(2, 90, CUBIN), entry(1, 80, PTX))
TEXT_ONLY = container(entry(2, 80, cubin(KERNELS, 80)), entry(1, 80, b".version 7.0\n"), entry(1, 90, PTX))
HELD = Plan(hold=frozenset({"first"}), protect=frozenset({"second"}), lengths={"first": 1000})
CODE_ENTRIES = ["cuModuleLoadData", "cuModuleLoadDataEx", "cuLibraryLoadData", "cuModuleLoad", "cuLibraryLoadFromFile"]
CONTAINER_ENTRIES = [*CODE_ENTRIES, "cuModuleLoadFatBinary", "wrapped"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("driver")
    driver = folder / "libcuda.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", driver, HERE / "fake_driver.c",
                    "-Wl,-soname,libcuda.so.1,-Bsymbolic"], check=True)
    subprocess.run(["cc", "-o", folder / "program", HERE / "fake_program.c", driver, "-ldl", "-lpthread"], check=True)
    return folder


def run(place: Path, tmp_path: Path, plan: Plan | None, way: str, image: bytes, call: str = "cuModuleLoadData",
        names: tuple[str, ...] = ("first", "second"), **more: str) -> tuple[list[str], list[bytes]]:
    """What the program printed, and the images the driver was given."""
    (tmp_path / "image").write_bytes(image)
    (tmp_path / "code").write_bytes(CUBIN)
    out = tmp_path / "images"
    out.mkdir(exist_ok=True)
    environment = injection.environment() | {"LD_LIBRARY_PATH": str(place), "FAKE_DRIVER_OUT": str(out),
                                             "FAKE_DRIVER_CODE": str(tmp_path / "code"), **more}
    if plan:
        plan.write(tmp_path / "plan", ["first", "second"])
        environment |= {"PDL_STRESS_PLAN": str(tmp_path / "plan"), "PDL_STRESS_RECORDS": str(tmp_path / "records")}
    done = subprocess.run([place / "program", way, call, tmp_path / "image", *names], env=environment, capture_output=True,
                          text=True, check=True)
    return done.stdout.splitlines(), [path.read_bytes() for path in sorted(out.iterdir())]


def sections_changed(before: bytes, after: bytes) -> list[str]:
    found = check.changes(before, after)
    assert isinstance(found, list)
    return [change.section for change in found]


@pytest.mark.parametrize("way", ["linked", "dlsym", "address"])
@pytest.mark.parametrize("call", CODE_ENTRIES)
def test_machine_code_is_rewritten_whichever_function_gets_it(place: Path, tmp_path: Path, way: str, call: str) -> None:
    lines, images = run(place, tmp_path, HELD, way, CUBIN, call)
    assert len(images) == 1 and sections_changed(CUBIN, images[0]) == ["first", "second"]
    assert [line for line in lines if line.endswith(" runs")] == ["first runs"] * 2 + ["second runs"] * 2
    assert "carve-out of first: 9 100" in lines


@pytest.mark.parametrize("way", ["linked", "dlsym", "address"])
@pytest.mark.parametrize("call", CONTAINER_ENTRIES)
def test_only_the_image_for_this_device_is_rewritten_in_a_fat_binary(place: Path, tmp_path: Path, way: str, call: str) -> None:
    _, images = run(place, tmp_path, HELD, way, CONTAINER, call)
    inside = images[0]
    old = entry(2, 80, cubin(KERNELS, 80))
    assert inside[16 : 16 + len(old)] == old and inside.endswith(entry(1, 80, PTX))
    assert sections_changed(CUBIN, inside[16 + len(old) + 64 :]) == ["first", "second"]


@pytest.mark.parametrize("call,image", [*((call, PTX) for call in CODE_ENTRIES), *((call, TEXT_ONLY) for call in CONTAINER_ENTRIES)])
def test_ptx_is_compiled_by_the_driver_and_then_rewritten(place: Path, tmp_path: Path, call: str, image: bytes) -> None:
    _, images = run(place, tmp_path, HELD, "address", image, call)
    assert sections_changed(CUBIN, images[0]) == ["first", "second"]


def test_ptx_that_the_driver_does_not_compile_is_passed_on_and_named(place: Path, tmp_path: Path) -> None:
    _, images = run(place, tmp_path, Plan(off=True, calibrate=True), "linked", PTX, FAKE_DRIVER_CODE="/nowhere")
    assert images == [PTX] and "PTX" in read_calibration(tmp_path / "records").passed[0]


def test_an_image_that_the_driver_refuses_once_changed_is_given_as_it_was(place: Path, tmp_path: Path) -> None:
    for call in ("cuModuleLoadData", "cuModuleLoadDataEx", "cuLibraryLoadData"):
        folder = tmp_path / call
        folder.mkdir()
        _, images = run(place, folder, HELD, "address", CUBIN, call, FAKE_DRIVER_REFUSES=call, FAKE_DRIVER_ORIGINAL=str(len(CUBIN)))
        assert images == [CUBIN] and "refused" in read_calibration(folder / "records").passed[0]


@pytest.mark.parametrize("damage", [CUBIN[:64] + bytes(len(CUBIN) - 64), CUBIN[:40] + b"\xff" * 8 + CUBIN[48:],
                                    CONTAINER[:8] + b"\xff" * 8 + CONTAINER[16:]])
def test_a_damaged_image_is_the_drivers_business(place: Path, tmp_path: Path, damage: bytes) -> None:
    if damage.startswith(b"\x7fELF"):
        run(place, tmp_path, Plan(off=True, calibrate=True), "linked", damage)
        assert read_calibration(tmp_path / "records").passed
    else:  # its own length is wrong, so the stand-in cannot store it; it must still be asked
        environment = injection.environment() | {"LD_LIBRARY_PATH": str(place), "PDL_STRESS_PLAN": str(tmp_path / "plan")}
        HELD.write(tmp_path / "plan", ["first"])
        (tmp_path / "image").write_bytes(damage)
        done = subprocess.run([place / "program", "linked", "cuModuleLoad", tmp_path / "image", "first"], env=environment,
                              capture_output=True, text=True, check=True)
        assert "file /image" in done.stdout


def test_launches_are_counted_with_what_the_code_holds(place: Path, tmp_path: Path) -> None:
    run(place, tmp_path, Plan(off=True, calibrate=True), "address", CUBIN)
    found = read_calibration(tmp_path / "records")
    assert list(found.kernels) == ["first", "second"]
    first, second = found.kernels["first"], found.kernels["second"]
    assert first.rewritten and first.eager == 2 and (first.waits, first.triggers) == (0, 1)
    assert first.before_attribute == 2 and second.attribute == 2 and (second.waits, second.triggers) == (1, 0)


def test_each_device_has_its_own_default_stream_and_carve_out(place: Path, tmp_path: Path) -> None:
    plan = Plan(calibrate=True, hold=frozenset({"first", "second"}), lengths={"first": 1000})
    lines, _ = run(place, tmp_path, plan, "address", CUBIN, "cuLibraryLoadData", ("first", "second", "second", "first"), DEVICES="2")
    assert sorted(line for line in lines if line.startswith("carve-out")) == [
        f"carve-out of {name} on {device}: 9 100" for name in ("first", "second") for device in (0, 1)]
    found = read_calibration(tmp_path / "records").kernels  # on each device: twice one kernel, then twice the other
    assert (found["first"].before_attribute, found["second"].before_attribute) == (3, 3)


@pytest.mark.parametrize("way", ["linked", "dlsym", "address"])
def test_threads_that_launch_at_the_same_time_are_all_counted(place: Path, tmp_path: Path, way: str) -> None:
    run(place, tmp_path, Plan(off=True, calibrate=True), way, CUBIN, THREADS="16")
    found = read_calibration(tmp_path / "records")
    assert [found.kernels[name].eager for name in ("first", "second")] == [32, 32] and found.unknown_launches == 0


@pytest.mark.parametrize("quick", ["", "1"])
def test_a_child_reports_its_launches_however_it_ends_and_not_its_parents(place: Path, tmp_path: Path, quick: str) -> None:
    run(place, tmp_path, Plan(off=True, calibrate=True), "linked", CUBIN, FORK="1", THREADS="3", QUICK=quick)
    found = read_calibration(tmp_path / "records")
    assert [found.kernels[name].eager for name in ("first", "second")] == [6 + 2, 6 + 2]


@pytest.mark.parametrize("call", ["cuModuleLoadData", "cuLibraryLoadData"])
def test_a_handle_that_is_used_again_after_an_unload_stands_for_the_new_kernel(place: Path, tmp_path: Path, call: str) -> None:
    run(place, tmp_path, Plan(off=True, calibrate=True), "address", CUBIN, call, ("first", "second"), RELOAD="first")
    found = read_calibration(tmp_path / "records").kernels
    assert (found["first"].eager, found["second"].eager) == (3, 2)


@pytest.mark.parametrize("entry", ["cuGraphKernelNodeSetParams_v2", "cuGraphExecKernelNodeSetParams_v2", "cuGraphNodeSetParams",
                                   "cuGraphExecNodeSetParams"])
def test_a_kernel_that_a_node_gets_later_is_counted(place: Path, tmp_path: Path, entry: str) -> None:
    run(place, tmp_path, Plan(off=True, calibrate=True), "linked", CUBIN, NODE=entry)
    assert read_calibration(tmp_path / "records").kernels["second"].built == 1


def test_records_with_odd_names_and_a_cut_end_are_read(tmp_path: Path) -> None:
    line = b'{"record":"kernel","name":"%s","rewritten":true,"why":null}\n'
    (tmp_path / "records").write_bytes(line % b"odd\xff" + line % "line\u2028break".encode() + line[:20])
    assert list(read_calibration(tmp_path / "records").kernels) == ["odd\ufffd", "line\u2028break"]


def test_kernels_found_by_enumeration_are_known_by_name(place: Path, tmp_path: Path) -> None:
    run(place, tmp_path, Plan(off=True, calibrate=True), "address", CUBIN, "cuLibraryLoadData", ("enumerate",))
    assert read_calibration(tmp_path / "records").kernels["first"].rewritten


def test_a_kernel_that_cannot_be_rewritten_is_named_and_protected_by_its_launch(place: Path, tmp_path: Path) -> None:
    image = cubin([KERNELS[0], Kernel("second", [STACK, EXIT], registers=0)])
    plan = Plan(protect=frozenset({"second"}), calibrate=True)
    lines, _ = run(place, tmp_path, plan, "address", image)
    assert lines.count("first asks for 1 attributes") == 2 and lines.count("second asks for 0 attributes") == 2
    second = read_calibration(tmp_path / "records").kernels["second"]
    assert not second.rewritten and "registers" in str(second.why)
    lines, _ = run(place, tmp_path, plan, "address", CUBIN)
    assert lines.count("second asks for 1 attributes") == 2  # a wait at its entry instead


def test_a_live_plan_is_changed_while_the_program_runs(place: Path, tmp_path: Path) -> None:
    HELD.write(tmp_path / "second-plan", ["first", "second"])
    lines, images = run(place, tmp_path, Plan(off=True, live=True), "linked", CUBIN, PDL_STRESS_NEXT=str(tmp_path / "second-plan"))
    assert sections_changed(CUBIN, images[0]) == ["first", "second"]
    written = [line.split()[1:4] for line in lines if line.startswith("words")]
    assert written[:2] == [["64", "0", "0"]] * 2 and sorted(written[2:]) == [["3", "750", "250"], ["5", "0", "0"]]


def test_an_exempt_kernel_keeps_its_code(place: Path, tmp_path: Path) -> None:
    _, images = run(place, tmp_path, Plan(exempt=frozenset({"second"})), "linked", CUBIN)
    assert sections_changed(CUBIN, images[0]) == ["first"]


def test_without_a_plan_the_library_does_nothing(place: Path, tmp_path: Path) -> None:
    lines, images = run(place, tmp_path, None, "dlsym", CUBIN)
    assert images == [CUBIN] and not any("carve-out" in line for line in lines)


def test_a_plan_that_cannot_be_read_is_said_and_nothing_is_done(place: Path, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text("first 3 x\n")
    _, images = run(place, tmp_path, None, "linked", CUBIN, PDL_STRESS_PLAN=str(tmp_path / "plan"), PDL_STRESS_RECORDS=str(tmp_path / "r"))
    assert images == [CUBIN] and "line 1" in json.loads((tmp_path / "r").read_text())["what"]


@pytest.mark.parametrize("name", ["a b", "a:b"])
def test_a_path_that_the_loader_would_cut_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(library, "compiled", lambda *_: tmp_path / name / "libpdlstress.so")
    with pytest.raises(SetupImpossible, match=f"/{name} has a space or a colon in its path.*set XDG_CACHE_HOME"):
        injection.library()
