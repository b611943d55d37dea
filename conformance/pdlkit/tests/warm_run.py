"""Runs the command `run` in processes that are forked from one that has imported it and has read the rule book: that takes most
of a short run.

    python warm_run.py SOCKET      # ends when its standard input does

Each connection sends the arguments, the folder and the environment as JSON, with the two outputs as descriptors, and hears the
exit code. What runs is a process of its own, as from the command line, with nothing of the runs before it. It writes no page: that
takes another process, and longer than all else; test_entry.py looks for the page of a run from the command line.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

LARGEST = 1 << 20  # bytes of a request


def _take(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, descriptors, _, _ = socket.recv_fds(connection, LARGEST, 2)
    while part := connection.recv(LARGEST):
        data += part
    request: dict[str, Any] = json.loads(data)
    return request, list(descriptors)


def _become(request: dict[str, Any], outputs: list[int]) -> None:
    """Everything that a new process would have got from whoever started it."""
    atexit._clear()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (outputs[0], 1), (outputs[1], 2)):
        os.dup2(source, target)
    for descriptor in (nothing, *outputs):
        os.close(descriptor)


def _run(arguments: list[str]) -> int:
    from conformance.pdlkit.entry import main

    sys.argv = ["conformance", *arguments]
    try:
        return main(arguments)
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()


def _answer(connection: socket.socket) -> None:
    """In a process of its own: run what is asked for in another one, and say how it ended."""
    request, outputs = _take(connection)
    child = os.fork()
    if child == 0:
        connection.close()
        code = 70
        try:
            _become(request, outputs)
            code = _run(request["arguments"])
        finally:
            os._exit(code)
    for descriptor in outputs:
        os.close(descriptor)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall(str(code).encode())


def serve(place: str) -> None:
    """Until standard input ends."""
    from conformance.pdlkit import page, places, rules

    page.write_page = lambda report: None
    import conformance.pdlkit.run  # noqa: F401  what all of them have imported

    rules.parse = cache(rules.parse)  # another text is another book
    assert rules.load(places.RULES).axes.rows  # made when they are first asked for
    answering = set[int]()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen()
        print("ready", flush=True)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                child = os.fork()
                if child == 0:
                    listener.close()
                    try:
                        _answer(connection)
                    finally:
                        os._exit(0)
            answering = {pid for pid in answering if os.waitpid(pid, os.WNOHANG)[0] == 0} | {child}
    for pid in answering:
        os.waitpid(pid, 0)


class WarmRun:
    """The process that has imported the command; it ends with this one."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._place = folder / "warm"
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(self._place)], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(root)})
        atexit.register(self._process.communicate)
        assert self._process.stdout and self._process.stdout.readline() == b"ready\n"

    def run(self, arguments: list[str], folder: Path, environment: dict[str, str], limit_s: float) -> tuple[int, str, str]:
        """The exit code and the two outputs."""
        request = {"arguments": arguments, "folder": str(folder), "environment": environment}
        with socket.socket(socket.AF_UNIX) as connection, open(os.memfd_create("out"), "w+b") as out, \
                open(os.memfd_create("err"), "w+b") as err:
            connection.settimeout(limit_s)
            connection.connect(str(self._place))
            socket.send_fds(connection, [b" "], [out.fileno(), err.fileno()])
            connection.sendall(json.dumps(request).encode())
            connection.shutdown(socket.SHUT_WR)
            code = int(connection.recv(16))
            out.seek(0)
            err.seek(0)
            return code, out.read().decode(), err.read().decode()


if __name__ == "__main__":
    serve(sys.argv[1])
