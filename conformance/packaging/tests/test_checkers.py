"""What CTest is told of a way to use the headers, and what is called a change of their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.packaging import api, check_wheel, consume, portable
from conformance.packaging.consume import Broken, Missing, Place


@pytest.mark.parametrize(("ends", "code"), [(None, 0), (Broken("it does not link"), 1), (Missing("no conan"), 77)])
def test_a_way_ends_as_it_went(ends: Exception | None, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[Place]()

    def way(place: Place) -> None:
        seen.append(place)
        if ends:
            raise ends

    monkeypatch.setattr(consume, "WAYS", {"one": way, "two": lambda _: pytest.fail("another way was gone")})
    assert consume.main(["one", "--work", str(tmp_path), "--cmake", "cmake"]) == code
    assert [place.work for place in seen] == [tmp_path / "one"]


OLD = ["c function int a(void)", "c macro B"]


@pytest.mark.parametrize(("found", "version", "released", "code", "said"), [
    (OLD, (1, 2, 0), True, 0, ""), (OLD, (1, 2, 0), False, 0, ""), (OLD, (1, 3, 0), True, 0, ""),
    ([*OLD, "c macro C"], (1, 2, 0), True, 1, "must become 1.3.0"), ([*OLD, "c macro C"], (1, 2, 0), False, 1, "are not what"),
    ([*OLD, "c macro C"], (1, 3, 0), True, 1, "are not what"),
    (OLD[:1], (1, 3, 0), True, 1, "must become 2.0.0"), (OLD[:1], (2, 0, 0), True, 1, "are not what"),
    ([], (1, 2, 0), False, 1, "are not what"),
    (OLD[::-1], (1, 3, 0), True, 1, "must become 2.0.0"), (OLD, (1, 1, 9), True, 1, "must become 1.2.0")])
def test_a_change_of_names_is_told_with_the_version_that_it_needs(
        found: list[str], version: tuple[int, ...], released: bool, code: int, said: str, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "api.txt"
    record.write_text("\n".join([f"version 1.2.0, {'released' if released else 'not released'}", *OLD]) + "\n")
    for name, value in (("RECORD", record), ("describe", lambda *_: found), ("version", lambda _: version)):
        monkeypatch.setattr(api, name, value)
    before = record.read_text()
    assert api.main([]) == code and record.read_text() == before
    printed = capsys.readouterr()
    assert said in printed.err
    gone, added = [f"- {line}" for line in OLD if line not in found], [f"+ {line}" for line in found if line not in OLD]
    assert printed.out.splitlines() == [*gone, *added]
    refused = "must become" in said
    assert api.main(["--record"]) == refused
    written = "".join(f"{line}\n" for line in (f"version {'.'.join(map(str, version))}, not released", *found))
    assert record.read_text() == (before if refused else written)


def test_before_1_0_a_minor_version_may_break() -> None:
    assert [api.smallest_version(old, breaks) for old in ((0, 4, 2), (1, 4, 2)) for breaks in (False, True)] == [
        (0, 5, 0), (0, 5, 0), (1, 5, 0), (2, 0, 0)]


NEEDED = ["libc.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"]


ALL = {"90": 2, "100": 2, "120": 2}


@pytest.mark.parametrize(("needs", "code", "ptx", "bad"), [
    (NEEDED, ALL, {"90": 2}, 0), (NEEDED, ALL | {"90": 3}, {"90": 2, "120": 1}, 0), ([*NEEDED, "libcudart.so.13"], ALL, {"90": 2}, 1),
    (["libcuda.so.1"], ALL, {"90": 1}, 1), (NEEDED, ALL | {"100": 1}, {"90": 2}, 1), (NEEDED, {"90": 2}, {"90": 2}, 2),
    (NEEDED, ALL, {}, 1),
    (NEEDED, ALL, {"100": 2}, 1)])
def test_what_keeps_a_harness_from_being_copied_is_told(
        needs: list[str], code: dict[str, int], ptx: dict[str, int], bad: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code is wanted for those architectures that the toolkit knows, as often as the oldest one's PTX is there."""
    (tmp_path / "nvcc").write_bytes(b"")
    (tmp_path / "harness").write_bytes(b"\x7fELF")
    listed = {"--list-gpu-code": "sm_80\nsm_90\nsm_100\nsm_120\n", "-V": "GLIBC_2.2.5 GLIBC_2.34 GLIBC_2.9",
              "-d": "".join(f" (NEEDED)  Shared library: [{name}]\n" for name in needs),
              "--list-elf": "".join(f"ELF file 1: x.{n}.sm_{arch}a.cubin\n" for arch, times in code.items() for n in range(times)),
              "--list-ptx": "".join(f"PTX file 1: x.{n}.sm_{arch}.ptx\n" for arch, times in ptx.items() for n in range(times))}
    monkeypatch.setattr(portable, "say", lambda *argv: listed[argv[1]])
    monkeypatch.setattr(portable, "tool", lambda _: Path("cuobjdump"))
    lines, found = portable.judged(portable.unpacked(tmp_path / "harness", tmp_path), str(tmp_path / "nvcc"), [])
    assert len(found) == bad and lines[0] == f"needs {', '.join(needs)}; glibc 2.34 or newer"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_bytes(b"")
    assert portable.main([str(tmp_path / "harness"), "--cuda", str(tmp_path)]) == (bad > 0)


def machine(folder: Path, **other: str) -> Path:
    """What a machine leaves on which the wheel works."""
    good = {"lint.code": "1", "lint.json": '{"findings": [{"id": "read-before-wait", "demangled": "hazard(int)"}]}', "lint.err": "",
            "doctor.code": "0", "doctor.txt": "`run --device model` works", "run.code": "0", "run.txt": "CONFORMS (model, no GPU)",
            "header": "True", "left.json": "[]", "left": "", "files": ""}
    for name, text in (good | other).items():
        (folder / name).write_text(text)
    (folder / "run").mkdir()
    (folder / "run" / "report.html").write_text("")
    return folder


GPU = {"probe.code": "77", "probe.json": '{"usable": false, "error": "cudaErrorNoDevice"}', "probe.err": "", "gpu.code": "77",
       "gpu.txt": "NOT_APPLICABLE"}


@pytest.mark.parametrize(("other", "count"), [
    ({}, 0), ({"lint.code": "0"}, 1), ({"lint.json": ""}, 1), ({"lint.json": '{"findings": [{"id": "no-wait"}]}'}, 1),
    ({"lint.json": '{"findings": [{"id": "read-before-wait", "demangled": "_Z6hazardi"}]}'}, 1), ({"doctor.code": "1"}, 1),
    ({"doctor.txt": ""}, 1), ({"run.code": "2"}, 1), ({"run.txt": "UNPROVEN"}, 1), ({"header": "False"}, 1),
    ({"left.json": '[{"name": "pdl-conformance"}]'}, 1), ({"left": "/x"}, 1), ({"files": "/x"}, 1),
    ({**GPU}, 1), ({**GPU, "probe.code": "0"}, 2), ({**GPU, "probe.json": '{"usable": true, "error": "cudaError"}'}, 2),
    ({**GPU, "probe.json": ""}, 2), ({**GPU, "probe.json": '{"usable": false}'}, 2), ({**GPU, "gpu.code": "0"}, 2),
    ({**GPU, "gpu.txt": "CONFORMS"}, 2), ({**GPU, "gpu.code": "1", "probe.code": "1"}, 3)])
def test_what_of_a_wheel_did_not_work_is_told(other: dict[str, str], count: int, tmp_path: Path) -> None:
    """Where there is a harness for GPUs, its run has to leave a report, too."""
    place = machine(tmp_path, **other)
    assert len(check_wheel.problems(place)) == count
    (place / "gpu").mkdir()
    (place / "gpu" / "report.json").write_text("{}")
    assert len(check_wheel.problems(place)) == count - ("gpu.code" in other)
    (place / "run" / "report.html").unlink()
    assert len(check_wheel.problems(place)) == count - ("gpu.code" in other) + 1
