"""The command `run`: set-up, build, children, verdict, report.json."""

from __future__ import annotations

import argparse
import dataclasses
import errno
import fcntl
import fnmatch
import json
import os
import re
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance.pdlkit import evidence, fatbin, machine, many_gpus, places, resume, soak, toolchain, waivers
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.build import Built, build, carried
from conformance.pdlkit.checked_lines import Writer
from conformance.pdlkit.device_choice import Choice, ask_probe, choose, parse_request
from conformance.pdlkit.display import Progress, verdict_block, wants_colours
from conformance.pdlkit.evidence import LintBeside
from conformance.pdlkit.exits import BadArguments, InvalidRun, SetupImpossible
from conformance.pdlkit.machine_code import MachineCode
from conformance.pdlkit.output_folder import claim, forget, output_path
from conformance.pdlkit.page import write_page
from conformance.pdlkit.records import CaseLog, Record
from conformance.pdlkit.report import RunFacts, build_report, identified, inconsistencies, write_report
from conformance.pdlkit.rules import PROFILES, Case, RuleBook, RulesError, load
from conformance.pdlkit.supervise import Outcome, Plan, Supervisor, start_problems
from conformance.pdlkit.verdicts import CaseResult, RunVerdict, judge_case, judge_run

_CANNOT_WRITE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EISDIR, errno.ENOENT)

def parser() -> Parser:
    """The command line of `run`."""
    made = Parser("run", "judge a GPU and its driver, or the model, and write report.json", epilog=(
        "exit codes: 0 CONFORMS, 1 VIOLATES, 2 UNPROVEN, 70 INVALID, 77 NOT_APPLICABLE, 64 bad arguments, "
        "69 set-up impossible"))
    made.add_argument("--device", metavar="D", help="auto, cuda, cuda:N, model or model:NAME (auto)")
    made.add_argument("--profile", choices=PROFILES, help="how many trials (quick)")
    made.add_argument("--seed", metavar="HEX", help="64 bits, with or without 0x (a fresh one)")
    made.add_argument("--only", action="append", default=[], metavar="PATTERN",
                      help="only cases or rules whose name matches this glob; may be repeated")
    made.add_argument("--output", type=output_path, metavar="DIR", help="where report.json goes (below build/reports)")
    made.add_argument("--resume", type=Path, metavar="DIR",
                      help="go on with the interrupted run in DIR: its device, profile, seed and choice of cases")
    made.add_argument("--json", action="store_true", help="print the report as JSON, and nothing else, on stdout")
    made.add_argument("--harness", type=Path, metavar="PATH", help="use this executable and build nothing")
    made.add_argument("--for", dest="time", metavar="TIME",
                      help="with --profile soak: rounds with new shapes for this long, such as 10h; the same --output goes on")
    made.add_argument("--waive", type=Path, metavar="FILE",
                      help="known defects of drivers, in TOML: their rules fail and do not decide the verdict")
    made.add_argument("--plant", metavar="NAME", help="have the harness plant a fault, to see the kit catch it")
    return made


def parse_seed(text: str | None) -> int:
    """The seed, or a fresh one."""
    if text is None:
        return secrets.randbits(64)
    if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]{1,16}", text):
        raise BadArguments(f"--seed {text}: write up to 16 hexadecimal digits")
    return int(text, 16)


def select(book: RuleBook, patterns: list[str]) -> list[Case]:
    """The cases whose name, or whose rule's id, matches any pattern."""
    if not patterns:
        return list(book.cases)
    for pattern in patterns:
        if not any(_matches(case, pattern) for case in book.cases):
            raise BadArguments(f"--only {pattern}: no rule and no case has such a name (see `list --cases`)")
    return [case for case in book.cases if any(_matches(case, pattern) for pattern in patterns)]


def _matches(case: Case, pattern: str) -> bool:
    low = pattern.lower()
    return any(fnmatch.fnmatchcase(name.lower(), low) for name in (case.name, case.rule))


class _RecordLog:
    """records.jsonl: every record but progress, as it comes, so that a killed run keeps what it had."""

    def __init__(self, path: Path, append: bool) -> None:
        self._lines = Writer(path, append)

    @property
    def mark(self) -> str:
        """How far the file has come."""
        return self._lines.mark

    def write(self, family: str, record: Record) -> None:
        if record["record"] != "progress":
            self._lines.write({"family": family, **record})

    def close(self) -> None:
        self._lines.close()


@contextmanager
def _stopping(supervisor: Supervisor) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM ends the run with a report; the second ends it at once."""
    def handle(_number: int, _frame: object) -> None:
        if supervisor.outcome.interrupted:
            raise KeyboardInterrupt
        supervisor.stop()

    old = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _default_output(profile: str, device: str) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return places.REPORTS / f"{stamp}-{device.replace(':', '-')}-{profile}-{secrets.token_hex(2)}"


def _obtain(options: argparse.Namespace, choice: Choice, say: Callable[[str], None]) -> Built:
    if options.harness is not None:
        return Built(options.harness.resolve(), None, {"built": "elsewhere, given by --harness"})
    brought = carried(choice.build)
    return brought or build(choice.build, toolchain.require(not choice.on_model, choice.driver_cuda), say, choice.architectures)


def _check_model_name(choice: Choice, built: Built) -> None:
    """A name that the model does not know is the caller's slip, not the kit's."""
    if not choice.device.startswith("model:"):
        return
    ending, _ = ask_probe(built.harness, choice.device)
    if ending.exit_code == 64:
        raise BadArguments(f"--device {choice.device}: no such device of the model; list --broken-devices names them")


def _plan(options: argparse.Namespace, choice: Choice, built: Built, book: RuleBook, cases: list[Case], seed: int) -> Plan:
    families: dict[str, list[str]] = {}
    for case in cases:
        families.setdefault(case.family, []).append(case.name)
    cores = len(os.sched_getaffinity(0))
    return Plan(
        harness=built.harness, device=choice.device, profile=options.profile, seed=seed, families=families,
        subset=bool(options.only), plant=options.plant, parallel=min(2, cores) if choice.on_model else 1, rules_hash=book.digest,
    )


def _judge(book: RuleBook, cases: list[Case], logs: dict[str, CaseLog], on_model: bool) -> list[CaseResult]:
    results = []
    for case in cases:
        result = judge_case(case, logs.get(case.name), book.tags, on_model)
        if on_model and case.gpu_only and result.status == "NOT_RUN":
            result = CaseResult(case, "NOT_SUPPORTED", "the kernels of this case exist on a GPU only")
        results.append(result)
    return results


def _verdict(
    results: list[CaseResult], outcome: Outcome, choice: Choice, interposed: dict[str, str], plant: str | None, applied: waivers.Applied
) -> RunVerdict:
    if choice.broken:
        return RunVerdict("INVALID", (choice.broken,))
    if choice.absent:
        return RunVerdict("NOT_APPLICABLE", (choice.absent,))
    verdict = judge_run(results, outcome.problems, [f"{name} ({why})" for name, why in interposed.items()], applied.rules,
                        applied.crashes)
    if plant is not None and verdict.verdict == "CONFORMS":
        return RunVerdict("INVALID", (f"the planted fault `{plant}` was not seen",), verdict.findings)
    return verdict


def _device_name(outcome: Outcome) -> str | None:
    device = (outcome.start or {}).get("device")
    return str(device["name"]) if isinstance(device, dict) and "name" in device else None


def _nothing_ran(cases: list[Case], choice: Choice) -> list[CaseResult]:
    status, reason = ("NOT_RUN", choice.broken) if choice.broken else ("NOT_SUPPORTED", choice.absent)
    return [CaseResult(case, status, reason) for case in cases]


def _execute(
    options: argparse.Namespace, choice: Choice, built: Built, book: RuleBook, cases: list[Case], seed: int, folder: Path
) -> tuple[Outcome, float]:
    """Run every family; returns what the children said, and how long they took."""
    plan = _plan(options, choice, built, book, cases, seed)
    earlier, kept = Outcome(), resume.Kept()
    if options.resume:
        kept = resume.take_over(folder, built.harness, earlier)
        cases = [case for case in cases if case.family not in kept.families and case.name not in kept.faults.get(case.family, {})]
        forget(folder)
    else:
        forget(folder)
        resume.begin(folder, resume.Identity(choice.device, options.profile, f"{seed:016x}", options.only, options.plant), built.harness)
    whole = dict(plan.families)
    for family in kept.families:
        plan.families.pop(family, None)
    for family, logs in kept.faults.items():
        plan.families[family] = [name for name in whole[family] if name not in logs]
    plan = dataclasses.replace(plan, subset=plan.subset or bool(kept.faults))
    _say(f"running {len(cases)} cases on {choice.device}, profile {options.profile}, seed 0x{seed:016x}")
    progress, log = Progress(len(cases)), _RecordLog(folder / resume.RECORDS, bool(options.resume))

    def sink(family: str, record: Record) -> None:
        log.write(family, record)
        progress.record(family, record)

    started = time.monotonic() - kept.wall_s

    def finished(family: str) -> None:
        resume.keep(folder, family, supervisor.outcome, whole[family], time.monotonic() - started, log.mark)

    supervisor = Supervisor(plan, sink, finished, device_seen=earlier.start is not None)
    for logs in kept.faults.values():
        supervisor.outcome.logs.update(logs)  # they are kept with the rest of their family
    try:
        with _stopping(supervisor):
            outcome = supervisor.run()
    finally:
        progress.close()
        log.close()
    return _with_earlier(outcome, earlier, plan), time.monotonic() - started


def _with_earlier(outcome: Outcome, earlier: Outcome, plan: Plan) -> Outcome:
    """Both parts of a resumed run as one."""
    other = start_problems(earlier.start, plan, None) if earlier.start else []
    if earlier.start and outcome.start:
        other += start_problems(outcome.start, plan, earlier.start)
    outcome.problems[:0] = [*earlier.problems, *dict.fromkeys(f"the interrupted run: {text}" for text in other)]
    outcome.processes[:0] = earlier.processes
    outcome.logs = {**earlier.logs, **outcome.logs}
    outcome.start = outcome.start or earlier.start
    return outcome


def _go_on(options: argparse.Namespace) -> None:
    """Take over what the interrupted run was asked for."""
    identity = resume.Identity.of(options.resume)
    given = [name for name in ("seed", "output", "plant", "only") if getattr(options, name)]
    given += [name for name in ("device", "profile") if getattr(options, name) not in (None, getattr(identity, name))]
    if given:
        raise BadArguments(f"--resume takes the device, the profile, the seed, the cases and the folder of the interrupted run: "
                           f"leave out --{given[0]}")
    options.device, options.profile, options.seed = identity.device, identity.profile, identity.seed
    options.only, options.plant, options.output = identity.only, identity.plant, options.resume


@contextmanager
def _lint_beside(built: Built | None, choice: Choice, plant: str | None) -> Iterator[LintBeside | str | None]:
    """Lint, at work on the kernels that are about to run; or why it is left out, or None where nobody expects it."""
    if built is None or choice.on_model or plant is not None:
        yield None
    elif not any(True for _ in fatbin.entries(built.harness.read_bytes())):
        yield "left out: the harness holds no machine code"
    else:
        lint = LintBeside(built.harness)
        try:
            yield lint
        finally:
            lint.end()


def _static_check(report: Path, lint: LintBeside | str | None) -> tuple[str | None, list[str]]:
    """Lint's findings on the kernels that ran, compared with what the hardware showed: what was done, and the disagreements."""
    if not isinstance(lint, LintBeside):
        return lint, []
    said = lint.compare(report)
    if isinstance(said, str):  # the run keeps what it found, whatever is wrong with lint
        return "failed", [f"static check: {said}"]
    if "left_out" in said:
        return f"left out: {said['left_out']}", []
    wrong = said["disagreements"] if said["compared"] else ["no kernel that ran is in the harness's machine code"]
    return f"{said['compared']} kernels compared", [f"static check: {text}" for text in wrong]


def _finish(facts: RunFacts, folder: Path, options: argparse.Namespace, lint: LintBeside | str | None) -> int:
    report = build_report(facts)
    path = write_report(report, folder)  # before lint answers, so that nothing can lose it
    told, wrong = _static_check(path, lint)
    wrong = [*inconsistencies(report), *wrong]
    if wrong:
        verdict = RunVerdict("INVALID", (*wrong, *facts.verdict.reasons), facts.verdict.findings, facts.verdict.waived)
        report = build_report(dataclasses.replace(facts, verdict=verdict, problems=[*facts.problems, *wrong]))
    report = identified({**report, "static_check": told})
    path = write_report(report, folder)
    if not options.json:
        said = evidence.sentences(facts.evidence, folder)
        print(verdict_block(report, places.shown(path), wants_colours(sys.stdout), said), flush=True)  # its page takes a second
    page = write_page(path)
    if options.json:
        print(json.dumps(report, indent=1, allow_nan=False))
    else:
        print(f"page     {places.shown(page) if page else 'could not be written; `report` says why'}")
    return int(report["exit"])


@contextmanager
def _held(folder: Path, again: bool = False) -> Iterator[None]:
    """Make the output folder (`again`: take that of an earlier part) and keep it from other runs; what cannot be written there ends
    the run with a sentence."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        if folder.is_relative_to(places.BUILD):  # nobody asked for it
            raise
        raise BadArguments(f"--output {folder}: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise BadArguments(f"--output {folder}: another run writes there; wait for it or name another folder") from None
    except OSError:
        pass  # a file system without locks
    try:
        if not again:
            claim(folder)
        yield
    except OSError as error:
        elsewhere = isinstance(error.filename, str) and not Path(error.filename).is_relative_to(folder)
        if error.errno not in _CANNOT_WRITE or elsewhere:
            raise
        raise SetupImpossible(f"{folder} cannot be written: {error.strerror}; --output DIR names another place") from None
    finally:
        os.close(handle)


def _load_rules() -> RuleBook:
    try:
        return load(places.RULES)
    except RulesError as error:
        raise InvalidRun(str(error)) from None


def _checked(options: argparse.Namespace) -> argparse.Namespace:
    """The options with their defaults; BadArguments for what cannot be meant."""
    if options.resume is not None:
        _go_on(options)
    options.device = parse_request("auto" if options.device is None else options.device)
    options.profile = options.profile or "quick"
    if options.time is not None:
        soak.parse_time(options.time)
        if options.profile != "soak" or options.resume is not None or options.plant is not None:
            raise BadArguments("--for needs --profile soak and goes with neither --resume nor --plant; a soak goes on by its --output")
    if options.plant is not None and not re.fullmatch(r"broken-wait(:[0-9]{1,6})?|hang|crash|no-record", options.plant):
        raise BadArguments(f"--plant {options.plant}: say broken-wait, broken-wait:X_NS, hang, crash or no-record")
    if options.harness is not None and not (options.harness.is_file() and os.access(options.harness, os.X_OK)):
        raise BadArguments(f"--harness {options.harness}: no such executable file")
    return options


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _run(options: argparse.Namespace, argv: list[str], book: RuleBook, cases: list[Case], seed: int, choice: Choice, folder: Path) -> int:
    """Build, run the cases into the folder, judge them and write the report."""
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    built = None if choice.broken or choice.absent else _obtain(options, choice, _say)
    if built is not None:
        _check_model_name(choice, built)
    with _lint_beside(built, choice, options.plant) as lint:
        facts = _facts(options, argv, book, cases, seed, choice, built, folder, started)
        return _finish(facts, folder, options, lint)


def _facts(options: argparse.Namespace, argv: list[str], book: RuleBook, cases: list[Case], seed: int, choice: Choice,
           built: Built | None, folder: Path, started: str) -> RunFacts:
    """Run and judge the cases: all that the report says but lint's word."""
    interposed = {} if choice.on_model else machine.interposers()
    outcome, wall_s, code = Outcome(), 0.0, None
    if built is None:
        forget(folder)
        results = _nothing_ran(cases, choice)
    else:
        outcome, wall_s = _execute(options, choice, built, book, cases, seed, folder)
        results = _judge(book, cases, outcome.logs, choice.on_model)
        code = None if choice.on_model else MachineCode(built.harness)
    driver: dict[str, Any] = {}
    if not choice.on_model:
        driver = {"version": machine.driver_version(), "kernel_module": machine.kernel_module()}
    applied = waivers.apply(options.waivers, results, _device_name(outcome), driver.get("version"), datetime.now(UTC).date())
    verdict = _verdict(results, outcome, choice, interposed, options.plant, applied)
    return RunFacts(
        book=book, device=choice.device, profile=options.profile, seed=seed, argv=argv, only=options.only,
        started=started, wall_s=wall_s, results=results, verdict=verdict, start=outcome.start or {},
        toolchain=built.toolchain if built else {}, host=machine.host(), interposers=sorted(interposed),
        problems=outcome.problems, processes=outcome.processes, code=code, driver=driver, plant=options.plant,
        evidence=evidence.gather(results, code, folder, seed), waivers=applied,
    )


def _gpus(options: argparse.Namespace, choice: Choice) -> list[many_gpus.Worker]:
    """The GPUs to judge side by side: all of the machine, unless the command line names one device or goes on with one run."""
    if choice.device != "cuda" or choice.broken or choice.absent or options.resume:
        return []
    return many_gpus.workers(len(machine.ask_driver().gpus) if choice.gpus is None else choice.gpus)


def _run_many(gpus: list[many_gpus.Worker], options: argparse.Namespace, seed: int, folder: Path) -> int:
    """Judge every GPU of this machine with these options, each from a seed of its own; returns the machine's exit code."""
    arguments = ["--profile", options.profile, *(word for pattern in options.only for word in ("--only", pattern))]
    for name, value in (("for", options.time), *((name, getattr(options, name)) for name in ("harness", "plant", "waive"))):
        if value is not None:
            arguments += [f"--{name}", str(value)]
    _say(f"judging {len(gpus)} GPUs side by side; --device cuda:N judges one")
    report = many_gpus.run_all(gpus, arguments, folder, seed)
    path = write_report(report, folder)
    if options.json:
        print(json.dumps(report, indent=1, allow_nan=False))
    else:
        print(f"{many_gpus.block(report)}\n{places.shown(path)}")
    return int(report["exit"])


def main(argv: list[str]) -> int:
    """The command `run`; returns its exit code."""
    options = _checked(parser().parse_args(argv))
    seed, book = parse_seed(options.seed), _load_rules()
    cases = select(book, options.only)
    options.waivers = waivers.load(options.waive, book) if options.waive else []
    choice = choose(options.device, min(case.min_cc for case in cases), options.harness)
    if choice.note:
        _say(choice.note)
    folder = options.output or _default_output(options.profile, choice.device)
    several = _gpus(options, choice)
    if len(several) > 1:
        with _held(folder):
            return _run_many(several, options, seed, folder)
    if options.time is not None and not choice.broken and not choice.absent:
        given = seed if options.seed is not None or not (folder / soak.STATE).is_file() else None
        with _held(folder):
            return soak.soak(options, book, choice.device, given, folder, _say)
    with _held(folder, again=options.resume is not None):
        return _run(options, argv, book, cases, seed, choice, folder)
