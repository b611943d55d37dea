"""One check of this node's GPUs, answered in the words of whatever asks: node-problem-detector, Prometheus, Slurm.

A short run (profile smoke) judges each GPU that has no work; a GPU with work keeps its last verdict. Verdicts are cached, so
that a check that comes every minute costs a file read. Only VIOLATES is a fault of a GPU. Everything else that is not
CONFORMS is "unknown": a tool that failed, a time limit, a cache that cannot be read. Unknown never drains a node.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from conformance.pdlkit import machine, places
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.children import run_silent
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.machine import ask_driver
from conformance.pdlkit.output_folder import check_file, in_one_step
from conformance.pdlkit.read_report import Unreadable, read_json, report_of
from conformance.pdlkit.toolkit import toolkit_program

GOOD, FAULT, UNKNOWN = 0, 1, 2  # node-problem-detector's contract for custom plugins; any other code is unknown there, too
LINE = 80  # characters that node-problem-detector keeps of the output
SCHEMA = "pdl-health/1"
FORMATS = ("npd", "prometheus", "slurm")


@dataclass(frozen=True)
class State:
    """The last verdict of one GPU. `judged` is seconds since 1970; 0: never."""

    gpu: str
    model: str
    verdict: str
    judged: float
    exercised: int = 0
    driver: str = ""  # that it was judged with


def busy_gpus() -> set[int] | None:
    """Ordinals of GPUs that have compute processes; None if that cannot be found out."""
    program = toolkit_program("nvidia-smi")
    if program is None:
        return None
    asked = []
    for query in ("--query-gpu=index,uuid", "--query-compute-apps=gpu_uuid"):
        try:
            done = subprocess.run([str(program), query, "--format=csv,noheader"], capture_output=True, text=True, timeout=5,
                                  stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode:
            return None
        asked.append([[field.strip() for field in line.split(",")] for line in done.stdout.splitlines() if line.strip()])
    index = {row[1]: int(row[0]) for row in asked[0] if len(row) == 2 and row[0].isdigit()}
    return {index[row[0]] for row in asked[1] if row[0] in index}


def _smoke(device: str, harness: Path | None, limit: float) -> State:
    """Judge one GPU now. Whatever goes wrong with the tool is UNPROVEN, never a fault of the GPU."""
    with tempfile.TemporaryDirectory(prefix="pdl-health-") as folder:
        argv = [sys.executable, str(places.KIT), "run", "--device", device, "--profile", "smoke", "--output", f"{folder}/run"]
        argv += ["--harness", str(harness)] if harness else []
        try:
            code = run_silent(argv, limit)
        except SetupImpossible:
            return State(device, "unknown", "UNPROVEN (run could not be started)", time.time())
        report = report_of(Path(folder, "run"), code)
        if isinstance(report, str):
            return State(device, "unknown", f"UNPROVEN ({f'not done in {limit:.0f} s' if code is None else f'run {report}'})", time.time())
        exercised = sum(test["trials"]["exercised"] for test in report["tests"])
        return State(device, str(report["device"].get("name") or "model"), str(report["verdict"]), time.time(), exercised)


def read_cache(path: Path) -> dict[str, State]:
    """The cached states; an unreadable cache is an empty one."""
    try:
        data = read_json(path)
        return {gpu: State(**entry) for gpu, entry in data["gpus"].items()} if data["schema"] == SCHEMA else {}
    except (Unreadable, KeyError, TypeError, AttributeError):
        return {}


def _put(path: Path, text: str) -> None:
    """Replace the file at once: a reader sees the old text or the new one."""
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with in_one_step(path) as draft:
        draft.write_text(text, encoding="utf-8")
        draft.chmod(0o644)


def check(devices: Sequence[str], cache: Path, harness: Path | None, limit: float, max_age: float, leave_alone: set[str],
          driver: str, every: bool = False) -> list[State]:
    """The state of each device: from the cache while it is young or the GPU is at work, else judged within what is left of the limit.
    A verdict of another driver is none, and one that is too old says nothing any more, unless a rule was violated. every: these are all
    devices that there are, so one that the cache knows and that is not among them is missing."""
    until, known = time.monotonic() + limit, read_cache(cache)
    found, kept = [], []
    for device in devices:
        state = known.get(device)
        if state is None or state.driver != driver:
            state = State(device, "unknown", "UNPROVEN (never judged)", 0.0, 0, driver)
        left = until - time.monotonic()
        if (_is_old(state, max_age) or state.verdict.startswith(("UNPROVEN", "INVALID"))) and device not in leave_alone and left > 1.0:
            state = replace(_smoke(device, harness, left), driver=driver)
        kept.append(state)
        aged = _is_old(state, max_age) and state.verdict.startswith(("CONFORMS", "NOT_APPLICABLE"))
        found.append(replace(state, verdict=f"UNPROVEN (judged {(time.time() - state.judged) / 3600:.0f} h ago)") if aged else state)
    others = [state for name, state in known.items() if name not in devices]
    found += [replace(state, verdict="UNPROVEN (no longer there)") for state in others if every and state.driver == driver]
    kept += others
    _put(cache, json.dumps({"schema": SCHEMA, "gpus": {state.gpu: asdict(state) for state in kept}}, indent=1) + "\n")
    return found


def _is_old(state: State, max_age: float) -> bool:
    return time.time() - state.judged > max_age


def code_of(states: Sequence[State]) -> int:
    """A fault is only what violates a rule; what could not be judged is unknown."""
    if any(state.verdict.startswith("VIOLATES") for state in states):
        return FAULT
    good = [state for state in states if state.verdict.startswith("CONFORMS")]
    old_gpus = [state for state in states if state.verdict.startswith("NOT_APPLICABLE")]
    return GOOD if good and len(good) + len(old_gpus) == len(states) else UNKNOWN


def line_of(states: Sequence[State]) -> str:
    """One line of at most 80 characters; the GPU that decides comes first."""
    if not states:
        return "PDL: no GPU was found, nothing judged"
    code = code_of(states)
    others = [state for state in states if not state.verdict.startswith("CONFORMS")]
    if code == GOOD:
        beside = f"; {len(others)} too old for PDL" if others else ""
        return f"PDL: {len(states) - len(others)} of {len(states)} GPUs conform{beside}"[:LINE]
    start = ("VIOLATES",) if code == FAULT else ("UNPROVEN", "INVALID")
    bad = [state for state in states if state.verdict.startswith(start)] or others
    more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    return f"PDL: {bad[0].gpu}{more} of {len(states)}: {bad[0].verdict}"[:LINE]


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def prometheus(states: Sequence[State], driver: str) -> str:
    """The exposition format of a textfile collector."""
    verdicts = ("CONFORMS", "VIOLATES", "UNPROVEN", "INVALID", "NOT_APPLICABLE")
    lines = ["# HELP pdl_conformance_verdict Verdict on Programmatic Dependent Launch: 1 for the one that holds.",
             "# TYPE pdl_conformance_verdict gauge"]
    for state in states:
        labels = f'gpu="{_label(state.gpu)}",model="{_label(state.model)}",driver="{_label(driver)}"'
        lines += [f'pdl_conformance_verdict{{{labels},verdict="{name}"}} {int(state.verdict.startswith(name))}' for name in verdicts]
    lines += ["# HELP pdl_conformance_judged_timestamp_seconds When the GPU was judged last; 0 if never.",
              "# TYPE pdl_conformance_judged_timestamp_seconds gauge"]
    lines += [f'pdl_conformance_judged_timestamp_seconds{{gpu="{_label(state.gpu)}"}} {state.judged:.0f}' for state in states]
    lines += ["# HELP pdl_conformance_exercised_trials Trials of the last run that put a rule to the test.",
              "# TYPE pdl_conformance_exercised_trials gauge"]
    lines += [f'pdl_conformance_exercised_trials{{gpu="{_label(state.gpu)}"}} {state.exercised}' for state in states]
    return "\n".join(lines) + "\n"


def _devices(request: str) -> tuple[list[str], set[str]]:
    """(devices to answer for, those to leave alone because they have work)."""
    if request != "cuda":
        return [request], set()
    devices = [f"cuda:{ordinal}" for ordinal in range(len(ask_driver().gpus))]
    busy = busy_gpus()
    return devices, set(devices) if busy is None else {f"cuda:{ordinal}" for ordinal in busy}


def main(argv: list[str]) -> int:
    """The part `health`."""
    parser = Parser("fleet health", "one check of this node for a monitoring system", epilog=(
        "npd and slurm: exit 0 good, 1 a GPU violates a rule, 2 unknown; prometheus: exit 0, the file says it. GPUs with work are left "
        "alone, and so are all if nvidia-smi cannot say which have work."))
    parser.add_argument("--format", choices=FORMATS, default="npd")
    parser.add_argument("--cache", type=Path, default=Path("/var/lib/pdl-conformance/health.json"), help="where verdicts are kept")
    parser.add_argument("--textfile", type=Path, help="with prometheus: the .prom file to write")
    parser.add_argument("--harness", type=Path, help="a harness built by --preset portable; without it, the kit builds one first")
    parser.add_argument("--device", default="cuda", help="cuda: every GPU; cuda:N, or model to try the check without a GPU")
    parser.add_argument("--limit", type=float, default=10.0, metavar="S", help="seconds that the check may take")
    parser.add_argument("--max-age", type=float, default=24.0, metavar="HOURS", help="how long a verdict is good for")
    options = parser.parse_args(argv)
    if options.format == "prometheus" and options.textfile is None:
        raise BadArguments("--format prometheus needs --textfile FILE.prom, in the folder that the collector reads")
    try:
        devices, busy = _devices(options.device)
        driver = machine.driver_version() or "none"
        states = check(devices, options.cache, options.harness, options.limit, options.max_age * 3600.0, busy, driver,
                       options.device == "cuda")
    except OSError as error:  # the cache's folder is missing or read-only: that says nothing about a GPU
        print(f"PDL: unknown: {error.strerror}"[:LINE])
        return UNKNOWN
    if options.format == "prometheus":
        _put(options.textfile, prometheus(states, driver))
        return GOOD
    print(line_of(states))
    return code_of(states)
