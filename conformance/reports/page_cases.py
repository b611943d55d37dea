"""The cases of one rule in a page: one row each, then what a row has no room for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.pdlkit.display import thousands
from conformance.pdlkit.replay_token import tokens
from conformance.reports.content import Report, bound_words, ns_words
from conformance.reports.frame import badge, bullets, facts, table
from conformance.reports.markup import Child, Markup, element, joined
from conformance.reports.pictures import counted, has_timeline, timeline

_VARIATIONS = {
    "as-it-failed": "nothing",
    "attribute-off": "launched without the attribute",
    "extra-fence": "an extra fence after the wait",
    "other-sms": "on other SMs",
}
_TIMELINES = 3  # per case; the report keeps up to 16 forbidden trials, which mostly look alike
Case = Mapping[str, Any]


def case_details(rule: str, cases: list[Case], report: Report) -> Markup:
    """Everything that the report says of a rule's cases."""
    rows: list[list[Child]] = []
    for case in cases:
        trials = case["trials"]
        rows.append(
            [
                case["name"].removeprefix(f"{rule}."),
                badge(case["status"]),
                "proving" if case["proving"] else "observing",
                thousands(trials["run"]),
                thousands(trials["exercised"]),
                _outcomes(case),
                bound_words(case["bound95"]),
                ns_words(case["resolution_ns"]),
                thousands(case["schedules"]),
                thousands(case.get("shapes")),
            ]
        )
    head = ["case", "verdict", "role", "run", "exercised", "outcomes", "bound", "resolution", "schedules", "shapes"]
    more = [details for case in cases if (details := _more(case, report)) is not None]
    return joined((table(f"Cases of {rule}", head, rows, frozenset({3, 4, 6, 7, 8, 9})), more))


def _outcomes(case: Case) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {thousands(count)}" for name, count in case["outcomes"].items() if count) or "–"


def _more(case: Case, report: Report) -> Markup | None:
    parts: list[Child] = []
    variants = [*case["mutants"], *case["controls"], *case["broken_waits"]]
    if variants:
        parts.append(_variants(case["name"], variants))
    if case["triage"]:
        parts.append(_triage(case))
    parts += _trials(case, report["device"]["kind"] == "model")
    token = next(tokens(report, case), None)
    if token is not None:
        parts.append(element("p", "To repeat the first forbidden trial: ", element("code", f"python3 conformance replay {token}")))
    if case.get("answers"):
        rows: list[list[Child]] = [[answer["what"], answer["answer"]] for answer in case["answers"]]
        parts.append(table(f"Answers in {case['name']}", ["asked", "answered"], rows))
    if images := case.get("images"):
        parts.append(bullets([f"{image['file']}, sm_{image['arch']}, {image['hash']}: {image['lint']}" for image in images]))
    if not parts and not case["reason"]:
        return None
    parts.append(
        facts([("machine code", case["code_hash"]), ("plan", case.get("plan_hash")), ("expected words", case.get("expected_hash"))])
    )
    said = f" {case['reason']}" if case["reason"] else ""
    return element(
        "details",
        element("summary", badge(case["status"]), " ", case["name"], element("span", said, class_="soft")),
        element("div", parts, class_="inside"),
        id=case["name"],
    )


def _variants(name: str, variants: list[Mapping[str, Any]]) -> Markup:
    rows: list[list[Child]] = []
    for variant in variants:
        what = variant["kind"].replace("_", " ") + (f", {ns_words(variant['x_ns'])} early" if variant["x_ns"] is not None else "")
        shown = counted(variant["kills"], variant["trials"])
        rows.append([variant["tag"], what, badge(variant["status"]), shown, variant["reason"] or ""])
    return table(f"Planted in {name}", ["tag", "kind", "result", "trials that showed it", "why"], rows)


def _triage(case: Case) -> Markup:
    rows: list[list[Child]] = [
        [
            _VARIATIONS.get(variant["tag"], variant["tag"]),
            counted(variant["kills"], variant["trials"]),
        ]
        for variant in case["triage"]
    ]
    return table(f"The failing trials of {case['name']}, repeated with one thing changed", ["what was changed", "wrong trials"], rows)


def _trials(case: Case, on_model: bool) -> list[Child]:
    """The first forbidden trials as pictures."""
    shown = [trial for trial in case["forbidden"] if has_timeline(trial)][:_TIMELINES]
    unit = "steps" if on_model else "ns"
    parts: list[Child] = []
    for trial in shown:
        seen, plan = trial.get("seen") or {}, trial.get("plan") or {}
        words = (
            f"Batch {trial.get('batch')}, slot {trial.get('slot')}: a primary of {plan.get('blocks_primary')} blocks and a dependent of "
            f"{plan.get('blocks_dependent')}, with {plan.get('threads')} threads each, on {plan.get('words')} words."
        )
        if seen.get("wrong"):
            words += (
                f" {thousands(seen['wrong'])} words were wrong; the first, word {seen.get('first')}, was {seen.get('class')}: "
                f"{seen.get('got')} instead of {seen.get('want')}."
            )
        picture = element(
            "div",
            timeline(trial, unit),
            class_="scroll",
            tabindex=0,
            role="region",
            aria_label=f"Timeline of a forbidden trial of {case['name']}, batch {trial.get('batch')}, slot {trial.get('slot')}",
        )
        parts += [element("p", words), picture]
    if shown:
        parts.insert(
            0, element("p", "Timelines of forbidden trials. Red: the wait has returned although the primary still stores.", class_="soft")
        )
    left = len(case["forbidden"]) - len(shown)
    if shown and left:
        parts.append(element("p", f"The report holds {left} more forbidden trials of this case.", class_="soft"))
    return parts
