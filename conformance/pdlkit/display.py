"""What people see: the progress line while a run goes on, and the verdict block at its end."""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from conformance.pdlkit.eager import sentences
from conformance.pdlkit.records import Record
from conformance.pdlkit.replay_token import tokens

_COLOURS = {
    "PASS": "32", "CONFORMS": "1;32", "FAIL": "1;31", "HANG": "1;31", "VIOLATES": "1;31", "CRASH": "31",
    "DEVICE_LOST": "31", "KIT_ERROR": "1;35", "INVALID": "1;35", "INCONCLUSIVE": "33", "NOT_RUN": "33",
    "UNPROVEN": "1;33", "NOT_SUPPORTED": "2", "NOT_APPLICABLE": "1;2",
}
_REASONS_SHOWN = 8
_REASON_WIDTH = 240


def wants_colours(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """On a terminal, unless NO_COLOR (no-color.org) or a dumb terminal says otherwise."""
    return stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def coloured(text: str, verdict: str, on: bool) -> str:
    """The text in the verdict's colour, if colours are on."""
    code = _COLOURS.get(verdict)
    return f"\033[{code}m{text}\033[0m" if on and code else text


class Progress:
    """One line on a terminal, rewritten in place; on anything else one line per finished case when verbose."""

    def __init__(self, total: int, stream: TextIO = sys.stderr, quiet: bool = False) -> None:
        self._total, self._stream = total, stream
        self._live = not quiet and stream.isatty() and os.environ.get("TERM") != "dumb"
        self._lock = threading.Lock()
        self._finished = 0
        self._bad = 0
        self._now: dict[str, str] = {}
        self._begin, self._drawn = time.monotonic(), 0.0

    def record(self, family: str, record: Record) -> None:
        """Take one record; safe from several threads."""
        if not self._live:
            return
        kind = record["record"]
        with self._lock:
            if kind == "begin":
                self._now[family] = str(record.get("case"))
            elif kind == "progress":
                done, planned = record.get("done", 0), record.get("planned", 0)
                share = f"{100 * done // planned:3d}%" if planned else "    "
                self._now[family] = f"{record.get('case')} {share} {record.get('part', '')}"
            elif kind == "case":
                self._bad += record.get("status") == "FAIL"
            elif kind == "end":
                self._finished += 1
                self._now.pop(family, None)
            self._draw(kind != "progress")

    def _draw(self, force: bool) -> None:
        now = time.monotonic()
        if not force and now - self._drawn < 0.1:
            return
        self._drawn = now
        bad = f", {self._bad} FAIL" if self._bad else ""
        text = f"[{self._finished}/{self._total}{bad}] {now - self._begin:.0f} s  " + " | ".join(self._now.values())
        width = max(0, shutil.get_terminal_size().columns - 1)
        self._stream.write(f"\r\033[K{text[:width]}")
        self._stream.flush()

    def close(self) -> None:
        """Wipe the line."""
        if self._live:
            self._stream.write("\r\033[K")
            self._stream.flush()


def thousands(number: int | None) -> str:
    """1,234 or a dash."""
    return "-" if number is None else f"{number:,}"


def _bound(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"


def _nanoseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} ns"


def headline(report: Mapping[str, Any]) -> str:
    """The device, the driver, the seed, in one line."""
    device, driver, run = report["device"], report["driver"], report["run"]
    if device["kind"] == "model":
        name = run["device"].partition(":")[2]
        parts = ["the model, no GPU" + (f" (broken device `{name}`)" if name else "")]
    else:
        cc = device.get("cc")
        parts = [f"GPU {run['device'].partition(':')[2] or 0}", str(device.get("name", "unknown"))]
        if isinstance(cc, int):
            parts.append(f"cc {cc // 10}.{cc % 10}")
        elif cc:
            parts.append(f"cc {cc}")
        parts += [f"{device['sms']} SMs"] if "sms" in device else []
        parts += [f"driver {driver['version']}"] if driver.get("version") else []
        nvcc = report["toolchain"].get("nvcc")
        parts += [f"CUDA {nvcc}"] if nvcc else []
    return "  ".join([*parts, f"seed {run['seed']}", f"profile {run['profile']}", f"suite {report['suite']['version']}"])


def _rows(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for rule in report["rules"]:
        pairs = f"{thousands(rule['sm_pairs'])}/{thousands(rule['sm_pairs_possible'])}" if rule["sm_pairs_possible"] else "-"
        power = f"{rule['killed']}/{rule['applicable']}" if rule["applicable"] else "none"
        rows.append((
            rule["id"], rule["class"], rule["status"], thousands(rule["exercised"]), _bound(rule["bound95"]),
            _bound(rule.get("shape_bound95")),
            _nanoseconds(rule["resolution_ns"]), power, thousands(rule["schedules"] or None),
            thousands(rule.get("shapes") or None), pairs,
        ))
    return rows


_HEADER = ("rule", "class", "verdict", "exercised", "p95 <=", "shapes p95 <=", "resolution", "mutants", "schedules", "shapes", "SM pairs")
_LEFT = 3


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int, colours: bool = False) -> list[str]:
    """Aligned columns; the first `left` to the left, the rest to the right; a verdict in its colour."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = []
    for row in [header, *rows]:
        cells = [
            coloured(cell.ljust(width) if i < left else cell.rjust(width), cell, colours and row is not header)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(" " + "  ".join(cells).rstrip())
    return lines


def unproven_windows(report: Mapping[str, Any]) -> list[str]:
    """What observing cases did not prove, said plainly: one line per rule and window."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    proven = {(test["rule"], test["window"]) for test in report["tests"] if test["proving"]}
    for test in report["tests"]:
        if not test["proving"] and test["status"] in ("PASS", "INCONCLUSIVE") and test["class"] != "measured":
            where = test["window"] + (f"/{test['path']}" if (test["rule"], test["window"]) in proven else "")
            groups.setdefault((test["rule"], where), []).append(test)
    lines = []
    for (rule, window), tests in groups.items():
        run = sum(t["trials"]["run"] for t in tests)
        exercised = sum(t["trials"]["exercised"] for t in tests)
        what = "proves nothing: not one trial was exercised" if exercised == 0 else (
            f"saw nothing forbidden in {thousands(exercised)} exercised trials, and shows no power to see it")
        lines.append(f"{rule} in the {window} window {what} ({thousands(run)} run)")
    return lines


def untold_power(report: Mapping[str, Any]) -> list[str]:
    """Rules that passed without any mutant, control or broken wait in this run."""
    bare = [rule["id"] for rule in report["rules"]
            if rule["status"] == "PASS" and rule["proving"] and not rule["applicable"] and not rule["broken_waits_killed"]]
    return [f"passed with no mutant, control or broken wait in this run, so with power from the model's broken devices only: "
            f"{', '.join(bare)}"] if bare else []


def survivors(report: Mapping[str, Any]) -> list[str]:
    """Broken waits below the resolution that this run could not tell from a good wait, per rule."""
    lines = []
    for rule in report["rules"]:
        alive = sorted({
            str(v["tag"])
            for t in report["tests"] if t["rule"] == rule["id"]
            for v in t["broken_waits"] if v["status"] == "SURVIVED"
        })
        if alive:
            lines.append(f"{rule['id']}: these broken waits survived, so the kit cannot tell them from a good one: "
                         + ", ".join(alive))
    return lines


_DOCUMENT = re.compile(r"(PTX ISA|CUDA Programming Guide|Runtime API|[a-z_]+\.h)((?:(?:,| and)? [0-9.]+[0-9])*)")


def texts(report: Mapping[str, Any]) -> str:
    """The documents a conforming run was judged by, each once, with the parts that rules name; report.json has each rule's."""
    found: dict[str, dict[str, None]] = {}
    for rule in report["rules"]:
        if rule["status"] == "PASS" and rule["class"] != "measured":
            for name, part in _DOCUMENT.findall(rule["source"]):
                found.setdefault(name, {}).update(dict.fromkeys(re.findall(r"[0-9]+(?:\.[0-9]+)*", part)))
    return "; ".join(f"{name} {', '.join(sorted(parts))}".rstrip() for name, parts in found.items())


def pooled(report: Mapping[str, Any]) -> list[str]:
    """Both bounds over all visibility rules."""
    entry = report.get("pooled") or {}
    if entry.get("bound95") is None:
        return []
    return [f" all visibility rules together: {thousands(entry['exercised'])} exercised, p95 <= {_bound(entry['bound95'])}; "
            f"{thousands(entry['shapes'])} shapes, p95 <= {_bound(entry['shape_bound95'])}"]


def launches(report: Mapping[str, Any]) -> list[str]:
    """Which combinations of launch features the programs ran."""
    entry = report.get("axes") or {"ran": 0}
    if not entry["ran"]:
        return []
    (pairs, of_pairs), (triples, of_triples) = entry["pairs"], entry["triples"]
    missing = f"; not run: {'; '.join(entry['missing'][:4])}" if entry["missing"] else ""
    return [f"launches of programs held {pairs:,} of {of_pairs:,} pairs and {triples:,} of {of_triples:,} core triples of features"
            f"{missing}; {len(entry['excluded'])} pairs are excluded in rules.toml, with reasons"]


def capabilities(report: Mapping[str, Any]) -> list[str]:
    """Which parts of programmatic launch hold: a verdict is of use beside a known defect, too."""
    lines = []
    for entry in report.get("capabilities") or []:
        waived = {w["rule"] for w in report.get("waived") or []}
        failing = [f"{rule} (waived)" if rule in waived else rule for rule in entry["failing"]]
        parts = [f"{', '.join(failing)} fail{'s' if len(failing) == 1 else ''}"] if failing else []
        parts += [f"{', '.join(entry['unproven'])} unproven"] if entry["unproven"] else []
        parts.append(f"{'the other ' if parts else ''}{entry['holding']} rules hold")
        lines.append(f"{entry['capability']:<16} {entry['verdict']:<14} {'; '.join(parts)}")
    return lines


def waived_rules(report: Mapping[str, Any]) -> list[str]:
    """The rules that fail and do not decide the verdict, in any round of a soak and on any GPU of a machine."""
    parts = [report.get("soak") or {}, *(report.get("machine") or {}).get("gpus", [])]
    rules = [entry["rule"] for entry in report.get("waived") or []]
    return list(dict.fromkeys([*rules, *(rule for part in parts for rule in part.get("waived") or [])]))


def verdict_line(report: Mapping[str, Any]) -> str:
    """`CONFORMS`, `CONFORMS (model, no GPU)`, `CONFORMS (waived: EDGE-33)`."""
    verdict, waived = str(report["verdict"]), waived_rules(report)
    about = ["model, no GPU"] if (report.get("device") or {}).get("kind") == "model" else []
    about += [f"waived: {', '.join(waived)}"] if waived else []
    return f"{verdict} ({'; '.join(about)})" if about else verdict


def triage(report: Mapping[str, Any]) -> list[str]:
    """What changed when a failing trial was varied, case by case."""
    return [
        f"{test['name']}: " + ", ".join(f"{v['tag']} {v['kills']:,} of {v['trials']:,} wrong" for v in test["triage"])
        for test in report["tests"] if test["triage"]
    ]


def first_tokens(report: Mapping[str, Any]) -> list[str]:
    """For each failing case the token of its first forbidden trial, which `replay` takes."""
    firsts = (next(tokens(report, test), None) for test in report["tests"] if test["status"] == "FAIL")
    return [str(token) for token in firsts if token is not None]


def verdict_block(report: Mapping[str, Any], where: str, colours: bool, evidence: Sequence[str] = ()) -> str:
    """Everything that is printed at the end of a run."""
    lines, judged = [headline(report)], report["verdict"] != "NOT_APPLICABLE"
    if report["rules"] and judged:
        lines += table(_HEADER, _rows(report), _LEFT, colours)
        if any(rule["bound95"] is not None for rule in report["rules"]):
            lines.append(" p95: a fault of this probability per trial would have shown, for this generator of schedules;"
                         " shapes p95: one that hangs on the shape of the launch, at this share of shapes")
            lines += pooled(report)
    unchecked = str(report.get("static_check") or "").startswith("left out")
    notes = [f"static check {report['static_check']}"] if unchecked else []
    notes += [*launches(report), *untold_power(report), *survivors(report), *unproven_windows(report), *sentences(report["paths"])]
    lines += [f" note     {line}" for line in notes]
    lines += [f" finding  {line}" for line in report["findings"]]
    for entry in report.get("waived") or []:
        cases = ", ".join(f"{case['name']} {case['status']}" for case in entry["cases"])
        lines.append(f" waived   {cases}; until {entry['expires']}: {entry['reason']}")
    lines += [f" waiver   {line}" for line in report.get("waivers_idle") or []]
    lines += [f" part     {line}" for line in capabilities(report) if judged]
    reasons = report["reasons"]
    lines += [f" reason   {line[:_REASON_WIDTH]}" for line in reasons[:_REASONS_SHOWN]]
    if len(reasons) > _REASONS_SHOWN:
        lines.append(f" reason   ... and {len(reasons) - _REASONS_SHOWN} more in the report")
    lines += [f" triage   {line}" for line in triage(report)[:_REASONS_SHOWN]]
    lines += [f" replay   {token}" for token in first_tokens(report)[:_REASONS_SHOWN]]
    lines += [f" evidence {line}" for line in evidence]
    score = report["mutation_score"]
    passed = sum(t["proving"] and t["status"] == "PASS" for t in report["tests"])
    proving = sum(t["proving"] and t["status"] != "NOT_SUPPORTED" for t in report["tests"])
    verdict = coloured(verdict_line(report), report["verdict"], colours)
    lines.append(
        f"VERDICT  {verdict}   {passed} of {proving} proving cases passed, mutation score "
        f"{score['killed']}/{score['applicable']}, {report['run']['wall_s']:.1f} s")
    if report["verdict"] == "CONFORMS":
        lines.append(f"judged by  {texts(report)}")
    if report["run"]["only"]:
        lines.append(f"only {' '.join(report['run']['only'])}: the other rules were not judged")
    lines.append(f"report   {where}")
    return "\n".join(lines)
