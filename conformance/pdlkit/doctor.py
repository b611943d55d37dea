"""The command `doctor`: what this machine can run, and what is in the way. It changes nothing and builds nothing."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from conformance.pdlkit import machine, sources, toolchain
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.build import carried
from conformance.pdlkit.display import wants_colours
from conformance.pdlkit.exits import FAILED, OK
from conformance.pdlkit.toolkit import toolkit_program

OLDEST_CC = 90
_FETCHED = "run and test fetch it as a package if there is a network"
_MARKS = {"ok": "32", "note": "33", "bad": "31"}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: ok, note (worth knowing) or bad (in the way)."""

    what: str
    state: str
    text: str


def _tool(what: str, tool: toolchain.Tool | None, absent: str, needed: bool = True) -> Finding:
    if tool is None:
        return Finding(what, "bad" if needed else "note", absent)
    return Finding(what, "ok", tool.words())


def _gaps(for_gpu: bool) -> list[str]:
    """What a run lacks; a harness that came with the package needs nothing that a build needs."""
    return [] if carried("cuda" if for_gpu else "model") else toolchain.missing_basics(for_gpu)


def _programs() -> list[Finding]:
    """What the installed package brings along, so that nothing has to be built."""
    brought = [words for device, words in (("model", "for the model"), ("cuda", "for GPUs")) if carried(device)]
    return [Finding("harness", "ok", f"with the package: {' and '.join(brought)}")] if brought else []


def tools() -> list[Finding]:
    """What a build needs."""
    brought = _programs()
    nvcc, compiler = toolchain.find_nvcc(), toolchain.find_c_compiler()
    xxhash, headers = toolchain.find_xxhash(compiler), toolchain.cuda_headers(nvcc)
    found = [
        Finding("python", "ok", sys.version.split()[0]),
        *brought,
        _tool("cmake", toolchain.find_cmake(), "not on PATH", needed=not brought),
        _tool("ninja", toolchain.find_ninja(), "not on PATH; make is used, or it is fetched", needed=False),
        _tool("C compiler", compiler, "not on PATH", needed=not brought),
        _tool("nvcc", nvcc, "no CUDA Toolkit found: " + _FETCHED, needed=False),
        Finding("CUDA headers", "ok" if headers else "note", "found" if headers else "no cuda_runtime_api.h: " + _FETCHED),
        Finding("xxhash.h", "ok" if xxhash else "note", {
            None: "not found: " + _FETCHED, "system": "the system's",
        }.get(xxhash, "found")),
    ]
    dumpers = [name for name in ("nvdisasm", "cuobjdump") if toolkit_program(name)]
    text = ", ".join(dumpers) or "neither nvdisasm nor cuobjdump; lint fetches them, run does not need them"
    return [*found, Finding("disassembler", "ok" if dumpers else "note", text)]


def gpus() -> tuple[list[Finding], bool]:
    """What there is of NVIDIA hardware, and whether a GPU can run the kit."""
    signs = machine.nvidia_hardware()
    if not signs:
        return [Finding("GPU", "note", "no NVIDIA hardware here; the model can still be judged")], False
    found = [Finding("hardware", "ok", "; ".join(signs))]
    version, module = machine.driver_version(), machine.kernel_module()
    if version:
        found.append(Finding("driver", "ok", f"{version} ({module} kernel module)"))
    driver = machine.ask_driver()
    if driver.error:
        return [*found, Finding("CUDA driver", "bad", driver.error)], False
    found.append(Finding("CUDA driver", "ok", f"offers CUDA {driver.cuda // 1000}.{driver.cuda % 1000 // 10}"))
    usable = False
    for ordinal, gpu in enumerate(driver.gpus):
        fits = gpu.cc >= OLDEST_CC
        usable = usable or fits
        text = f"{gpu.name}, cc {gpu.cc // 10}.{gpu.cc % 10}, {gpu.sms} SMs"
        found.append(Finding(f"cuda:{ordinal}", "ok" if fits else "note", text + ("" if fits else "; needs cc 9.0")))
    return found + _sharing() + _toolkit_fits(driver), usable


def _toolkit_fits(driver: machine.Driver) -> list[Finding]:
    nvcc = toolchain.find_nvcc()
    if nvcc is None or not nvcc.version or nvcc.version[0] <= driver.cuda // 1000:
        return []
    return [Finding("toolkit", "bad", (
        f"nvcc {toolchain.dotted(nvcc.version)} makes programs that this driver (CUDA {driver.cuda // 1000}."
        f"{driver.cuda % 1000 // 10}) cannot run; install a CUDA {driver.cuda // 1000}.x toolkit or a newer driver"))]


def _sharing() -> list[Finding]:
    """MIG, MPS and other processes on the GPU: they change what overlaps."""
    smi = shutil.which("nvidia-smi")
    if not smi:
        return [Finding("nvidia-smi", "note", "not there: MIG, ECC and other processes cannot be seen")]
    found = []
    fields = "index,mig.mode.current,ecc.mode.current,compute_mode"
    code, text = toolchain.ask([smi, f"--query-gpu={fields}", "--format=csv,noheader"])
    for line in text.splitlines() if code == 0 else []:
        index, mig, ecc, mode = (part.strip() for part in (line + ",,,").split(",")[:4])
        if mig == "Enabled":
            found.append(Finding(f"MIG {index}", "note", "on: the kit judges an instance, with fewer SMs"))
        if mode not in ("Default", ""):
            found.append(Finding(f"mode {index}", "note", f"compute mode {mode}: only one process may use the GPU"))
        if ecc:
            found.append(Finding(f"ECC {index}", "ok", ecc))
    code, text = toolchain.ask([smi, "--query-compute-apps=pid", "--format=csv,noheader"])
    others = [line for line in text.splitlines() if line.strip().isdigit()] if code == 0 else []
    if others:
        found.append(Finding("other work", "note", f"{len(others)} other processes use a GPU; windows get wider or narrower"))
    return found


def surroundings(environment: Mapping[str, str] | None = None) -> list[Finding]:
    """Variables and services between the kit and the device."""
    env = os.environ if environment is None else environment
    found = [Finding(name, "bad", f"set: {why}; a run cannot conform, so unset it")
             for name, why in machine.interposers(env).items()]
    pipe = env.get("CUDA_MPS_PIPE_DIRECTORY") or "/tmp/nvidia-mps"
    if Path(pipe, "control").exists():
        found.append(Finding("MPS", "note", "its control pipe is there: other clients may share the GPU"))
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_MODULE_LOADING", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DISABLE_PTX_JIT"):
        if env.get(name):
            found.append(Finding(name, "note", f"is {env[name]}"))
    if env.get("PDL_DISABLE"):
        found.append(Finding("PDL_DISABLE", "note", "set: programs that use pdl.h do not overlap (the harness ignores it)"))
    return found


def results() -> list[Finding]:
    """Which recorded reports were made by exactly this code."""
    own = sources.digest()
    return [Finding("recorded", "ok" if made_by == own else "note",
                    f"{name}: " + ("by this code" if made_by == own else f"by other code ({made_by or 'digest not kept'})"))
            for name, made_by in sources.recorded()]


def advice(usable: bool, hardware: bool) -> list[str]:
    """What can be run here, and what would be missing."""
    lines = []
    gaps, for_gpu = _gaps(False), _gaps(True)
    if usable and not for_gpu:
        lines.append("`run` judges the GPU")
    elif hardware:
        lines.append("`run --device cuda` cannot be run" + (": " + "; ".join(for_gpu) if for_gpu else ""))
    lines.append("`run --device model` needs: " + "; ".join(gaps) if gaps else "`run --device model` works without a GPU")
    offline = [] if carried("cuda" if usable else "model") else toolchain.missing_parts(for_gpu=usable)
    return [*lines, *(f"without a network: {gap}" for gap in offline)]


def main(argv: list[str]) -> int:
    """The command `doctor`; 0 if something can be run here, else 1."""
    parser = Parser("doctor", "what this machine can run, and what is in the way")
    parser.add_argument("--json", action="store_true", help="JSON on stdout, nothing else")
    options = parser.parse_args(argv)
    hardware, usable = gpus()
    sections = {"build": tools(), "device": hardware, "surroundings": surroundings(), "results": results()}
    lines = advice(usable, bool(machine.nvidia_hardware()))
    runs_model = not _gaps(False)
    if options.json:
        findings = {name: [asdict(item) for item in items] for name, items in sections.items()}
        print(json.dumps({"host": machine.host(), **findings, "gpu": usable, "model": runs_model, "advice": lines}, indent=1))
        return OK if usable or runs_model else FAILED
    colours = wants_colours(sys.stdout)
    for name, items in sections.items():
        if items:
            print(name)
        for item in items:
            state = f"\033[{_MARKS[item.state]}m{item.state:<7}\033[0m" if colours else f"{item.state:<7}"
            print(f"  {state}  {item.what:<14} {item.text}")
    print("\n".join(lines))
    return OK if usable or runs_model else FAILED
