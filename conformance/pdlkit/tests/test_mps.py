"""The MPS server that the kit starts: which GPU its clients are led to."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from conformance.pdlkit.mps import mps_server
from conformance.pdlkit.tests.processes import alive

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


def _control(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    program = folder / "nvidia-cuda-mps-control"
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_server_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _control(tmp_path, monkeypatch, "#!/bin/sh\necho no room in the pipe\nexit 3\n")
    with pytest.raises(OSError, match="ended with 3: no room in the pipe"), mps_server(tmp_path):
        pass


def test_a_server_that_does_not_end_is_killed_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _control(tmp_path, monkeypatch, """#!/bin/sh
if [ "$1" = -d ]; then sleep 600 & echo $! > "$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid"; exit 0; fi
exec sleep 600
""")
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *words, **more: run(*words, **{**more, "timeout": 5 if "input" not in more else 0.2}))
    with mps_server(tmp_path) as variables:
        server = int((Path(variables["CUDA_MPS_PIPE_DIRECTORY"]) / "nvidia-cuda-mps-control.pid").read_text())
        os.kill(server, 0)
    until = time.monotonic() + 1200
    while time.monotonic() < until and alive(server):
        time.sleep(0.02)
    assert not alive(server)
