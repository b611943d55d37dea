"""`replay`: the token of a failing trial leads back to that trial, and how often it fails is counted there."""

from __future__ import annotations

import argparse
import json
import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.pdlkit import sources, toolchain
from conformance.pdlkit.device_choice import Choice
from conformance.pdlkit.exits import BadArguments, InvalidRun
from conformance.pdlkit.replay_token import Token, tokens
from conformance.reports import replay
from conformance.reports.tests.made_reports import failed, recorded

CASE = "WAIT-01.store.widened.stream"
FAKE = """#!/usr/bin/env python3
import json, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
if "--probe" in sys.argv:
    print(json.dumps({"record": "probe", "usable": True})); sys.exit(0)
def say(**record): print(json.dumps(record), flush=True)
say(record="start", device={"name": "fake", "sms": SMS}, seed=options["--seed"])
say(record="begin", case=options["--case"], deadline_s=LIMIT)
BODY
n = int(options["--repeat"])
say(record="replayed", case=options["--case"], reason=REASON, forbidden=n // 4, run=n, exercised=n - 1,
    outcomes={"fresh": n - n // 4, "stale": n // 4, "asked": int(options["--trial"].split(".")[1])})
say(record="end", case=options["--case"]); say(record="done")
"""


def fake_harness(folder: Path, body: str = "", reason: str = "None", sms: int = 4, limit: int = 20) -> Path:
    """A harness that answers as told."""
    path = folder / "harness"
    path.write_text(FAKE.replace("BODY", body).replace("REASON", reason).replace("SMS", str(sms)).replace("LIMIT", str(limit)))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def token(**other: Any) -> Token:
    """A token of the model."""
    return Token(
        **{
            "case": CASE,
            "profile": "smoke",
            "seed": 0xA11CE,
            "batch": 12,
            "slot": 5,
            "device": "model",
            "sms": 4,
            "sources": sources.digest()[:8],
            **other,
        }
    )


@pytest.mark.parametrize(
    "made", [token(), token(device="model:wait-at-trigger"), token(plant="broken-wait:500"), token(device="cuda", sms=132)]
)
def test_a_token_survives_being_printed(made: Token) -> None:
    assert Token.parse(str(made)) == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        CASE,
        str(token()) + "x",
        str(token()).replace("smoke", "rapid"),
        str(token()).replace("a11ce", "g"),
        str(token()).replace("12.5", "12"),
        str(token()).replace("12.5", "-1.5"),
        "--help-me",
        str(token(device="model")) + ",hang",
    ],
)
def test_what_is_no_token_is_told(text: str) -> None:
    with pytest.raises(BadArguments, match="is not a token"):
        Token.parse(text)


def test_a_failing_report_has_a_token_per_forbidden_trial() -> None:
    report = failed(recorded())
    case = next(test for test in report["tests"] if test["status"] == "FAIL" and test["forbidden"])
    (made,) = tokens(report, case)
    assert (made.case, made.batch, made.slot, made.sms, made.device) == (case["name"], 3, 5, 132, "cuda")
    assert made.seed == int(report["run"]["seed"], 16) and made.plant is None
    report["run"]["plant"] = "broken-wait:500"
    assert [told.plant for told in tokens(report, case)] == ["broken-wait:500"], "without it, another wait is repeated"


def test_k_of_n_is_what_the_harness_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harness = fake_harness(tmp_path)
    assert replay.main([str(token()), "--harness", str(harness), "--repeat", "200", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["forbidden"], said["run"], said["exercised"], said["outcomes"]["asked"], said["same_code"]) == (50, 200, 199, 5, True)
    assert replay.main([str(token(sources="00000000")), "--harness", str(harness)]) == 0
    out = capsys.readouterr().out
    assert "250 of 1,000 forbidden, 999 exercised" in out and "other code" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sms": 5}, "5 SMs and this one has 4"),
        ({"sms": 3}, "3 SMs and this one has 4"),
        ({"case": "WAIT-01.nothing.widened.stream"}, "no such case"),
        ({"case": "EDGE-14.lossy.widened.built"}, "answers instead of trials"),
    ],
)
def test_another_trial_is_never_passed_off_as_this_one(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        replay.main([str(token(**change)), "--harness", str(fake_harness(tmp_path))])


def test_a_trial_that_the_case_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match="no such trial"):
        replay.main([str(token()), "--harness", str(fake_harness(tmp_path, reason="'no such trial'"))])


@pytest.mark.parametrize("body", ["import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "sys.exit(71)", "import time; time.sleep(60)"])
def test_a_child_that_dies_or_hangs_is_told(tmp_path: Path, body: str) -> None:
    with pytest.raises(InvalidRun, match="could not be repeated"):
        replay.main([str(token()), "--harness", str(fake_harness(tmp_path, body, limit=1))])


def test_another_kind_of_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match="other devices get other trials"):
        replay.main([str(token()), "--device", "cuda", "--harness", str(fake_harness(tmp_path))])
    assert os.access(tmp_path / "harness", os.X_OK)


@pytest.mark.parametrize("is_carried", [True, False])
def test_without_a_harness_the_one_that_is_carried_or_built_replays(is_carried: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    def built(what: str, *_: object) -> SimpleNamespace:
        asked.append(what)
        return SimpleNamespace(harness=Path("built"))

    monkeypatch.setattr(replay, "carried", lambda what: SimpleNamespace(harness=Path("carried")) if is_carried else None)
    monkeypatch.setattr(replay, "build", built)
    monkeypatch.setattr(toolchain, "require", lambda *_: None)
    found = replay._harness(argparse.Namespace(harness=None), Choice("model"))
    assert found == Path("carried" if is_carried else "built") and asked == ([] if is_carried else ["model"])
