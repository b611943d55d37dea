"""Compiles C sources of the kit that Python needs as a program or a library: once, and safely if several do so at a time."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.toolchain import Tool


def compile_to(target: Path, compiler: Tool, arguments: Sequence[str | Path], what: str) -> Path:
    """The target, made by one call of the compiler (without its -o). SetupImpossible names `what` and the compiler's first error."""
    draft = target.with_name(f"draft-{target.name}.{os.getpid()}.{threading.get_ident()}")  # others may compile it now
    command = [str(compiler.path), "-o", str(draft), *map(str, arguments)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode:
            lines = (done.stderr + done.stdout).strip().splitlines()
            telling = [line for line in lines if "error:" in line or "undefined" in line] or lines
            said = telling[0] if telling else f"exit code {done.returncode}"
            raise SetupImpossible(f"{what} does not compile with {compiler.path}: {said}; set CC to another one")
        draft.replace(target)
    except OSError as error:
        raise SetupImpossible(f"{what} cannot be compiled with {compiler.path}: {error}") from None
    finally:
        draft.unlink(missing_ok=True)
    return target
