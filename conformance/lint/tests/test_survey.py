"""The survey: from a wheel to a record, from records and judgements to the page."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from conformance.lint.survey import survey, table, wheels
from conformance.lint.survey.classification import FILE, Case, cases, match
from conformance.lint.survey.record import Record, family_of
from conformance.lint.survey.wheels import Package
from conformance.pdlkit.elf import CorruptFile, Cubin
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.pdlkit.toolchain import find_nvcc

_FOUND = find_nvcc()
_NVCC = str(_FOUND.path) if _FOUND else "nvcc"


def _wheel(folder: Path, files: dict[str, bytes]) -> Package:
    path = folder / "made-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as opened:
        for name, data in files.items():
            opened.writestr(name, data)
    return Package("made", "1.0", path.name, hashlib.sha256(path.read_bytes()).hexdigest(), "MIT")


def _judged(package: Package, folder: Path) -> dict[str, Any]:
    record, place = Record(package), folder / "unpacked"
    place.mkdir()
    for file in wheels.unpack(wheels.fetch(package, folder), place):
        record.judge(file)
    assert not list(place.iterdir())  # nothing of the package is left
    return json.loads(json.dumps(record.as_json()))  # type: ignore[no-any-return]


def test_a_wheel_becomes_a_record_of_counts(tmp_path: Path, files: Path) -> None:
    cubin = (files / "k.cubin").read_bytes()
    package = _wheel(tmp_path, {"a/k.cubin": cubin, "b/same.cubin": cubin, "a/readme.txt": b"text", "../../outside.fatbin":
                                (files / "k.fatbin").read_bytes(), "a/host.so": Path(sys.executable).read_bytes()[:4096]})
    record = _judged(package, tmp_path)
    assert record["total"] == {"kernels": 2, "waiting": 2, "triggering": 0, "both": 0, "trigger_before_wait": 0}
    assert sorted(row["name"] for row in record["files"]) == ["k.cubin", "outside.fatbin"]
    assert [(g["rule"], g["family"], g["count"]) for g in record["findings"]] == [("read-before-wait", "early", 2)]
    assert record["findings"][0]["example"]["offset"] > 0 and record["kernel_names"] == 1
    assert not list(tmp_path.parent.glob("outside.fatbin"))


def test_a_named_kernel_without_a_wait_is_judged(tmp_path: Path) -> None:
    source = tmp_path / "t.cu"
    source.write_text('extern "C" __global__ void starts(int *p) { asm volatile("griddepcontrol.launch_dependents;"); *p = 1; }\n')
    subprocess.run([_NVCC, "-arch=sm_90", "-cubin", "-o", str(tmp_path / "t.cubin"), str(source)], check=True)
    plain = _wheel(tmp_path, {"t.cubin": (tmp_path / "t.cubin").read_bytes()})
    record = _judged(plain, tmp_path)
    assert record["findings"] == [] and record["trigger_without_wait"] == {"starts": 1}
    (tmp_path / "unpacked").rmdir()
    named = Package(**{**vars(plain), "overlapping": "starts"})
    assert [group["rule"] for group in _judged(named, tmp_path)["findings"]] == ["no-wait"]


def test_another_file_under_the_wheels_name_is_refused(tmp_path: Path) -> None:
    package = _wheel(tmp_path, {"a.txt": b"1"})
    (tmp_path / package.wheel).write_bytes(b"something else")
    with pytest.raises(SetupImpossible, match="hash"):
        wheels.fetch(package, tmp_path)


def test_every_row_of_the_table_can_be_asked_of_pip() -> None:
    found = wheels.packages()
    assert len(found) >= 15
    for package in found.values():
        python, abi, platforms = package.tags
        assert python.startswith(("py", "cp")) and abi and platforms
        assert package.program is None or (wheels.PROGRAMS / package.program).is_file()


@pytest.mark.parametrize("row", ['name = "x"', 'name = "x"\nversion = "1"\nwheel = "x.whl"\nsha256 = "12"\nlicence = "MIT"'])
def test_a_wrong_row_is_named(tmp_path: Path, row: str) -> None:
    (tmp_path / "packages.toml").write_text(f"[[package]]\n{row}\n")
    with pytest.raises(BadArguments, match="x"):
        wheels.packages(tmp_path / "packages.toml")


def test_generated_names_are_one_family() -> None:
    assert family_of("void a::b<int, 4>(float *)") == "a::b"
    assert family_of("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_execute") == "sm90_xmma_gemm_*"
    assert family_of("short_name_with_words_in") == "short_name_with_words_in"


def _group(rule: str, family: str, **more: object) -> dict[str, Any]:
    return {"rule": rule, "family": family, "count": 2, "kernels": 1, "subjects": {"parameter 1": 2}, **more}


def _case(packages: str = ".*", subject: str = ".*") -> Case:
    return Case("t", "no-wait", "k.*", "harmless", "b", "unproved", packages, subject)


def test_the_first_case_that_covers_a_group_gets_it() -> None:
    records = [{"name": "p", "findings": [_group("no-wait", "kernel"), _group("no-wait", "other")]}]
    narrow, wide = _case(packages="q"), _case()
    assert match([narrow, wide], records) == [("p", _group("no-wait", "other"))]
    assert not narrow.matched and len(wide.matched) == 1
    assert match([_case(subject="parameter 2")], records[:1])[0][1]["family"] == "kernel"


def test_a_case_that_says_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('[[case]]\ntitle = "t"\nrule = "x"\nfamily = "y"\nstate = "fine"\nbecause = "z"\nproof = "unproved"\n')
    with pytest.raises(BadArguments, match="state"):
        cases(tmp_path)


def test_every_finding_of_the_records_is_classified_and_every_case_used() -> None:
    known = cases(survey.RECORDS)
    records = table.records(survey.RECORDS)
    assert match(known, records) == []
    there = [case for case in known if any(re.fullmatch(case.packages, record["name"]) for record in records)]
    assert [case.title for case in there if not case.matched] == []
    field = KIT / "results" / "field"
    assert [case.page for case in known if case.page and not (field / case.page).is_file()] == []


def test_the_page_is_what_the_records_say() -> None:
    page = table.as_markdown(table.records(survey.RECORDS), wheels.packages(), cases(survey.RECORDS))
    assert table.PAGE.read_text(encoding="utf-8") == page, "write it again: python3 conformance dev survey --table"


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(BadArguments, match="x.json"):
        table.records(tmp_path)


def test_the_command_refuses_what_it_does_not_know() -> None:
    for arguments in ([], ["no-such-package"]):
        with pytest.raises(BadArguments):
            survey.main(arguments)


def test_a_section_that_only_reserves_shared_memory_takes_no_room(files: Path) -> None:
    data = bytearray((files / "k.cubin").read_bytes())
    (at,) = struct.unpack_from("<Q", data, 40)
    (count,) = struct.unpack_from("<H", data, 60)
    rows = [at + 64 * i for i in range(count)]
    last = next(row for row in reversed(rows) if struct.unpack_from("<I", data, row + 4)[0] == 1)  # PROGBITS
    struct.pack_into("<Q", data, last + 32, len(data))  # it would reach beyond the end
    with pytest.raises(CorruptFile):
        Cubin(bytes(data), "k")
    struct.pack_into("<I", data, last + 4, 0x7000000A)  # as .nv_debug.shared
    assert Cubin(bytes(data), "k").sections
