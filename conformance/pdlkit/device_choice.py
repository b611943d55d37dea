"""Decides what a run judges: a GPU, the model, or nothing; `auto` never hides hardware that does not work."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from conformance.pdlkit.children import Ending, Stopper
from conformance.pdlkit.exits import BAD_ARGUMENTS, BadArguments
from conformance.pdlkit.machine import Driver, ask_driver, nvidia_hardware
from conformance.pdlkit.supervise import probe

_REQUEST = re.compile(r"auto|cuda(:[0-9]{1,3})?|model(:[a-z0-9_-]+)?")


@dataclass(frozen=True)
class Choice:
    """The device of a run. At most one of `absent` and `broken` is set, and then nothing can be run."""

    device: str
    note: str | None = None  # one line to print
    absent: str | None = None  # NOT_APPLICABLE, with this reason
    broken: str | None = None  # INVALID, with this cause
    architectures: str | None = None  # what to compile for
    driver_cuda: int | None = None  # what the driver can run, such as 13000
    gpus: int | None = None  # how many the driver offers; None: it was not asked

    @property
    def on_model(self) -> bool:
        """The model was chosen."""
        return self.device.startswith("model")

    @property
    def build(self) -> str:
        """The build that can run it."""
        return "model" if self.on_model else "cuda"


def parse_request(text: str) -> str:
    """The request, checked."""
    if not _REQUEST.fullmatch(text):
        raise BadArguments(
            f"--device {text}: say auto, cuda, cuda:N, model or model:NAME (names: list --broken-devices)")
    return text


def choose(request: str, oldest_cc: int, harness: Path | None) -> Choice:
    """Turn a request into a device; asks the driver, or the given harness, whether the GPU can be used."""
    if request.startswith("model"):
        return Choice(request)
    signs = nvidia_hardware()
    if request == "auto":
        if not signs:
            if harness is not None and ask_probe(harness, "model")[0].exit_code == BAD_ARGUMENTS:
                raise BadArguments(f"--harness {harness}: it runs on a GPU, and there is no NVIDIA hardware here")
            return Choice(
                "model", note="no NVIDIA hardware here: judging the model, which is no evidence about hardware")
        request = "cuda"
    if harness is not None:
        return _ask_harness(request, harness, signs)
    if not signs:
        return Choice(request, absent="there is no NVIDIA hardware here (--device model runs the kit without a GPU)")
    return _judge(request, ask_driver(), signs, oldest_cc)


def _ordinal(request: str) -> int:
    return int(request.partition(":")[2] or 0)


def _judge(request: str, driver: Driver, signs: list[str], oldest_cc: int) -> Choice:
    if driver.error:
        return Choice(request, broken=(
            f"NVIDIA hardware is here ({signs[0]}) but cannot be used: {driver.error}; mend it (doctor says more) or "
            "say --device model"))
    ordinal = _ordinal(request)
    if ordinal >= len(driver.gpus):
        count = len(driver.gpus)
        raise BadArguments(f"--device {request}: the driver offers {count} device{'s'[:count != 1]}, numbered from 0")
    gpu = driver.gpus[ordinal]
    if gpu.cc < oldest_cc:
        return Choice(request, absent=(
            f"{gpu.name} has compute capability {gpu.cc // 10}.{gpu.cc % 10}; programmatic dependent launch begins "
            f"with {oldest_cc // 10}.{oldest_cc % 10} (--device model runs the kit without a GPU)"))
    # for every GPU of the machine, so that runs on different models share one build
    everywhere = sorted({other.cc for other in driver.gpus if other.cc >= oldest_cc})
    return Choice(request, architectures=";".join(map(str, everywhere)), driver_cuda=driver.cuda, gpus=len(driver.gpus))


def _probe_words(lines: list[str]) -> str | None:
    """What the probe's record says is wrong."""
    for line in reversed(lines):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("error"):
            call = f"{record['call']} gives " if record.get("call") else "CUDA says "
            return f"the device cannot be used: {call}{record['error']}"
    return None


def ask_probe(harness: Path, request: str) -> tuple[Ending, list[str]]:
    """The harness's own answer about a device, from a process of its own."""
    stopper = Stopper()
    try:
        return probe(harness.resolve(), request, stopper)  # a bare name would be looked for on PATH
    finally:
        stopper.close()


def _ask_harness(request: str, harness: Path, signs: list[str]) -> Choice:
    ending, lines = ask_probe(harness, request)
    if ending.exit_code == 0:
        return Choice(request)
    said = _probe_words(lines) or (ending.stderr.splitlines() or ["it said nothing"])[-1][:200]
    if ending.exit_code == 77 and not signs:
        return Choice(request, absent=said)
    here = f"NVIDIA hardware is here ({signs[0]}), and " if signs else ""
    return Choice(request, broken=f"{here}the harness's probe of {request} {ending.words()}: {said}")
