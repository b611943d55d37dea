"""An MPS server of one's own, for as long as it is needed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def visible_to_clients(visible: str) -> str:
    """CUDA_VISIBLE_DEVICES for the clients of a server that was started with this value.

    The server numbers what it sees from 0 again. A client that keeps an ordinal such as 1 then names a GPU that is not there.
    A name, such as GPU-..., stays what it is.
    """
    ordinals = visible.split(",")
    return ",".join(map(str, range(len(ordinals)))) if all(word.strip().isdigit() for word in ordinals) else visible


@contextmanager
def mps_server(folder: Path) -> Iterator[dict[str, str]]:
    """An MPS server with a pipe and a log of its own; the variables that lead a program to it."""
    variables = {"CUDA_MPS_PIPE_DIRECTORY": str(folder / "pipe"), "CUDA_MPS_LOG_DIRECTORY": str(folder / "log")}
    for place in variables.values():
        Path(place).mkdir()
    surrounding = {**os.environ, **variables}
    subprocess.run(["nvidia-cuda-mps-control", "-d"], env=surrounding, check=True, timeout=30, stdin=subprocess.DEVNULL)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    try:
        yield variables if visible is None else {**variables, "CUDA_VISIBLE_DEVICES": visible_to_clients(visible)}
    finally:
        subprocess.run(["nvidia-cuda-mps-control"], env=surrounding, input="quit\n", text=True, timeout=60, check=False)
