"""What people and build servers get: grouped text, paths, baselines, suppressions, launch logs, chains, SARIF, JUnit, GitHub."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance.lint import suppressions
from conformance.lint.check_sarif import violations
from conformance.lint.command import main
from conformance.lint.findings import RULES, Finding, Step
from conformance.lint.grouping import blocks, template_of
from conformance.lint.json_text import dump
from conformance.lint.linter import KernelVerdict, Report
from conformance.lint.packed import Packed, finding_of, row_of, tell
from conformance.lint.results import Place
from conformance.lint.tests.conftest import _NVCC, ROOT
from conformance.lint.text import as_text
from conformance.pdlkit.exits import BadArguments

ONE_CACHE = True
_SOURCE = r"""
#include "pdl_device.cuh"
template <int n> __global__ void scale(const float *a, const float *w, float *o)
{
    float v = *(const volatile float *)(w + threadIdx.x);
    pdl_wait();
    o[threadIdx.x] = v * n + pdl_fresh(a)[threadIdx.x];
}
template __global__ void scale<1>(const float *, const float *, float *);
template __global__ void scale<2>(const float *, const float *, float *);
template __global__ void scale<3>(const float *, const float *, float *);
template __global__ void scale<4>(const float *, const float *, float *);
extern "C" __global__ void lifted(const float *__restrict__ a, float *__restrict__ o, int n)
{
    pdl_wait();
    o[threadIdx.x] = __ldg(a + n);
}
extern "C" __global__ void partly(const float *a, float *o)
{
    if (threadIdx.x < 32) {
        pdl_wait();
    }
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
extern "C" __global__ void never(const float *a, float *o) { o[threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void right(const float *a, float *o) { pdl_wait(); o[threadIdx.x] = pdl_fresh(a)[threadIdx.x]; }
extern "C" __global__ void link_good(const float *a, float *o)
{
    float v = *(const volatile float *)a;
    pdl_wait();
    pdl_trigger();
    o[threadIdx.x] = v;
}
extern "C" __global__ void link_bad(const float *a, float *o)
{
    pdl_trigger();
    pdl_wait();
    o[threadIdx.x] = pdl_fresh(a)[0];
}
extern "C" __global__ void allowed(const float *a, float *o)
{
    float v = *(const volatile float *)a; // pdl-lint: allow(read-before-wait) a is constant
    pdl_wait();
    o[threadIdx.x] = v;
}
"""


@pytest.fixture(scope="session")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    (folder / "k.cu").write_text(_SOURCE)
    _compile("sm_90", folder / "k.cu", folder / "k.cubin")
    return folder / "k.cubin"


def _compile(arch: str, source: Path, target: Path) -> None:
    command = [_NVCC, f"-arch={arch}", "-std=c++17", "-w", "-lineinfo", "-I", str(ROOT), "-cubin", "-o", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True)


def _json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    code = main(["--json", *map(str, arguments)])
    return code, json.loads(capsys.readouterr().out)


def _of(content: dict[str, Any], kernel: str) -> list[dict[str, Any]]:
    return [f for f in content["findings"] if f["kernel"] == kernel]


def test_a_template_is_one_group_with_its_path(cubin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(cubin)]) == 1
    text = capsys.readouterr().out
    assert text.count("parameter 2 is read before the wait, and used after it [read-before-wait]") == 1
    assert "4 places in 4 kernels" in text and "and 1 more of this template" in text
    assert "where other threads wait" in text and "the path goes past the wait here" in text
    assert "k.cu:5 " in text and "hints" not in text and "value-across-wait" not in text


def test_names_of_templates() -> None:
    assert template_of("void ns::k<(int)4, float>(float const*)") == "ns::k"
    assert template_of("void (anonymous namespace)::k<4>(int)") == "(anonymous namespace)::k"
    assert template_of("plain") == "plain"


def test_advice_fits_the_cause(cubin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, content = _json(capsys, cubin)
    written = next(f for f in content["findings"] if f["demangled"].startswith("void scale<1>"))
    assert "the source reads it above the wait" in written["advice"]
    for finding in _of(content, "lifted"):
        assert "the compiler moved it above" in finding["advice"]


def test_hints_are_off_unless_asked_for(cubin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert all(f["severity"] != "hint" for f in _json(capsys, cubin)[1]["findings"])
    assert all(f["severity"] != "hint" for f in _json(capsys, "--no-hints", cubin)[1]["findings"])
    assert any(f["severity"] == "hint" for f in _json(capsys, "--hints", cubin)[1]["findings"])


def test_what_was_not_judged_is_listed(cubin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, content = _json(capsys, cubin)
    assert [k["kernel"] for k in content["not_judged_kernels"]] == ["never"]
    main([str(cubin)])
    assert "\n  never\n" in capsys.readouterr().out


def test_a_launch_log_names_the_kernels(cubin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "launches.jsonl"
    log.write_text('{"kernel": "never", "image": "x", "overlap": true, "behind": ["first"], "launches": 3}\n'
                   '{"kernel": "right", "image": "x", "overlap": false, "behind": [], "launches": 1}\n')
    found = _of(_json(capsys, "--launches", log, cubin)[1], "never")
    assert [f["id"] for f in found] == ["no-wait"] and "3 times after first" in found[0]["message"]
    log.write_text('{"kernel": "right", "image": "x", "overlap": false, "behind": [], "launches": 1}\n')
    assert not _of(_json(capsys, "--launches", log, cubin)[1], "never")
    for bad in ("nothing", '{"kernel": 3, "overlap": true}', '{"kernel": "k", "overlap": "maybe"}'):
        log.write_text(bad)
        with pytest.raises(BadArguments, match="line 1"):
            main(["--launches", str(log), str(cubin)])


def test_a_chain_is_checked(cubin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declared = tmp_path / "chain.toml"
    declared.write_text('[[chain]]\nkernels = "^(link_.*|never)$"\nbecause = "older data only"\n')
    _, content = _json(capsys, "--independent", declared, cubin)
    assert not _of(content, "link_good")
    assert [f["id"] for f in _of(content, "link_bad")] == ["trigger-before-wait"]
    assert [f["id"] for f in _of(content, "never")] == ["chain-without-wait"]
    declared.write_text('[[chain]]\nkernels = "^link_good$"\nbecause = "older data only"\npredecessor = 1\n')
    _, content = _json(capsys, "--independent", declared, cubin)
    assert [f["id"] for f in _of(content, "link_good")] == ["read-before-wait"]
    declared.write_text('[[chain]]\nkernels = "k"\nbecause = "older data only"\npredecessor = 0\n')
    with pytest.raises(BadArguments, match="from 1"):
        main(["--independent", str(declared), str(cubin)])


def test_a_baseline_hides_what_was_there(cubin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    baseline = tmp_path / "baseline.json"
    (tmp_path / "damaged.cubin").write_bytes(b"\x7fELF")
    assert main(["--write-baseline", str(baseline), str(cubin), str(tmp_path / "damaged.cubin")]) == 2, "its findings are not in it"
    assert main(["--write-baseline", str(baseline), str(cubin)]) == 0
    capsys.readouterr()
    code, content = _json(capsys, "--baseline", baseline, cubin)
    assert code == 0 and all(f["known"] or f["suppressed"] for f in content["findings"])
    rows = json.loads(baseline.read_text())
    rows["findings"] = [r for r in rows["findings"] if r["kernel"] != "partly"]
    baseline.write_text(json.dumps(rows))
    code, content = _json(capsys, "--baseline", baseline, cubin)
    assert code == 1 and {f["kernel"] for f in content["findings"] if not f["known"] and not f["suppressed"]} == {"partly"}


def test_fingerprints_survive_another_build(cubin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moved = tmp_path / "elsewhere" / "k.cu"
    moved.parent.mkdir()
    moved.write_text("// a line more\n\n" + _SOURCE.replace("v * n +", "v * n * 3.0f + 1.0f +"))
    again = tmp_path / "again.cubin"
    _compile("sm_100", moved, again)
    prints = [{f["fingerprint"] for f in _json(capsys, file)[1]["findings"] if f["demangled"].startswith("void scale")}
              for file in (cubin, again)]
    assert prints[0] == prints[1] and len(prints[0]) == 4


def test_suppressions_want_a_reason_and_a_match(cubin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "suppress.toml"
    file.write_text('[[suppress]]\nkernel = "scale"\nrule = "read-before-wait"\nparameter = 2\nbecause = "known"\n'
                    '[[suppress]]\nkernel = "nobody"\nrule = "no-wait"\nbecause = "never"\n')
    _, content = _json(capsys, "--suppress", file, cubin)
    assert {f["suppressed"] for f in content["findings"] if f["demangled"].startswith("void scale")} == {"known"}
    assert [f["id"] for f in content["findings"] if not f["kernel"]] == ["unused-declaration"]
    for bad in ('[[suppress]]\nkernel = "k"\nrule = "no-wait"\n', '[[suppress]]\nkernel = "k"\nrule = "x"\nbecause = "y"\n', "[[other]]\n"):
        file.write_text(bad)
        with pytest.raises(BadArguments):
            suppressions.load(file)


def test_a_comment_at_the_line_suppresses(cubin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _of(_json(capsys, cubin)[1], "allowed")
    assert found and all("a is constant" in f["suppressed"] for f in found)


def test_sarif_for_code_scanning(cubin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cubin.parent)
    out = tmp_path / "lint.sarif"
    assert main(["--sarif", str(out), "k.cubin"]) == 1
    run = json.loads(out.read_text())["runs"][0]
    results = [r for r in run["results"] if "scale" in r["locations"][0]["logicalLocations"][0]["name"]]
    assert results and all(r["partialFingerprints"]["pdlLint/v1"] for r in results)
    for result in results:
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uri"] == "k.cu" and place["uriBaseId"] in run["originalUriBaseIds"]
        assert len(result["codeFlows"][0]["threadFlows"][0]["locations"]) >= 2 and result["relatedLocations"]
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert any("suppressions" in r for r in run["results"])


def test_sarif_fits_the_official_schema(cubin: Path, tmp_path: Path) -> None:
    """With and without lines, with hints, suppressions, a baseline and a file that cannot be read; and the check can fail."""
    kept, forms = tmp_path / "baseline.json", [tmp_path / f"{number}.sarif" for number in range(4)]
    assert main(["--write-baseline", str(kept), str(cubin)]) == 0
    main(["--hints", "--sarif", str(forms[0]), str(cubin), str(tmp_path / "absent")])
    main(["--sarif", str(forms[1]), "--baseline", str(kept), "--overlapping", "never", str(cubin)])
    subprocess.run([_NVCC, "-arch=sm_90", "-cubin", "-I", str(ROOT), "-o", str(tmp_path / "bare.cubin"), str(cubin.with_suffix(".cu"))],
                   check=True)
    main(["--sarif", str(forms[2]), str(tmp_path / "bare.cubin")])
    content = json.loads(forms[0].read_text())
    content["runs"][0]["results"][0]["level"] = "severe"
    forms[3].write_text(json.dumps(content))
    assert [len(wrong) for wrong in violations(forms).values()] == [0, 0, 0, 1]


def test_sarif_never_overwrites_code(cubin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tmp_path / "one.cubin", tmp_path / "two.cubin"
    for file in (one, two):
        file.write_bytes(cubin.read_bytes())
    assert main(["--sarif", str(one), str(two)]) == 1
    assert one.read_bytes() == cubin.read_bytes() and json.loads(capsys.readouterr().out)["version"] == "2.1.0"


def test_junit_and_github(cubin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "lint.xml"
    assert main(["--github", "--junit", str(out), str(cubin), str(tmp_path / "absent")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("::error ") for line in lines) and any("line=5,title=read-before-wait::" in line for line in lines)
    suite = ElementTree.fromstring(out.read_text()).find("testsuite")
    assert suite is not None and suite.get("errors") == "1" and int(suite.get("failures", "0")) >= 6
    cases = {case.get("name"): case for case in suite}
    assert cases["right"].find("failure") is None and cases["partly"].find("failure") is not None


_MANY_PATHS = """
#include "pdl_device.cuh"
#define ASKED(n) if (m[n] > 3) { asm volatile("nanosleep.u32 %0;" : : "r"(m[n])); }
struct modes { int at[6]; };
extern "C" __global__ void crowded(const float *a, float *o, modes given)
{
    const int *m = given.at;
    if (threadIdx.x < 32) { pdl_wait(); }
    ASKED(0) ASKED(1) ASKED(2) ASKED(3) ASKED(4) ASKED(5)
    ASKED(0) ASKED(1) ASKED(2) ASKED(3) ASKED(4) ASKED(5)
    o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);
}
"""


def test_every_form_says_that_precision_was_given_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON, SARIF, JUnit and annotations."""
    source, cubin, forms = tmp_path / "many.cu", tmp_path / "many.cubin", [tmp_path / "lint.sarif", tmp_path / "lint.xml"]
    source.write_text(_MANY_PATHS)
    subprocess.run([_NVCC, "-arch=sm_90", "-cubin", "-I", str(ROOT), "-o", str(cubin), str(source)], check=True)
    assert main(["--sarif", str(forms[0]), "--junit", str(forms[1]), str(cubin)]) == 1
    told = [capsys.readouterr().out, *(form.read_text() for form in forms)]
    assert main(["--github", str(cubin)]) == 1
    told.append(capsys.readouterr().out)
    assert all("lint merged paths of this kernel" in text for text in told)
    found = [f for f in _json(capsys, cubin, "--hints")[1]["findings"] if f["severity"] == "error"]
    assert found and all(f["imprecise"] for f in found)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_explained(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", rule]) == 0
    text = capsys.readouterr().out
    assert rule in text and ("Wrong:" in text or RULES[rule].severity != "error")


def test_explaining_what_is_no_rule() -> None:
    with pytest.raises(BadArguments, match="did you mean read-before-wait"):
        main(["explain", "read-before-wai"])


def test_exit_codes(cubin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--overlapping", "nobody", str(cubin)]) == 1  # findings come first
    source = tmp_path / "plain.cu"
    source.write_text('extern "C" __global__ void plain(float *o) { *o = 1.0f; }\n')
    _compile("sm_90", source, tmp_path / "plain.cubin")
    capsys.readouterr()
    assert main([str(tmp_path / "plain.cubin")]) == 3
    assert "no kernel was judged" in capsys.readouterr().err
    assert main(["--overlapping", "nobody", str(tmp_path / "plain.cubin")]) == 3
    assert "no kernel matches" in capsys.readouterr().err


def test_code_without_its_kernels_is_damaged(cubin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(cubin.read_bytes())
    at = data.find(b".symtab\0")
    data[at : at + 7] = b".symtax"
    (tmp_path / "lost.cubin").write_bytes(data)
    assert main([str(tmp_path / "lost.cubin")]) == 2
    assert "code and no kernel" in capsys.readouterr().err


def test_the_second_run_comes_from_the_cache(cubin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PDL_CACHE", str(tmp_path / "kept"))
    first = _json(capsys, cubin)[1]["findings"]
    assert (tmp_path / "kept" / "lint").stat().st_mode & 0o077 == 0
    monkeypatch.setattr("conformance.lint.summary.disassemble", None)  # must not be called again
    assert _json(capsys, cubin)[1]["findings"] == first
    with pytest.raises(BadArguments):
        main(["--baseline", str(cubin), str(cubin)])


def test_an_image_is_judged_once(cubin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without lines in the source: a second run, also over the same image in another file, says the same and judges nothing."""
    monkeypatch.setenv("PDL_CACHE", str(tmp_path / "kept"))
    bare, other = tmp_path / "bare.cubin", tmp_path / "\u00f6ther.a"
    subprocess.run([_NVCC, "-arch=sm_90", "-cubin", "-I", str(ROOT), "-o", str(bare), str(cubin.with_suffix(".cu"))], check=True)
    subprocess.run(["ar", "rc", str(other), str(bare), str(bare)], check=True)
    forms = [[form, str(file)] for file in (bare, other) for form in ("--json", "--hints", "--not-judged", "--github")]
    fresh = [_said(capsys, "--no-cache", *form) for form in forms]
    for form in forms[:2]:
        main(form)
    capsys.readouterr()
    assert [_said(capsys, *form) for form in forms] == fresh and "read-before-wait" in fresh[0]
    monkeypatch.setattr("conformance.lint.linter.KernelRules", None)  # must not be called again
    assert [_said(capsys, *form) for form in forms if form[0] != "--github"] == [said for said in fresh if not said.startswith("::")]
    main(["--github", str(bare)])
    assert "lint failed" in capsys.readouterr().err


def test_images_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What is kept of an image is said of no other one."""
    monkeypatch.setenv("PDL_CACHE", str(tmp_path / "kept"))
    files = [tmp_path / f"{name}.cubin" for name in ("early", "late", "write")]
    bodies = ("float v = *(const volatile float *)a; pdl_wait(); *o = v;", "pdl_wait(); *o = *a;", "*o = 1; pdl_wait();")
    for file, lines in zip(files, bodies, strict=True):
        source = file.with_suffix(".cu")
        source.write_text(f'#include "pdl_device.cuh"\nextern "C" __global__ void {file.stem}(const float *a, float *o) {{ {lines} }}\n')
        subprocess.run([_NVCC, "-arch=sm_90", "-cubin", "-I", str(ROOT), "-o", str(file), str(source)], check=True)
    forms = [[form, str(file)] for form in ("--json", "--hints") for file in files]
    fresh = [_said(capsys, "--no-cache", *form) for form in forms]
    for _ in range(2):
        assert [_said(capsys, *form) for form in forms] == fresh
    assert len(set(fresh)) == len(fresh)


def _said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(list(arguments))
    return re.sub(r'"own_s": [\d.]+', "", capsys.readouterr().out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_nothing(cubin: Path, tmp_path: Path, number: signal.Signals) -> None:
    slow = tmp_path / "nvdisasm"
    slow.write_text("#!/bin/sh\nexec sleep 300\n")
    slow.chmod(0o755)
    environment = {**os.environ, "PDL_NVDISASM": str(slow), "TMPDIR": str(tmp_path / "t"), "PDL_CACHE": str(tmp_path / "c")}
    (tmp_path / "t").mkdir()
    child = subprocess.Popen([sys.executable, str(ROOT / "conformance"), "lint", str(cubin)], env=environment, stderr=subprocess.PIPE)
    for _ in range(600):
        if list((tmp_path / "t").glob("pdl-lint-*")):
            break
        time.sleep(0.05)
    time.sleep(1.0)
    child.send_signal(number)
    child.communicate(timeout=3600)
    assert child.returncode == 130 and not list((tmp_path / "t").glob("pdl-lint-??????*"))


def _read_early(kernel: str, parameter: int, line: int = 0) -> Finding:
    place = Place(kernel, 16 * parameter, "LDG.E R0, [R2]", (("k.cu", line),) if line else ())
    subject = f"parameter {parameter}"
    return Finding("read-before-wait", kernel, kernel, "lib.so", "sm_90", f"{subject} is read before the wait", place, subject)


def test_what_a_generator_made_is_told_once() -> None:
    """Many templates that are wrong in the same ways are one block; few are told one by one, and so are those that know their lines."""
    many = [_read_early(f"gemm_{n}x{n}", parameter) for n in range(200) for parameter in (1, 2)]
    few = [_read_early(f"mine_{n}", 1, line=n + 1) for n in range(200)]
    assert [sum(group.count for group in block.groups) for block in blocks(tell(many))] == [400]
    assert [group.count for group in blocks(tell(many))[0].groups] == [200, 200]
    assert len(blocks(tell(many[:24]))) == 12 and len(blocks(tell(few))) == 200
    other = Finding("no-wait", "gemm_0x0", "gemm_0x0", "lib.so", "sm_90", "named overlapping, and has no wait")
    assert len(blocks(tell([*many, other]))) == 2


def test_all_of_a_finding_is_in_its_json() -> None:
    finding = _read_early("k", 2, line=7)
    branch = Place("k", 48, "BRA", (("k.cu", 9), ("h.cuh", 3)))
    finding.path = [Step("the branch goes past the wait", branch), Step("the use", Place("k", 64, "FADD"))]
    assert finding.as_json() == {
        "kernel": "k", "demangled": "k", "id": "read-before-wait", "severity": RULES["read-before-wait"].severity, "where": finding.where,
        "message": "parameter 2 is read before the wait", "advice": RULES["read-before-wait"].advice, "file": "lib.so", "image": None,
        "arch": "sm_90", "section": "k", "offset": 32, "source": {"file": "k.cu", "line": 7}, "inlined_at": [],
        "path": [{"what": "the branch goes past the wait", "section": "k", "offset": 48, "source": {"file": "k.cu", "line": 9}},
                 {"what": "the use", "section": "k", "offset": 64, "source": None}],
        "instruction": "LDG.E R0, [R2]", "parameters": [], "condition": None, "imprecise": False, "fingerprint": finding.fingerprint,
        "suppressed": None, "known": False,
    }


def test_json_is_written_as_it_is_made() -> None:
    """Pieces of it are what the standard library writes of the whole; bytes of a name that are no UTF-8 get a replacement."""
    content = {"a": [], "b": {}, "c": [1, None, True, 0.5, "\u00e4\"\n\x01"], "d": [{"e": [{"f": []}], "g": {"h": "\U0001f600"}}]}
    rows = [{"x": [{"y": "z"}], "n": []}, content]
    whole = json.dumps({**content, "rows": rows, "none": []}, indent=1)
    assert "".join(dump({**content, "rows": iter(rows), "none": iter(())})) == whole
    assert "".join(dump({"\udcff": "\udcff"})) == json.dumps({"\ufffd": "\ufffd"}, indent=1)


def test_packed_findings_are_the_same() -> None:
    """Unpacked they equal what went in; their groups are those of the whole list."""
    findings = [_read_early("k", number % 3, line=number % 2) for number in range(9)]
    findings[4].path = [Step("the wait", Place("k", 64, "ACQBULK", (("k.cu", 7), ("h.cuh", 1))))]
    findings[5].condition, findings[6].suppressed, findings[7].known, findings[8].parameters = "parameter 1", "why", True, [3]
    packed = Packed(findings)
    assert list(packed) == findings and packed[4] == findings[4] and len(packed) == 9 and packed.told == tell(findings)
    assert sum(group.count for group in packed.told) == 9 and len(packed.told) == 6
    assert [group.lined for group in packed.told[:3]] == [True, True, False]
    assert finding_of(json.loads(json.dumps(row_of(findings[4]))), ("k", "k", "lib.so", "sm_90", None)) == findings[4]


def test_advice_is_said_once_for_a_cause(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = KernelVerdict("k", "k", "lib.so", None, "sm_90", True, True, findings=[_read_early("k", n) for n in range(1, 10)])
    text = as_text(Report([verdict]), hints=False, not_judged=False)
    assert text.count("do: ") == 1 and text.count("[read-before-wait]") == 6
    assert "and 3 more places of this kind, about 3 other parameters" in text


def test_a_wait_in_a_loop_and_a_header_of_the_toolkit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, cubin = tmp_path / "t.cu", tmp_path / "t.cubin"
    source.write_text(
        '#include "pdl_device.cuh"\n'
        'extern "C" __global__ void late_turn(const float *x, float *y, int n)\n{\n    for (int k = 0; k < n; k++) {\n'
        '        if (k == 1)\n            pdl_wait();\n        y[k * 128 + threadIdx.x] = x[k * 128 + threadIdx.x];\n    }\n}\n'
        'extern "C" __global__ void counter(int *n)\n{\n    int old = atomicAdd(n, 1);\n    pdl_wait();\n    n[1] = old;\n}\n')
    command = [_NVCC, "-arch=sm_90", "-lineinfo", "-I", str(ROOT), "-cubin", "-o", str(cubin), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    _, content = _json(capsys, cubin)
    late = [f for f in _of(content, "late_turn") if f["id"] in ("read-before-wait", "write-before-wait")]
    assert len(late) >= 2 and all(f["advice"].startswith("the wait stands in a loop") for f in late)
    (atomic,) = (f for f in _of(content, "counter") if f["id"] == "atomic-before-wait")
    assert atomic["source"] == {"file": str(source), "line": 12} and atomic["inlined_at"] == []
    main([str(cubin)])
    assert "in the toolkit's " in capsys.readouterr().out
