"""The table of environments: rows from records, tools that are missing, and a harness that dies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.pdlkit import places
from conformance.probes import environments
from conformance.probes.environments import Environment, Row, heading, line, measure, read_rows

SERIAL = "import os\noverlap = 0 if os.environ.get('CUDA_LAUNCH_BLOCKING') == '1' else 60\n"
RECORDS = SERIAL + '''
import json, sys
path = sys.argv[sys.argv.index("--records") + 1]
with open(path, "w") as out:
    for case in (sys.argv[i + 1] for i, word in enumerate(sys.argv) if word == "--case"):
        trials = {"planned": 64, "run": 64, "exercised": overlap}
        out.write(json.dumps({"record": "variant", "case": case, "tag": "nowait", "kind": "mutant", "kills": overlap,
                              "trials": 64}) + "\\n")
        out.write(json.dumps({"record": "case", "case": case, "status": "PASS", "trials": trials,
                              "outcomes": {"fresh": 63, "stale": 1, "overlap": overlap}}) + "\\n")
'''


def harness(folder: Path, body: str) -> Path:
    path = folder / "harness"
    path.write_text("#!/usr/bin/env python3\n" + body, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_counts_come_from_the_records(tmp_path: Path) -> None:
    rows = measure(Environment("plain"), harness(tmp_path, RECORDS), "cuda")
    assert rows == [Row("plain", case, None, "PASS", 64, 60, 1, 64, 60) for case in environments.CASES]


def test_an_environment_is_what_its_name_says() -> None:
    for environment in environments.ENVIRONMENTS:
        name, _, value = environment.name.partition("=")
        assert environment.variables == ({name: value} if value else {}) and environment.mps == (environment.name == "MPS")
        assert environment.tool[:1] == ((name.split()[0],) if environment.tool else ())
        assert not name.startswith("compute-sanitizer") or environment.tool[1:] == ("--tool", name.split()[1])


def test_a_missing_wait_is_that_of_its_own_case() -> None:
    """Records of another case, and of another planted bug, stand before it."""
    records = [{"record": "variant", "case": case, "tag": tag, "kills": kills, "trials": 64}
               for case, tag, kills in (("other", "nowait", 5), ("c", "early", 6), ("c", "nowait", 7))]
    records.append({"record": "case", "case": "c", "status": "PASS", "trials": {"run": 64}, "outcomes": {}})
    assert [row.mutant_caught for row in read_rows("e", "\n".join(map(json.dumps, records)))] == [7]


def test_each_kind_of_wrong_words_is_counted() -> None:
    outcomes = {"fresh": 100, "stale": 1, "poison": 2, "misplaced": 4, "torn": 8, "foreign": 16, "overlap": 50}
    record = {"record": "case", "case": "c", "status": "FAIL", "trials": {"run": 131}, "outcomes": outcomes}
    assert read_rows("e", json.dumps(record)) == [Row("e", "c", None, "FAIL", 131, 50, 31)]


def test_variables_reach_the_harness(tmp_path: Path) -> None:
    rows = measure(Environment("blocking", {"CUDA_LAUNCH_BLOCKING": "1"}), harness(tmp_path, RECORDS), "cuda")
    assert [(row.overlapped, row.mutant_caught) for row in rows] == [(0, 0), (0, 0)]


def test_a_tool_stands_in_front_of_the_harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "tool"
    tool.write_text('#!/bin/sh\nshift\nCUDA_LAUNCH_BLOCKING=1 exec "$@"\n', encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    rows = measure(Environment("tool", tool=("tool", "option")), harness(tmp_path, RECORDS), "cuda")
    assert [row.overlapped for row in rows] == [0, 0]


def test_a_missing_tool_and_a_dying_harness_say_so(tmp_path: Path) -> None:
    missing = measure(Environment("no such tool", tool=("pdl-no-such-tool",)), harness(tmp_path, RECORDS), "cuda")
    assert missing == [Row("no such tool", "-", "pdl-no-such-tool is not on this machine")]
    dying = measure(Environment("plain"), harness(tmp_path, "import sys; sys.exit('no GPU here')\n"), "cuda")
    assert {row.why for row in dying} == {"ended with 1: no GPU here"}
    assert line(dying[0]) == f"| plain | `{environments.CASES[0]}` | ended with 1: no GPU here | - | - |"


def test_a_harness_that_does_not_end_says_so_of_each_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "LIMIT_S", 0.1)
    rows = measure(Environment("plain"), harness(tmp_path, "import time; time.sleep(60)\n"), "cuda")
    assert rows == [Row("plain", case, "no end within 0 s") for case in environments.CASES]


def test_what_was_measured_stays_if_the_rest_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(environment: Environment, *_: object) -> list[Row]:
        if environment.name == "second":
            raise KeyboardInterrupt
        return [Row("first", "-", "here")]

    monkeypatch.setattr(environments, "measure", stop)
    monkeypatch.setattr(environments, "ENVIRONMENTS", (Environment("first"), Environment("second")))
    with pytest.raises(KeyboardInterrupt):
        environments.main([str(harness(tmp_path, RECORDS)), "--json", str(tmp_path / "rows.json")])
    assert json.loads((tmp_path / "rows.json").read_text())[0]["environment"] == "first"


def test_records_without_counts_are_no_rows() -> None:
    assert read_rows("x", json.dumps({"record": "case", "case": "a", "status": "HANG"}) + "\nnot json\n") == []


def test_bad_harness_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert environments.main([str(tmp_path / "none")]) == 69
    assert "no such executable" in capsys.readouterr().err


def test_the_recorded_page_is_that_of_its_rows() -> None:
    pages = sorted((places.KIT / "results").glob("*-environments.md"))
    assert pages
    for page in pages:
        text = page.read_text(encoding="utf-8")
        rows = [Row(**row) for row in json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))]
        device = text.split("Device ", 1)[1].split(". Made by", 1)[0]
        assert text.rstrip("\n") == "\n".join((heading(device), *map(line, rows)))
