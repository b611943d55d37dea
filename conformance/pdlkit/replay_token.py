"""A token names one trial of one run: enough to plan exactly that launch again. `run` prints them, `replay` takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.rules import PROFILES

_TOKEN = re.compile(
    r"(?P<case>[A-Z]+-[0-9]{2}[a-z]?\.[a-z0-9_]+\.[a-z]+\.[a-z]+),(?P<profile>[a-z]+),(?P<seed>[0-9a-f]{1,16}),(?P<batch>[0-9]{1,15})\."
    r"(?P<slot>[0-9]{1,6}),(?P<device>cuda|model(:[a-z0-9_-]+)?),(?P<sms>[0-9]{1,5}),(?P<sources>[0-9a-f]{8})(,(?P<plant>broken-wait(:[0-9]{1,6})?))?"
)


@dataclass(frozen=True)
class Token:
    """One trial: the shape and the plan are a function of these."""

    case: str
    profile: str
    seed: int
    batch: int
    slot: int
    device: str  # cuda, model or model:NAME; which of several GPUs does not matter
    sms: int
    sources: str  # the first digits of the digest of the code that judged
    plant: str | None = None

    def __str__(self) -> str:
        plant = f",{self.plant}" if self.plant else ""
        return f"{self.case},{self.profile},{self.seed:x},{self.batch}.{self.slot},{self.device},{self.sms},{self.sources}{plant}"

    @staticmethod
    def parse(text: str) -> Token:
        """The token that this text is; BadArguments if it is none."""
        found = _TOKEN.fullmatch(text)
        if found is None or found["profile"] not in PROFILES:
            raise BadArguments(f"{text!r:.120} is not a token; `run` prints one for each failing case, and so does its page")
        return Token(
            found["case"],
            found["profile"],
            int(found["seed"], 16),
            int(found["batch"]),
            int(found["slot"]),
            found["device"],
            int(found["sms"]),
            found["sources"],
            found["plant"],
        )


def tokens(report: Mapping[str, Any], test: Mapping[str, Any]) -> Iterator[Token]:
    """The tokens of a case's forbidden trials, as far as the report tells where they stood."""
    sms, run = report["device"].get("sms"), report["run"]
    if not isinstance(sms, int):
        return
    device = run["device"] if run["device"].startswith("model") else "cuda"
    for trial in test["forbidden"]:
        batch, slot = trial.get("batch"), trial.get("slot")
        if isinstance(batch, int) and isinstance(slot, int):
            yield Token(
                test["name"], run["profile"], int(run["seed"], 16), batch, slot, device, sms, report["suite"]["sources"][:8], run["plant"]
            )
