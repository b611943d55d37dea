"""What this machine is: NVIDIA hardware or none, whether the driver answers, and what sits between the two."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit.children import Stopper, run_child

QUERY_S = 45.0
_NVIDIA, _DISPLAY_CLASSES = "0x10de", ("0x0300", "0x0302")

# Each of these hides or changes overlap (facts: blocking launches and checkers serialise the kernels).
_INTERPOSING_VARIABLES = {
    "CUDA_LAUNCH_BLOCKING": "every launch blocks, which hides a missing wait",
    "CUDA_INJECTION64_PATH": "a tool is injected into every CUDA process",
    "NVTX_INJECTION64_PATH": "a tool is injected into every CUDA process",
    "LD_PRELOAD": "a library is loaded in front of the CUDA runtime",
    "LD_AUDIT": "a library watches and can redirect every call",
    "CUDA_DEVICE_WAITS_ON_EXCEPTION": "the debugger's hook is on",
    "CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "the debugger's hook is on",
}


@dataclass(frozen=True)
class Gpu:
    """One device as the driver describes it."""

    name: str
    cc: int
    sms: int


@dataclass(frozen=True)
class Driver:
    """What the driver answered."""

    error: str | None
    cuda: int = 0
    gpus: tuple[Gpu, ...] = field(default=())


def nvidia_hardware() -> list[str]:
    """Signs that NVIDIA hardware is here, usable or not; empty if there is none at all."""
    signs = []
    if any(Path("/proc/driver/nvidia/gpus").glob("*")):
        signs.append("the NVIDIA kernel driver lists a GPU")
    if any(re.fullmatch(r"nvidia[0-9]+", path.name) for path in Path("/dev").glob("nvidia*")):
        signs.append("/dev has an NVIDIA device")
    if Path("/dev/dxg").exists() and Path("/usr/lib/wsl/lib/libcuda.so.1").exists():
        signs.append("WSL offers an NVIDIA GPU")
    if any(Path("/dev", name).exists() for name in ("nvhost-gpu", "nvgpu")):
        signs.append("/dev has an integrated NVIDIA GPU")
    if any(_is_nvidia_gpu(path) for path in Path("/sys/bus/pci/devices").glob("*")):
        signs.append("the PCI bus has an NVIDIA GPU")
    return signs


def _is_nvidia_gpu(device: Path) -> bool:
    try:
        if (device / "vendor").read_text().strip() != _NVIDIA:
            return False
        return (device / "class").read_text().strip()[:6] in _DISPLAY_CLASSES
    except OSError:
        return False


class _QueryWatch:
    def __init__(self) -> None:
        self.text, self._deadline = "", time.monotonic() + QUERY_S

    def line(self, text: str) -> None:
        self.text += text

    def deadline(self) -> float:
        return self._deadline


def ask_driver() -> Driver:
    """The driver's devices, asked in a child so that a sick driver cannot hang the kit."""
    watch, stopper = _QueryWatch(), Stopper()
    try:
        ending = run_child([sys.executable, str(Path(__file__).with_name("gpu_query.py"))], watch, stopper)
    finally:
        stopper.close()
    if ending.exit_code != 0:
        return Driver(f"the driver does not answer (a process that asked it {ending.words()})")
    try:
        answer: dict[str, Any] = json.loads(watch.text)
    except ValueError:
        return Driver("the driver's answer cannot be read")
    if "error" in answer:
        return Driver(str(answer["error"]))
    gpus = tuple(Gpu(str(d["name"]), int(d["cc"]), int(d["sms"])) for d in answer["devices"])
    return Driver(None if gpus else "the driver offers no device", int(answer["driver"]), gpus)


def driver_version() -> str | None:
    """The kernel driver's own version, such as 580.159.04."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        return None
    match = re.search(r"\s([0-9]{3}\.[0-9]+(?:\.[0-9]+)?)\s", text)
    return match[1] if match else None


def kernel_module() -> str | None:
    """open or proprietary."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        return None
    return "open" if "Open Kernel" in text else "proprietary"


def interposers(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables that put something between the kit and the device, with what each does."""
    env = os.environ if environment is None else environment
    off = ("", "0")
    return {name: why for name, why in _INTERPOSING_VARIABLES.items() if env.get(name, "") not in off}


def host() -> dict[str, Any]:
    """The machine without anything that names it or its user."""
    try:
        os_name = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        os_name = platform.system()
    return {
        "os": os_name, "kernel": re.sub(r"[^0-9.].*", "", platform.release()), "architecture": platform.machine(),
        "cpu": _cpu_model(), "cores": len(os.sched_getaffinity(0)), "python": platform.python_version(),
    }


def _cpu_model() -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return line.partition(":")[2].strip() or None
    except OSError:
        pass
    return None
