"""The command `replay`: one trial of an earlier run, again and again, and how often it went wrong."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from conformance.pdlkit import places, sources, toolchain
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.build import build, carried
from conformance.pdlkit.children import Stopper, run_child
from conformance.pdlkit.device_choice import Choice, choose, parse_request
from conformance.pdlkit.exits import OK, BadArguments, InvalidRun, SetupImpossible
from conformance.pdlkit.records import Record, read_line
from conformance.pdlkit.replay_token import Token
from conformance.pdlkit.rules import Case, load
from conformance.pdlkit.supervise import BETWEEN_CASES_S, GRACE_S, START_S

_MOST = 10_000_000


def parser() -> Parser:
    """The command line of `replay`."""
    made = Parser(
        "replay",
        "repeat one trial of an earlier run: the same kernels, shape, delays and flags, with new words each time",
        epilog="exit codes: 0 the trial was repeated, whatever it showed; 64 bad arguments or no such trial; 69 set-up impossible;\n"
        "70 the device could not be used or the trial did not end",
    )
    made.add_argument("token", metavar="TOKEN", help="as `run` prints it for a failing case")
    made.add_argument("--repeat", type=int, default=1000, metavar="N", help="how often at least (1000)")
    made.add_argument("--device", metavar="D", help="another device of the same kind, such as cuda:1 (the token's)")
    made.add_argument("--harness", type=Path, metavar="PATH", help="use this executable and build nothing")
    made.add_argument("--json", action="store_true", help="JSON on stdout, nothing else")
    return made


class _Watch:
    """Keeps the records of the child; each one is a sign of life, and `begin` names the case's own deadline."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._deadline = time.monotonic() + START_S

    def line(self, text: str) -> None:
        try:
            record = read_line(text)
        except ValueError:
            return
        if not isinstance(record, dict):
            return
        self.records.append(record)
        limit = record.get("deadline_s")
        seconds = float(limit) + GRACE_S if record.get("record") == "begin" and isinstance(limit, int) else BETWEEN_CASES_S
        if record.get("record") != "progress":
            self._deadline = time.monotonic() + seconds

    def deadline(self) -> float:
        return self._deadline

    def last(self, kind: str) -> Record | None:
        """The last record of this kind."""
        return next((record for record in reversed(self.records) if record.get("record") == kind), None)


def _case(token: Token) -> Case:
    case = load(places.RULES).case(token.case)
    if case is None:
        raise BadArguments(f"{token.case}: this kit has no such case; replay a token with the version that printed it")
    if case.kind == "api":
        raise BadArguments(f"{token.case} has answers instead of trials; `run --only {token.case}` asks again")
    return case


def _harness(options: argparse.Namespace, choice: Choice) -> Path:
    if options.harness is not None:
        return Path(options.harness).resolve()
    made = carried(choice.build) or build(
        choice.build, toolchain.require(not choice.on_model, choice.driver_cuda), _say, choice.architectures
    )
    return made.harness


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _choice(options: argparse.Namespace, token: Token, case: Case) -> Choice:
    wanted = parse_request(options.device or token.device)
    if wanted.partition(":")[0] != token.device.partition(":")[0]:
        raise BadArguments(f"--device {wanted}: the token is of a trial on {token.device}, and other devices get other trials")
    choice = choose(wanted, case.min_cc, options.harness)
    if choice.broken:
        raise InvalidRun(choice.broken)
    if choice.absent:
        raise SetupImpossible(choice.absent)
    return choice


def _repeat(harness: Path, token: Token, case: Case, device: str, repeat: int) -> tuple[Record, Record, list[Record]]:
    """What the harness said: of the device, of the repetitions, and its first forbidden ones."""
    argv = [
        str(harness),
        "--family",
        case.family,
        "--case",
        token.case,
        "--device",
        device,
        "--profile",
        token.profile,
        "--seed",
        f"{token.seed:x}",
        "--trial",
        f"{token.batch}.{token.slot}",
        "--repeat",
        str(repeat),
    ]
    watch, stopper = _Watch(), Stopper()
    try:
        ending = run_child([*argv, *(["--plant", token.plant] if token.plant else [])], watch, stopper)
    finally:
        stopper.close()
    start, said = watch.last("start"), watch.last("replayed")
    error = watch.last("error")
    if start is None or said is None:
        words = f"{error.get('call')} gave {error.get('error')}" if error else (ending.stderr.splitlines() or ["it said nothing"])[-1]
        raise InvalidRun(f"the trial could not be repeated: the harness {ending.words()}: {words[:200]}")
    return start, said, [record for record in watch.records if record.get("record") == "forbidden"]


def _check(token: Token, start: Record, said: Record) -> None:
    sms = start["device"]["sms"]
    if sms != token.sms:
        raise BadArguments(f"the token is of a device with {token.sms} SMs and this one has {sms}, so its trials have other shapes")
    if said.get("reason"):
        raise BadArguments(f"{token}: {said['reason']}")


def _result(token: Token, start: Record, said: Record, forbidden: list[Record]) -> dict[str, Any]:
    return {
        "token": str(token),
        "device": start["device"],
        "forbidden": said["forbidden"],
        "run": said["run"],
        "exercised": said["exercised"],
        "outcomes": said["outcomes"],
        "same_code": sources.digest().startswith(token.sources),
        "first": forbidden[0] if forbidden else None,
    }


def _lines(token: Token, result: dict[str, Any]) -> list[str]:
    kinds = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in result["outcomes"].items() if count)
    lines = [
        f"{token.case}, batch {token.batch}, slot {token.slot}, on {result['device']['name']}",
        f"{result['forbidden']:,} of {result['run']:,} forbidden, {result['exercised']:,} exercised: {kinds}",
    ]
    if result["first"]:
        plan = result["first"]["plan"]
        lines.insert(
            1,
            f"{plan['blocks_primary']} blocks before {plan['blocks_dependent']}, {plan['threads']} threads, {plan['words']} words, "
            f"hold {plan['hold_ns']} ns, trigger {plan['trigger']}",
        )
    if not result["same_code"]:
        lines.append("the token was printed by other code than this, so this may be another trial")
    return lines


def main(argv: list[str]) -> int:
    """Repeat the trial and say k of n."""
    options = parser().parse_args(argv)
    if not 1 <= options.repeat <= _MOST:
        raise BadArguments(f"--repeat {options.repeat}: say 1 to {_MOST:,}")
    token = Token.parse(options.token)
    case = _case(token)
    choice = _choice(options, token, case)
    start, said, forbidden = _repeat(_harness(options, choice), token, case, choice.device, options.repeat)
    _check(token, start, said)
    result = _result(token, start, said, forbidden)
    print(json.dumps(result, indent=1) if options.json else "\n".join(_lines(token, result)))
    return OK
