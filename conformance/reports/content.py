"""What the pages made from a report have in common: the sentences that explain a verdict, and the report's rows regrouped.

Every number comes from the report. Nothing is computed here that the report does not hold, except sums over its cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.pdlkit.display import survivors, thousands, unproven_windows, untold_power
from conformance.pdlkit.eager import sentences

Report = Mapping[str, Any]

CLASSES = {
    "documented": "NVIDIA's documents promise it. A failure means that the device, the driver or the documents are wrong.",
    "derived": "It follows from what the documents promise. A failure counts like that of a documented rule.",
    "measured": "No document promises it. It is measured and told as a finding; it never changes the verdict.",
}
KINDS = {
    "visibility": "does the dependent see every word that the primary stored?",
    "start": "does the dependent stay out until it may begin?",
    "progress": "does every kernel end?",
    "api": "do the calls answer as documented?",
}
VERDICTS = {
    "CONFORMS": "Every documented and derived rule that applies here held, and every planted bug was found in the same run.",
    "VIOLATES": "A documented or derived rule was broken on this device.",
    "UNPROVEN": "Nothing forbidden was seen, but too little was proven for a verdict.",
    "INVALID": "The run contradicts itself or the hardware could not be used. Nothing was judged.",
    "NOT_APPLICABLE": "Nothing could run here.",
}
MEASURED_WORDS = "The counts of a measured rule are its answer, so INCONCLUSIVE is its usual verdict."
STATUSES = {
    "PASS": "nothing forbidden was seen, enough trials were exercised, and every planted bug died in the same run",
    "FAIL": "a forbidden outcome was seen",
    "INCONCLUSIVE": "nothing forbidden was seen, and nothing is proven",
    "HANG": "it did not end by its deadline",
    "CRASH": "its process died, or a CUDA call failed",
    "DEVICE_LOST": "afterwards, a fresh process could not use the GPU",
    "NOT_SUPPORTED": "the device or the toolkit lacks what the rule needs",
    "KIT_ERROR": "its records contradict each other",
    "NOT_RUN": "it never began",
}
TERMS = {
    "exercised": "trials in which the fault could have shown",
    "bound (schedules)": "a fault that shows in this share of trials, or more, would have shown with 95 % confidence, "
    "for this generator of schedules",
    "bound (shapes)": "the same for a fault that depends on the launch's shape: distinct shapes are counted, not trials",
    "resolution": "the wait was replaced by software that returns too early; this is the smallest error that was caught",
    "mutants": "planted bugs and controls that died in this run, of those that apply",
    "SM pairs": "which SM wrote and which one read, of all pairs that there are",
}
_SHOWN = {
    "schema",
    "run",
    "suite",
    "toolchain",
    "device",
    "driver",
    "host",
    "rules",
    "tests",
    "paths",
    "contested",
    "mutation_score",
    "static_check",
    "processes",
    "problems",
    "findings",
    "reasons",
    "verdict",
    "exit",
    "capabilities",
    "waived",
    "waivers_idle",
    "other_drivers",
}
_SHOWN_IF = {"pooled": "bound95", "axes": "ran"}  # shown in its place if it holds this key, as this version writes it


@dataclass
class MutantRow:
    """One planted bug over all cases of the report."""

    tag: str
    kind: str
    statuses: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    trials: int = 0
    rules: dict[str, None] = field(default_factory=dict)


def mutants(report: Report) -> list[MutantRow]:
    """Every mutant, control and broken wait of the report, summed by its tag."""
    rows: dict[tuple[str, str], MutantRow] = {}
    for test in report["tests"]:
        for variant in (*test["mutants"], *test["controls"], *test["broken_waits"]):
            key = (variant["kind"], variant["tag"])
            row = rows.setdefault(key, MutantRow(variant["tag"], variant["kind"]))
            row.statuses[variant["status"]] += 1
            row.kills += variant["kills"]
            row.trials += variant["trials"]
            row.rules[test["rule"]] = None
    return list(rows.values())


def tests_of(report: Report) -> dict[str, list[Mapping[str, Any]]]:
    """The cases by rule, in the report's order; a rule that the report does not list is kept."""
    found: dict[str, list[Mapping[str, Any]]] = {rule["id"]: [] for rule in report["rules"]}
    for test in report["tests"]:
        found.setdefault(test["rule"], []).append(test)
    return found


def rules_by_class(report: Report) -> dict[str, list[Mapping[str, Any]]]:
    """The rules of each class that the report has, in the fixed order of the classes."""
    groups = {name: [rule for rule in report["rules"] if rule["class"] == name] for name in CLASSES}
    return {name: rules for name, rules in groups.items() if rules}


def shape_bound(rule: Mapping[str, Any]) -> float | None:
    """The bound for shapes, under whatever name the report gives it; None if it has none."""
    found = [value for key, value in rule.items() if "bound" in key and key != "bound95" and isinstance(value, int | float)]
    return found[0] if found else None


def bound_words(value: float | None) -> str:
    """1.7e-06, or a dash."""
    return "–" if value is None else f"{value:.1e}"


def ns_words(value: int | None) -> str:
    """1,000 ns, or a dash."""
    return "–" if value is None else f"{thousands(value)} ns"


def verdict_words(report: Report) -> str:
    """The run's verdict as a sentence; one about a run with waivers does not say that every rule held."""
    waived = report["verdict"] == "CONFORMS" and report.get("waived")
    held = "Every other documented and derived rule that applies here held, and every planted bug of theirs was found in the same run."
    return f"Known defects of this driver are waived. {held}" if waived else VERDICTS[report["verdict"]]


def status_words(report: Report) -> str:
    """How many cases have which verdict, failures first; those of measured rules, which are findings, stand apart."""
    order = ["FAIL", "HANG", "CRASH", "DEVICE_LOST", "KIT_ERROR", "NOT_RUN", "PASS", "INCONCLUSIVE", "NOT_SUPPORTED"]
    judged = Counter(test["status"] for test in report["tests"] if test["class"] != "measured")
    measured = Counter(test["status"] for test in report["tests"] if test["class"] == "measured")
    parts = [f"{thousands(judged[name])} {name}" for name in order if judged[name]]
    found = [f"{thousands(measured[name])} {name}" for name in order if measured[name]]
    return "; ".join(filter(None, [", ".join(parts), f"in measured rules {', '.join(found)}" if found else ""])) or "none"


def notes(report: Report) -> list[str]:
    """What the run did not prove, as `run` prints it."""
    return [*untold_power(report), *survivors(report), *unproven_windows(report), *sentences(report.get("paths", []))]


def capability_rows(report: Report) -> list[tuple[str, str, str]]:
    """Name, verdict and detail of each capability, from a table or a list of tables; empty if the report has none."""
    given = report.get("capabilities") or {}
    entries = given.items() if isinstance(given, Mapping) else [(_named(entry), entry) for entry in given]
    waived = {str(waiver.get("rule")) for waiver in report.get("waived") or [] if isinstance(waiver, Mapping)}
    rows = []
    for name, entry in entries:
        if not isinstance(entry, Mapping):
            rows.append((str(name), plain(entry), ""))
            continue
        verdict = entry.get("verdict", entry.get("status"))
        rows.append((str(name), plain(verdict), "; ".join(_capability_words(entry, waived))))
    return rows


def _capability_words(entry: Mapping[str, Any], waived: set[str]) -> Iterator[str]:
    """Which rules fail, which are unproven, how many hold, and then whatever else the entry says."""
    for key, verb in (("failing", "failing"), ("unproven", "unproven")):
        if entry.get(key):
            yield f"{verb}: " + ", ".join(f"{rule} (waived)" if rule in waived else str(rule) for rule in entry[key])
    if "holding" in entry:
        yield f"{thousands(entry['holding'])} rules hold"
    told = ("verdict", "status", "name", "capability", "id", "failing", "unproven", "holding")
    yield from (f"{key}: {plain(value)}" for key, value in entry.items() if key not in told and value not in ([], {}, None, ""))


def _named(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return str(entry)
    return str(entry.get("name") or entry.get("capability") or entry.get("id") or "")


def waived_rows(report: Report) -> list[str]:
    """One line per waiver that the run used."""
    given = report.get("waived") or []
    if isinstance(given, Mapping):
        return [f"{key}: {plain(value)}" for key, value in given.items()]
    return [plain(entry) for entry in given]


def others(report: Report) -> Iterator[tuple[str, Any]]:
    """Parts of a newer report that these pages have no place for, so that nothing is dropped."""
    for key, value in report.items():
        placed = key in _SHOWN_IF and (not value or _SHOWN_IF[key] in value)
        if key not in _SHOWN and not placed:
            yield key, value


def plain(value: Any) -> str:
    """A JSON value in a line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {plain(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(plain(entry) for entry in value)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return thousands(value) if isinstance(value, int) else str(value)
