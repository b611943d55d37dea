"""Checks a report that somebody hands in: its schema, its digest, everything that its own counts decide, and no names in it.

A digest over the whole report refuses any field that was changed alone. Who changes a field and the digest is caught where the field
follows from others: verdicts, bounds, sums, scores, reasons, tables. What follows from nothing else cannot be seen: see BLIND.
"""

from __future__ import annotations

import getpass
import json
import math
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from conformance.pdlkit import sources
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import SCHEMA
from conformance.pdlkit.read_report import Unreadable, read_plain
from conformance.pdlkit.report import identified, inconsistencies
from conformance.pdlkit.venv import ensure_venv
from conformance.reports.recomputed import recomputed_problems

# Fields on which no other field depends: a change of one of them, with a new digest, is not seen. Patterns of paths in the report.
UNSEEN = {
    "when it ran and how long that took": r"run/(started|wall_s)|tests/\*/wall_s|processes/\*/wall_s",
    "its profile, seed and arguments": r"run/(profile|seed|device)|run/argv/\*",
    "how its processes ended": r"processes/\*/(family|exit|hung|leftovers|reaped|signal)",
    "the commit and the suite's version": r"suite/(version|sources|git|dirty|rules_hash)",
    "the GPU, the driver, the host and the tools": r"device/\w+|driver/\w+|host/\w+|toolchain/.*|static_check",
    "hashes of machine code, plans and expected words": r"tests/\*/(code|plan|expected)_hash",
    "what is told of a kernel": r"tests/\*/(mutants/\*/)?kernels/\*/\w+",
    "a case's answers, schedules, shapes and SM pairs": r"tests/\*/(answers/\*/\w+|schedules|shapes|sm_pairs|sm_pairs_possible)",
    "planned, cut and overlapping trials, without a PASS also run ones": r"tests/\*/(trials/\w+|outcomes/overlap)",
    "how often a planted bug showed, beyond its result": r"tests/\*/(mutants|controls|broken_waits|triage)/\*/(?!status|kind)\w+",
    "which broken waits survived, and how forbidden trials went": r"tests/\*/(survived_x/\*|resolution_ns|reason|forbidden/.*|images/.*)",
    "what is told of other drivers": r"other_drivers/.*",
    "the names of a machine's GPUs, and their pooled trials together with the bound": (
        r"machine/gpus/\*/(gpu|name|uuid_hash|report|reasons/\*|waived/\*)|machine/pooled/\*/(model|driver)"),
    "a soak's time, and its rounds, trials and shapes together with the bounds": r"soak/(asked_s|rounds|wall_s|worst_round|waived/\*)",
    "the reason and the end of a waiver": r"waived/\*/(reason|expires)|waivers_idle/\*",
}
# In a report whose rule book was worded otherwise, and in one of other code, what only that rule book can tell.
UNSEEN_OF_OTHER_WORDS = r"rules/\*/(text|source)"
UNSEEN_OF_OTHER_BOOKS = UNSEEN_OF_OTHER_WORDS + r"|tests/\*/(family|core)|(contested|paths|axes|capabilities)/.*|run/only/\*"
BLIND = (
    "whether the run took place, on this device, at this time: a report whose numbers were all invented together, digest included, passes",
    "a new digest over a field on which no other depends: " + "; ".join(UNSEEN),
    "in a report whose rule book was worded otherwise: the rules' texts",
    "in a report of other code: also contested claims, the verdicts per capability, and which cases were asked for",
    "who hands it in: the digest is no signature",
)
Report = dict[str, Any]


class Duplicate(ValueError):
    """A JSON object names a field twice, so that readers may disagree about it."""


def read_strictly(data: bytes) -> Any:
    """JSON without doubled fields and without NaN or Infinity; ValueError if it is anything else."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            raise Duplicate(f"the field {next(name for name in names if names.count(name) > 1)!r} is there twice")
        return found

    def finite(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text} is not a finite number")
        return value

    return json.loads(data.decode("utf-8"), object_pairs_hook=once, parse_constant=finite, parse_float=finite)


def digest_problems(report: Report) -> Iterator[str]:
    """The id of the run is the digest of everything else in the report."""
    if report["run"]["id"] != identified(report)["run"]["id"]:
        yield "run.id is not the digest of this report: something in it was changed after `run` wrote it"


_CHECK = """
import json, sys, jsonschema
report, schema = json.load(sys.stdin), json.loads(open(sys.argv[1], encoding="utf-8").read())
found = sorted(jsonschema.Draft202012Validator(schema).iter_errors(report), key=lambda e: list(map(str, e.absolute_path)))
print(json.dumps([["/".join(map(str, e.absolute_path)) or "the report", e.message[:160]] for e in found[:20]]))
"""


def schema_problems(report: Report) -> Iterator[str]:
    """What report.schema.json does not allow, by the jsonschema library."""
    python = ensure_venv("schema")
    done = subprocess.run([str(python), "-P", "-c", _CHECK, str(SCHEMA)], input=json.dumps(report), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the schema could not be checked: {done.stderr.strip()[-300:]}")
    for where, what in json.loads(done.stdout):
        yield f"{where}: {what}"


# names ---------------------------------------------------------------------------------------------------------------

_NAMES = {
    "an absolute path": re.compile(
        r"""(?:^|(?<=[\s'"=(,:]))(?:/(?:home|root|usr|tmp|var|mnt|data|opt|work|srv|scratch|etc|run)\b|~/|/[\w.-]+/[\w.-]+)"""
    ),
    "a mail address or login": re.compile(r"[\w.+-]+@[\w-]+"),
    "an IP address": re.compile(r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.])"),
    "a host name": re.compile(r"(?i)\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|local|internal|lan|corp|cloud|edu|gov|de|uk|cn|jp)\b"),
    "a GPU's identity": re.compile(r"(?i)\b(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f-]+"),
    "a network card's address": re.compile(r"(?i)\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b"),
}
_PLAIN_NAMES = ("root", "user", "admin", "localhost", "runner")


def _strings(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _strings(entry, f"{where}/{key}" if where else str(key))
            yield from _strings(str(key), where)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _strings(entry, f"{where}/{index}")


def _own_names() -> list[str]:
    """This machine's and this user's names: the one who hands in checks it where the run was made."""
    names = {socket.gethostname(), socket.gethostname().partition(".")[0]}
    try:
        names.add(getpass.getuser())
    except (OSError, KeyError):
        pass  # a user id without a name
    return [name for name in names if len(name) > 3 and name not in _PLAIN_NAMES]


def name_problems(report: Report) -> Iterator[str]:
    """Strings that name a machine, a person or a place."""
    own = [re.compile(rf"\b{re.escape(name)}\b") for name in _own_names()]

    @cache  # most strings of a report stand there a hundred times
    def told(text: str) -> tuple[str, ...]:
        found = [f"{match.group()[:60]!r} looks like {what}" for what, pattern in _NAMES.items() if (match := pattern.search(text))]
        if any(pattern.search(text) for pattern in own):
            found.append("it holds this machine's or this user's name")
        return tuple(found)

    for where, text in _strings(report, ""):
        yield from (f"{where}: {what}" for what in told(text))


# fitness -------------------------------------------------------------------------------------------------------------


def fitness_problems(report: Report) -> Iterator[str]:
    """What has no place in the record, however true it is."""
    if report["device"]["kind"] != "gpu":
        yield "it is of the model, which is no evidence about hardware"
    if report["run"]["plant"] is not None:
        yield f"a fault was planted ({report['run']['plant']})"
    if report["verdict"] in ("INVALID", "NOT_APPLICABLE"):
        yield f"its verdict is {report['verdict']}, so nothing was judged"
    if report["host"]["interposers"]:
        yield f"{', '.join(report['host']['interposers'])} stood between the kit and the device"
    if report["suite"]["dirty"] and report["suite"].get("sources") not in {sources.digest(), *sources.EARLIER}:
        yield "the tree had changes that were not committed, and its judged code (`suite.sources`) is that of no known commit"
    for what, missing in (
        ("the GPU's name", not report["device"].get("name")),
        ("the driver's version", not report["driver"].get("version")),
        ("the compute capability", not report["device"].get("cc")),
    ):
        if missing:
            yield f"it does not say {what}"


def problems(report: Report) -> Iterator[str]:
    """Everything that is wrong with a submission; the schema first, because the other checks rely on it."""
    found = list(schema_problems(report))
    yield from found
    if found:
        return
    yield from digest_problems(report)
    yield from inconsistencies(report)
    yield from recomputed_problems(report)
    yield from name_problems(report)
    yield from fitness_problems(report)


def place_for(report: Report) -> str:
    """The name under which the record keeps it."""
    gpu = re.sub(r"[^a-z0-9]+", "-", str(report["device"]["name"]).lower().removeprefix("nvidia ")).strip("-")
    toolkit = (
        report["toolchain"].get("nvcc") or f"{report['driver'].get('toolkit', 0) // 1000}.{report['driver'].get('toolkit', 0) % 1000 // 10}"
    )
    part = f"-only-{'-'.join(re.sub('[^A-Za-z0-9]+', '_', name) for name in report['run']['only'])}" if report["run"]["only"] else ""
    several = f"-{len(report['machine']['gpus'])}-gpus" if report.get("machine") else ""
    return f"{gpu}-{report['driver']['version']}-{toolkit}-{report['run']['profile']}{several}{part}.json"


def read_submission(path: Path) -> Report | str:
    """The report, or the sentence that says why it is none; BadArguments where there is no file to judge."""
    try:
        report = read_strictly(read_plain(path))
    except Unreadable as reason:
        raise BadArguments(f"{path}: {reason}; name a report.json that `run` wrote") from None
    except (ValueError, RecursionError) as error:
        return f"it is not JSON that everybody reads alike: {error}"
    if not isinstance(report, dict) or not isinstance(report.get("run"), dict):
        return "it is not a report.json that `run` wrote"
    return report
