"""The MPS server that the kit starts: which GPU its clients are led to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.pdlkit.mps import mps_server

CONTROL = '#!/bin/sh\necho "$1 ${CUDA_VISIBLE_DEVICES-unset} $CUDA_MPS_PIPE_DIRECTORY" >> "$CUDA_MPS_LOG_DIRECTORY/called"\n'


@pytest.mark.parametrize(("ours", "clients"), [(None, None), ("0", "0"), ("1", "0"), ("3, 1", "0,1"), ("GPU-a", "GPU-a"), ("", "")])
def test_clients_use_the_numbers_that_the_server_gives(ours: str | None, clients: str | None, tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-cuda-mps-control"
    program.write_text(CONTROL)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if ours is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ours)
    with mps_server(tmp_path) as variables:
        assert variables.get("CUDA_VISIBLE_DEVICES") == clients
    server, end = (tmp_path / "log" / "called").read_text().splitlines()
    assert server == f"-d {'unset' if ours is None else ours} {tmp_path / 'pipe'}" and not end.startswith("-d")
