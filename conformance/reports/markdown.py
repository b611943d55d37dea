"""A report as Markdown for an issue, and the shorter summary of a CI job."""

from __future__ import annotations

from conformance.pdlkit.display import headline, thousands, triage, verdict_line
from conformance.reports import content
from conformance.reports.content import Report, bound_words, ns_words

_MOST_LINES = 20
_LARGEST = 65_000  # GitHub takes 65,536 characters in an issue or a comment


def cell(text: object) -> str:
    """Text that cannot break a table or be taken for markup."""
    escaped = str(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\r", " ").replace("\n", " ")
    for mark in "*_`[]":
        escaped = escaped.replace(mark, "\\" + mark)
    return escaped


def rows(head: list[str], body: list[list[object]]) -> list[str]:
    """A Markdown table."""
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *("| " + " | ".join(map(cell, row)) + " |" for row in body), ""]


def _bullets(title: str, lines: list[str], most: int = _MOST_LINES) -> list[str]:
    if not lines:
        return []
    more = [f"- and {thousands(len(lines) - most)} more in the report"] if len(lines) > most else []
    return [f"### {title}", "", *(f"- {cell(line)}" for line in lines[:most]), *more, ""]


def _head(report: Report) -> list[str]:
    score = report["mutation_score"]
    counted = content.status_words(report)
    waived = content.waived_rows(report)
    return [
        f"## PDL conformance: {verdict_line(report)}",
        "",
        content.verdict_words(report),
        "",
        f"- {cell(headline(report))}",
        f"- {thousands(len(report['tests']))} cases: {counted}",
        f"- {score['killed']} of {score['applicable']} planted bugs that apply were found",
        f"- started {report['run']['started']}, {report['run']['wall_s']:,.1f} s, exit code {report['exit']}",
        *([f"- waived: {cell('; '.join(waived))}"] if waived else []),
        "",
    ]


def _said(report: Report) -> list[str]:
    lines = [
        *_bullets("Contradictions", list(report["problems"])),
        *_bullets("Why this verdict", list(report["reasons"])),
        *_bullets("Findings in measured rules", list(report["findings"])),
        *_bullets("What changed when a failing trial was varied", triage(report)),
    ]
    capabilities = content.capability_rows(report)
    if capabilities:
        lines += ["### Verdict per capability", "", *rows(["capability", "verdict", "detail"], [list(row) for row in capabilities])]
    return lines


def write_markdown(report: Report) -> str:
    """The whole report, for an issue: what does not fit into one is left out last part first, and said."""
    parts = [
        [*_head(report), *_said(report)],
        _bullets("What this run does not prove", content.notes(report)),
        *(_rules(name, rules) for name, rules in content.rules_by_class(report).items()),
        _contested(report),
    ]
    suite = report["suite"]
    foot = (
        f"Suite {suite['version']}, sources `{suite['sources']}`, rules `{suite['rules_hash']}`, seed `{report['run']['seed']}`, "
        f"run `{report['run'].get('id', '')}`.\n"
    )
    text, left_out = "", 0
    for part in parts:
        said = "\n".join(part) + "\n" if part else ""
        if len(text) + len(said) + len(foot) > _LARGEST:
            left_out += 1
        else:
            text += said
    gone = f"{left_out} parts are left out, because an issue holds no more; the HTML page has them.\n\n" if left_out else ""
    return text + gone + foot


def _rules(name: str, rules: list[Report]) -> list[str]:
    """The rules of one class, folded away, so that the first screen is the verdict."""
    body: list[list[object]] = [
        [
            rule["id"],
            rule["status"],
            thousands(rule["exercised"]),
            bound_words(rule["bound95"]),
            bound_words(content.shape_bound(rule)),
            ns_words(rule["resolution_ns"]),
            f"{rule['killed']}/{rule['applicable']}" if rule["applicable"] else "none",
            rule["text"],
        ]
        for rule in rules
    ]
    head = ["rule", "verdict", "exercised", "bound", "bound (shapes)", "resolution", "mutants", "text"]
    return [
        f"<details><summary>{thousands(len(rules))} {name} rules. {content.CLASSES[name]}</summary>",
        "",
        *rows(head, body),
        "</details>",
        "",
    ]


def _contested(report: Report) -> list[str]:
    entries = report.get("contested") or []
    if not entries:
        return []
    body: list[list[object]] = [
        [entry["question"], entry["claim_a"], entry["claim_b"], entry["follows"], entry["case"], entry["counts"], entry["bound"]]
        for entry in entries
    ]
    head = ["question", "claim A", "claim B", "follows", "case", "counts", "bound"]
    return [f"<details><summary>{thousands(len(body))} cases on contested claims</summary>", "", *rows(head, body), "</details>", ""]


def write_summary(report: Report) -> str:
    """The summary of a CI job: the verdict, why, and the rules that did not pass."""
    lines = [*_head(report), *_said(report)]
    bad: list[list[object]] = [
        [rule["id"], rule["class"], rule["status"], rule["text"]]
        for rule in report["rules"]
        if rule["status"] not in ("PASS", "NOT_SUPPORTED", "INCONCLUSIVE")
    ]
    if bad:
        lines += ["### Rules that did not pass", "", *rows(["rule", "class", "verdict", "text"], bad)]
    return "\n".join(lines)
