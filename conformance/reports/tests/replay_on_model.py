"""On the model: each failing case's token leads back to the very trial, which fails again, and on the good model never does.

python3 -m conformance.reports.tests.replay_on_model --harness build/model/pdl-harness-model
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from conformance.pdlkit.places import KIT
from conformance.pdlkit.replay_token import Token, tokens

BROKEN, REPEAT, CASES = "model:wait-at-trigger", 64, 6


def conformance(*arguments: str) -> subprocess.CompletedProcess[str]:
    """One command of the kit."""
    return subprocess.run([sys.executable, str(KIT), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def replayed(token: Token, harness: str) -> dict[str, Any]:
    """What `replay` says."""
    done = conformance("replay", str(token), "--harness", harness, "--repeat", str(REPEAT), "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def same_plan(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """All but the key, from which the words are made."""
    return {k: v for k, v in first["plan"].items() if k != "key"} == {k: v for k, v in second["plan"].items() if k != "key"}


def main() -> int:
    """Run the broken device, then replay."""
    parser = argparse.ArgumentParser(description="Replay on the model.")
    parser.add_argument("--harness", required=True)
    harness = parser.parse_args().harness
    with tempfile.TemporaryDirectory() as folder:
        run = ["run", "--device", BROKEN, "--profile", "smoke", "--seed", "a11ce", "--harness", harness, "--output", folder]
        done = conformance(*run, "--only", "WAIT-01", "--only", "TRIG-01", "--only", "EDGE-09")
        assert done.returncode == 1 and "\n replay   " in done.stdout, done.stdout + done.stderr
        report = json.loads(Path(folder, "report.json").read_text(encoding="utf-8"))
    checked = 0
    for test in [test for test in report["tests"] if test["forbidden"]][:CASES]:
        token = next(tokens(report, test))
        again = replayed(token, harness)
        assert again["forbidden"] > 0 and again["run"] >= REPEAT, (token, again)
        assert same_plan(again["first"], test["forbidden"][0]), token
        good = replayed(Token.parse(str(token).replace(BROKEN, "model")), harness)
        assert good["forbidden"] == 0 and good["run"] >= REPEAT, (token, good)
        checked += 1
    assert checked == CASES, f"{checked} cases failed, {CASES} are needed"
    print(f"{checked} trials failed again on {BROKEN} and never on the model")
    return 0


if __name__ == "__main__":
    sys.exit(main())
