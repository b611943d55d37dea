"""What several of lint's tests share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.pdlkit.toolchain import find_nvcc

ROOT = Path(__file__).resolve().parents[3]
_FOUND = find_nvcc()  # also one that was fetched as a package
_NVCC = str(_FOUND.path) if _FOUND else "nvcc"
_SOURCE = '#include "pdl_device.cuh"\nextern "C" __global__ void early(const float *a, float *o)\n{\n' \
          "    float v = *(const volatile float *)a;\n    pdl_wait();\n    *o = v;\n}\n"


@pytest.fixture(autouse=True)
def _own_cache(request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test finds what another one, or the user, has cached; in a file with ONE_CACHE tests find what those before them analysed,
    because they are about what is said of the same few images. (A context of its own: a test's monkeypatch ends when it did before.)"""
    shared = getattr(request.module, "ONE_CACHE", False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PDL_CACHE", str((tmp_path_factory.getbasetemp() if shared else tmp_path) / "cache"))
        yield


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    source = folder / "k.cu"
    source.write_text(_SOURCE)
    command = [_NVCC, "-arch=sm_90", "-I", str(ROOT), "--keep", "--keep-dir", str(folder), "-c", "-o", str(folder / "k.o"), str(source)]
    subprocess.run(command, check=True, capture_output=True)  # one call makes them all
    next(folder.glob("k*.cubin")).rename(folder / "k.cubin")
    subprocess.run(["ar", "rcs", str(folder / "k.a"), str(folder / "k.o")], check=True)
    return folder
