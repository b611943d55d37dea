"""An MPS server of one's own, for as long as it is needed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def visible_to_clients(visible: str) -> str:
    """CUDA_VISIBLE_DEVICES for the clients of a server that was started with this value.

    The server numbers what it sees from 0 again. A client that keeps an ordinal such as 1 then names a GPU that is not there.
    A name, such as GPU-..., stays what it is.
    """
    ordinals = visible.split(",")
    return ",".join(map(str, range(len(ordinals)))) if all(word.strip().isdigit() for word in ordinals) else visible


def _end(surrounding: dict[str, str], pipe: Path) -> None:
    """End the server, also one whose clients were killed in the middle of a call. Whatever it does, what was measured stays."""
    try:
        subprocess.run(["nvidia-cuda-mps-control"], env=surrounding, input=b"quit -t 5\n", stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        with suppress(OSError, ValueError):
            os.kill(int((pipe / "nvidia-cuda-mps-control.pid").read_text()), signal.SIGKILL)


@contextmanager
def mps_server(folder: Path) -> Iterator[dict[str, str]]:
    """An MPS server with a pipe and a log of its own; the variables that lead a program to it. OSError if it does not start."""
    variables = {"CUDA_MPS_PIPE_DIRECTORY": str(folder / "pipe"), "CUDA_MPS_LOG_DIRECTORY": str(folder / "log")}
    for place in variables.values():
        Path(place).mkdir()
    surrounding, said = {**os.environ, **variables}, folder / "said.txt"
    with said.open("wb") as output:  # not ours: the server would keep it open, and whoever reads it would wait
        done = subprocess.run(["nvidia-cuda-mps-control", "-d"], env=surrounding, check=False, timeout=30, stdin=subprocess.DEVNULL,
                              stdout=output, stderr=output)
    if done.returncode:
        words = said.read_text(errors="replace").strip()
        raise OSError(f"nvidia-cuda-mps-control ended with {done.returncode}: {words or 'it said nothing'}")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    try:
        yield variables if visible is None else {**variables, "CUDA_VISIBLE_DEVICES": visible_to_clients(visible)}
    finally:
        _end(surrounding, folder / "pipe")
