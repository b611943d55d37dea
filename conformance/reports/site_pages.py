"""The pages of the public record: the table of everything, one page per rule, how to hand in a result, and what was found in the wild."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.pdlkit.display import thousands, verdict_line
from conformance.pdlkit.references import ID
from conformance.reports import content
from conformance.reports.content import bound_words
from conformance.reports.frame import badge, bullets, document, facts, table, tone
from conformance.reports.markup import Child, Markup, element, joined
from conformance.reports.prose import below
from conformance.reports.record import GENERATIONS, UNKNOWN, Configuration
from conformance.reports.submission import BLIND

RuleFacts = Mapping[str, Any]  # as `list --json` gives it, or as much of it as an old report holds
_WORDS = {"PASS": "holds", "FAIL": "broken", "INCONCLUSIVE": "not proven", "NOT_SUPPORTED": "not there"}


def _navigation(up: str) -> Markup:
    links = [("index.html", "Rules and GPUs"), ("wild.html", "In the wild"), ("submit.html", "Hand in a result"), ("index.json", "JSON")]
    return element("nav", (element("a", name, href=f"{up}{target}") for target, name in links), aria_label="Site")


def _cell(configuration: Configuration, rule: str, up: str) -> Markup:
    answer = configuration.answer(rule)
    if answer is None:
        return badge(UNKNOWN)
    word = _WORDS.get(answer.status, answer.status.lower().replace("_", " "))
    name = answer.recorded.name.removesuffix(".json")
    return element(
        "a",
        element("span", word, class_=f"badge {tone(answer.status)}"),
        href=f"{up}reports/{name}.html#{rule}",
        title=f"{answer.status}, {answer.row['exercised']:,} exercised trials",
    )


def _unknown_generations(configurations: Sequence[Configuration]) -> dict[int, str]:
    """The GPUs of each compute capability of which there is no result."""
    recorded = " ".join(configuration.gpu for configuration in configurations)
    left = {cc: [name for name in names if not re.search(rf"\b{name}\b", recorded)] for cc, names in GENERATIONS.items()}
    return {cc: ", ".join(names) for cc, names in left.items() if names}


def _matrix(name: str, rules: Sequence[RuleFacts], configurations: Sequence[Configuration]) -> Markup:
    unknown = _unknown_generations(configurations)
    head = [
        "rule",
        *(f"{c.gpu} · driver {c.driver} · CUDA {c.toolkit}" for c in configurations),
        *(f"cc {cc // 10}.{cc % 10}: {names}" for cc, names in unknown.items()),
    ]
    rows: list[list[Child]] = [
        [
            element("div", element("a", rule["id"], href=f"rules/{rule['id']}.html"), f" {rule['text']}", class_="rule"),
            *(_cell(c, rule["id"], "") for c in configurations),
            *(badge(UNKNOWN) for _ in unknown),
        ]
        for rule in rules
    ]
    return table(f"{name.capitalize()} rules by GPU, driver and toolkit", head, rows)


def _run_words(report: Mapping[str, Any]) -> str:
    only = report["run"]["only"]
    return str(report["run"]["profile"]) + (f", only {' '.join(only)}" if only else "")


def _reports(configurations: Sequence[Configuration], rules_hash: str) -> Markup:
    """Every report with its verdict, and whether it was judged by the rules of this kit."""
    rows: list[list[Child]] = [
        [
            element("a", _run_words(r.report), href=f"reports/{r.name.removesuffix('.json')}.html"),
            badge(verdict_line(r.report)),
            c.gpu,
            c.driver,
            c.toolkit,
            element("span", r.report["run"]["started"][:10], class_="nowrap"),
            "these" if r.report["suite"]["rules_hash"] == rules_hash else "earlier ones",
            element("a", "JSON", href=f"reports/{r.name}", aria_label=f"JSON of {r.name}"),
        ]
        for c in configurations
        for r in c.reports
    ]
    return table("Recorded runs", ["profile", "verdict", "GPU", "driver", "CUDA", "day", "rules", "data"], rows)


def index_page(
    rules: Sequence[RuleFacts],
    configurations: Sequence[Configuration],
    suite: str,
    rules_hash: str,
    pages: Sequence[tuple[str, str]],
) -> str:
    """Rule by GPU, driver and toolkit; what nobody has handed in is unknown."""
    sections: list[Child] = []
    for name, meaning in content.CLASSES.items():
        chosen = [rule for rule in rules if rule["class"] == name]
        if chosen:
            sections += [
                element("h2", f"{name.capitalize()} rules"),
                element("p", meaning, class_="soft"),
                _matrix(name, chosen, configurations),
            ]
    key = joined(
        (element("span", word, class_=f"badge {tone(status)}"), f" {content.STATUSES[status]}. ") for status, word in _WORDS.items()
    )
    return document(
        "PDL: which GPU and driver keep which promise",
        _navigation(""),
        element("h1", "Programmatic dependent launch: who keeps which promise"),
        element("p", f"From reports of the conformance kit, suite {suite}. Each answer links to the report that it comes from."),
        element("p", key, badge(UNKNOWN), " nobody has handed in a result."),
        element("h2", "Reports"),
        _reports(configurations, rules_hash) if configurations else element("p", "None yet."),
        [
            element("p", "What else was measured, and where it comes from:"),
            bullets([element("a", title, href=address) for address, title in pages]),
        ]
        if pages
        else None,
        sections,
    )


def rule_page(rule: RuleFacts, configurations: Sequence[Configuration]) -> str:
    """What a rule means, where it comes from, how it is tested, and what each configuration says."""
    needs = rule.get("needs") or {}
    rows: list[tuple[str, Child]] = [
        ("class", f"{rule['class']}. {content.CLASSES[rule['class']]}"),
        ("asks", content.KINDS[rule["kind"]]),
        ("source", rule["source"]),
        (
            "needs",
            f"compute capability {needs['cc'] // 10}.{needs['cc'] % 10}, CUDA Toolkit {needs['toolkit'] // 1000}."
            f"{needs['toolkit'] % 1000 // 10}"
            if needs
            else None,
        ),
        ("core", "yes" if rule.get("core") else None),
        ("note", rule.get("note")),
        ("not tested", rule.get("untestable")),
        ("kernels", ", ".join(rule.get("kernels", []))),
        ("in this kit", None if "cases" in rule else "no longer; its page stays, because its id is never given to another rule"),
    ]
    parts: list[Child] = [
        _navigation("../"),
        element("h1", rule["id"]),
        element("p", rule["text"]),
        facts(rows),
        _answers(rule["id"], configurations),
    ]
    if rule.get("cases"):
        cases: list[list[Child]] = [
            [
                case["name"],
                "proving" if case["proving"] else "observing",
                case["at"],
                thousands(case["trials"][1]),
                "GPU only" if case["gpu_only"] else "GPU and model",
            ]
            for case in rule["cases"]
        ]
        parts += [element("h2", "Cases"), table(f"Cases of {rule['id']}", ["case", "role", "kernels at", "trials (quick)", "where"], cases)]
    if rule.get("mutants"):
        planted: list[list[Child]] = [
            [mutant["tag"], mutant["kind"], mutant["text"], ", ".join(mutant["at"]), _cited(mutant["source"])] for mutant in rule["mutants"]
        ]
        parts += [
            element("h2", "Planted bugs that a run must find"),
            table(f"Mutants of {rule['id']}", ["tag", "kind", "what it does", "planted at", "real bugs"], planted),
        ]
    return document(f"{rule['id']}: {rule['text']}", *parts)


def _cited(ids: Sequence[str]) -> Markup:
    """Ids of references.md as links to their entries."""
    links = (element("a", name, href=f"../pages/references.html#{name}") if ID.fullmatch(name) else name for name in ids)
    return joined(part for i, link in enumerate(links) for part in ((", ", link) if i else (link,)))


def _answers(rule: str, configurations: Sequence[Configuration]) -> Markup:
    rows: list[list[Child]] = []
    for configuration in configurations:
        answer = configuration.answer(rule)
        where: list[Child] = [configuration.gpu, configuration.driver, configuration.toolkit, _cell(configuration, rule, "../")]
        if answer is None:
            rows.append([*where, "–", "–", "–", "–"])
            continue
        row = answer.row
        rows.append(
            [
                *where,
                thousands(row["exercised"]),
                bound_words(row["bound95"]),
                f"{row['killed']} of {row['applicable']}" if row["applicable"] else "none",
                element("a", answer.recorded.name, href=f"../reports/{answer.recorded.name.removesuffix('.json')}.html#{rule}"),
            ]
        )
    for cc, names in _unknown_generations(configurations).items():
        rows.append([f"compute capability {cc // 10}.{cc % 10} ({names})", "–", "–", badge(UNKNOWN), "–", "–", "–", "–"])
    head = ["GPU", "driver", "CUDA", "answer", "exercised", "bound", "planted bugs found", "report"]
    return joined((element("h2", "Who keeps it"), table(f"Results for {rule}", head, rows, frozenset({4, 5}))))


def submit_page() -> str:
    """How to hand in a result."""
    return document(
        "Hand in a result",
        _navigation(""),
        element("h1", "Hand in a result"),
        element(
            "p",
            "Run ",
            element("code", "python3 conformance run --device cuda --profile full"),
            " from a commit without changes, check the report " "with ",
            element("code", "python3 conformance submit build/reports/RUN/report.json"),
            ", put it under the name that the check prints into ",
            element("code", "conformance/results/"),
            ", and open a pull request. CI runs the same check on every report there. Results that "
            "fail are as welcome as those that conform; a report names no host, no user and no folder.",
        ),
        element("h2", "What the check sees"),
        element(
            "p",
            "The schema, the digest over the whole report, every number and verdict that follows from others, and strings that look like "
            "names. A field that was changed alone is refused.",
        ),
        element("h2", "What it cannot see"),
        bullets(list(BLIND)),
    )


def wild_page(texts: Sequence[tuple[str, Markup]]) -> str:
    """What was found in other people's kernels and drivers: one section per text, each at the address of its name."""
    body = [element("section", below(text), id=name, class_="prose") for name, text in texts] or [element("p", "Nothing is recorded yet.")]
    return document("PDL in the wild", _navigation(""), element("h1", "PDL in the wild"), body)


def prose_page(title: str, text: Markup) -> str:
    """One of the record's own pages."""
    return document(title, _navigation("../"), element("div", text, class_="prose"))
