"""The stand-in driver and CUPTI, compiled once, with modules for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit.places import KIT
from conformance.trace.tests import fake_cubin

HERE, REWRITER = Path(__file__).parent, KIT / "rewrite"


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with libcuda.so.1 and the modules new.module and old.module."""
    folder = tmp_path_factory.mktemp("stand-in")
    subprocess.run(["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1,-Bsymbolic", f"-I{REWRITER}",
                    "-o", folder / "libcuda.so.1", HERE / "stand_in.c", HERE / "stand_in_recording.c", REWRITER / "stubs.c"], check=True)
    fake_cubin.module(folder, "new", 90)
    fake_cubin.module(folder, "old", 80)
    return folder
