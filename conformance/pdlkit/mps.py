"""An MPS server of one's own, for as long as it is needed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def mps_server(folder: Path) -> Iterator[dict[str, str]]:
    """An MPS server with a pipe and a log of its own; the variables that lead a program to it."""
    variables = {"CUDA_MPS_PIPE_DIRECTORY": str(folder / "pipe"), "CUDA_MPS_LOG_DIRECTORY": str(folder / "log")}
    for place in variables.values():
        Path(place).mkdir()
    surrounding = {**os.environ, **variables}
    subprocess.run(["nvidia-cuda-mps-control", "-d"], env=surrounding, check=True, timeout=30, stdin=subprocess.DEVNULL)
    try:
        yield variables
    finally:
        subprocess.run(["nvidia-cuda-mps-control"], env=surrounding, input="quit\n", text=True, timeout=60, check=False)
