"""Compares what the harness says on the model with the recorded digests: a change of any decision shows.

    python3 conformance dev golden [--harness PATH]            # 1 if a family says something else; it is named
    python3 conformance dev golden --write [--harness PATH]    # record what it says now, after a change that was meant

On the model the same seed gives the same records. Recorded are all records of each family on the conforming device and on devices
that make cases fail, and the plans of a GPU's size, which need no device. What a case is called and which rules there are is no
part of a digest; cases with host threads of their own are left out. Families that take long are asked on fewer devices.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Container, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conformance.model import on_model
from conformance.model.recorded import compare_or_write
from conformance.pdlkit import places
from conformance.pdlkit.exits import InvalidRun

FILE = places.KIT / "model" / "golden.json"
DEVICES = ("model", "model:never-overlaps", "model:wait-some-blocks", "model:plain-overlaps", "model:exit-not-trigger",
           "model:halts")  # the last one conforms: what is not counted, because somebody waited too long, happens there only
LONG = ("arrays", "crowds", "joins", "long_args", "pageable", "programs")  # families that take half of the time on each device
OF_LONG = ("model", "model:wait-some-blocks")  # these are asked on two
GPU_SMS = 132
THREADED = ("WAIT-01a.",)  # its host threads launch at once
SEED = 1
Digests = dict[str, str]


def _records(harness: Path, arguments: Iterable[str]) -> list[dict[str, object]]:
    done = subprocess.run([harness, "--seed", f"{SEED:x}", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=on_model.CHILD_S)
    if done.returncode < 0:
        raise InvalidRun(f"the harness died of signal {-done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def digest(records: Iterable[dict[str, object]]) -> str:
    """Of all that was said about cases, in its order."""
    rows = [record for record in records if not str(record.get("case", THREADED[0])).startswith(THREADED)]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:12]


def questions(only: Container[str] | None = None) -> dict[str, list[str]]:
    """What the harness is asked, by name: every family, or only these, on every device, and its plans."""
    families = sorted({case.family for case in on_model.capable(on_model.load_book()) if only is None or case.family in only})
    asked = {f"{device} {family}": ["--device", device, "--profile", "smoke", "--family", family]
             for device in DEVICES for family in families if family not in LONG or device in OF_LONG}
    return asked | {f"plan {family}": ["--plan", "--sms", str(GPU_SMS), "--profile", "smoke", "--family", family] for family in families}


def digests(harness: Path) -> Digests:
    """What this harness says to each question."""
    asked = questions()
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)))) as pool:
        return dict(zip(asked, pool.map(lambda arguments: digest(_records(harness, arguments)), asked.values()), strict=True))


def first_difference(harness: Path, recorded: Digests, families: Container[str] | None = None) -> str | None:
    """The first question with another answer; asks no further."""
    for name, arguments in questions(families).items():
        if digest(_records(harness, arguments)) != recorded.get(name):
            return name
    return None


def differences(now: Digests, recorded: Digests) -> list[str]:
    """Families that say something else, are new, or have gone."""
    changed = [f"{name}: says something else" for name in now if name in recorded and now[name] != recorded[name]]
    return [*changed, *(f"{name}: is not recorded" for name in now if name not in recorded),
            *(f"{name}: is recorded and was not run" for name in recorded if name not in now)]


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    return compare_or_write("golden", "the harness's records on the model, and what is recorded", FILE, digests, differences, argv)
