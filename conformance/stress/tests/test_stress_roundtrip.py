"""`stress roundtrip` and `stress same`: that they say yes, and that they can say no."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import KIT
from conformance.pdlkit.toolchain import find_nvcc
from conformance.rewrite.tests.images import EXIT, STACK, Kernel, cubin
from conformance.stress import main, same_command
from conformance.stress.ptx import hold_code

HERE = Path(__file__).parent
NVCC = find_nvcc()
PTX = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry first()\n{\n\tret;\n}\n"
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="there is no nvcc here")


@needs_nvcc
def test_the_zoo_travels_to_every_architecture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert NVCC
    source, record = KIT / "stress" / "zoo" / "zoo_kernels.cuh", tmp_path / "record.json"
    for name, flags in (("plain", []), ("lines", ["-lineinfo"])):
        subprocess.run([NVCC.path, "-arch=compute_90", "-ptx", *flags, "-x", "cu", source, "-o", tmp_path / f"{name}.ptx"], check=True)
    assert main(["roundtrip", str(tmp_path / "plain.ptx"), str(tmp_path / "lines.ptx"), "--record", str(record)]) == 0
    report = json.loads(record.read_text())
    assert report["kernels"] >= 140 and report["assembled"] == 2 * 5 and report["refused"] == [] and report["mebibytes_per_second"] > 5
    assert "0 refused" in capsys.readouterr().out


@needs_nvcc
def test_what_is_refused_fails_and_what_never_assembled_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clash.ptx").write_text(PTX)
    with monkeypatch.context() as broken:
        broken.setattr(hold_code, "_REGISTERS", "")  # what is inserted then names registers that nobody declared
        assert main(["roundtrip", str(tmp_path / "clash.ptx"), "--arch", "90"]) == 1
    assert "refused: clash.ptx for sm_90" in capsys.readouterr().out
    (tmp_path / "nonsense.ptx").write_text(PTX.replace("ret;", "this is no instruction;"))
    assert main(["roundtrip", str(tmp_path / "nonsense.ptx"), "--arch", "90", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["not_for_this_target"] == 1
    with pytest.raises(BadArguments):
        main(["roundtrip", str(tmp_path / "none.ptx")])


def test_the_recorded_round_trip_is_wide_enough() -> None:
    report = json.loads((KIT / "stress" / "corpus" / "roundtrip.json").read_text())
    assert report["kernels"] >= 300 and report["refused"] == [] and report["left"] == {}
    assert report["architectures"] == ["90", "100", "103", "110", "120"]
    for maker in ("nvcc-", "nvrtc-12.", "nvrtc-13.", "clang++-", "triton-"):
        assert sum(kernels for name, kernels in report["kernels_by_file"].items() if name.startswith(maker)) > 20, maker


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program before a driver that only remembers."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    folder = tmp_path_factory.mktemp("driver")
    driver = folder / "libcuda.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", driver, HERE / "fake_driver.c", "-Wl,-soname,libcuda.so.1,-Bsymbolic"], check=True)
    subprocess.run(["cc", "-o", folder / "program", HERE / "fake_program.c", driver, "-ldl", "-lpthread"], check=True)
    (folder / "image").write_bytes(cubin([Kernel("first", [STACK, EXIT])]))
    return folder


def same(place: Path, shell: str, *options: str) -> int:
    return main(["same", *options, "--json", "--", "sh", "-c", f"LD_LIBRARY_PATH={place}; export LD_LIBRARY_PATH; {shell}"])


def test_the_same_output_is_the_same(place: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    silent = f"{place}/program dlsym cuModuleLoadData {place}/image first >/dev/null; echo shard {{shard}} of {{shards}}"
    assert same(place, silent, "--shards", "2", "--output", str(tmp_path / "report.json")) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["kernels"], report["lines"], report["different"], report["errors"]) == (1, 2, [], [])
    assert json.loads((tmp_path / "report.json").read_text()) == report


def test_another_output_is_not(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert same(place, f"{place}/program dlsym cuModuleLoadData {place}/image first") == 1  # the stand-in says when a carve-out is set
    assert json.loads(capsys.readouterr().out)["different"]


def test_nothing_rewritten_and_a_fall_are_inconclusive(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert same(place, "echo nothing") == same_command.INCONCLUSIVE
    capsys.readouterr()
    assert same(place, f"{place}/program dlsym cuModuleLoadData {place}/image first >/dev/null; exit 3") == same_command.INCONCLUSIVE
    assert "exit code 3" in json.loads(capsys.readouterr().out)["errors"][0]
    for argv in (["same"], ["same", "--shards", "0", "--", sys.executable]):
        with pytest.raises(BadArguments):
            main(argv)
