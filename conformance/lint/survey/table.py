"""The page over all records: what was judged, what was found, and what each kind of finding means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.lint.survey.classification import FILE, Case, cases, match
from conformance.lint.survey.wheels import Package
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import KIT

PAGE = KIT / "results" / "field" / "survey.md"
_HEAD = """# GPU code of published packages, judged by lint

Written by `python3 conformance dev survey --table` from the records in [survey](survey), never by hand. One package:
`python3 conformance dev survey NAME`. It fetches the wheel named in the record, checks its hash, and lints its GPU code. Nothing of a
package is run or kept in this tree: a record holds names of kernels, offsets and counts.

*Kernels* are counted once for each image that holds them, in images for sm_90 and newer; older ones cannot overlap and are left alone.
*Only*: the package holds code for other architectures, which was not looked at (`--arch`). Each kernel is scanned for the two
instructions of programmatic dependent launch. One with neither cannot be judged without knowing how it is launched, and is counted.
One that *waits* is analysed along every path. *Early trigger* counts waiting kernels in which a thread can trigger before it has
waited. *Findings* are those above hint. The time is CPU time of lint and its tools for the whole package, on a machine with two cores
that did other work as well. Memory is that of the largest process.
"""


def records(folder: Path) -> list[dict[str, Any]]:
    """All of a folder, by name; BadArguments names one that is damaged."""
    found = []
    for file in sorted(folder.glob("*.json")):
        try:
            found.append(json.loads(file.read_text(encoding="utf-8")))
            found[-1]["total"], found[-1]["findings"]
        except (ValueError, LookupError, TypeError):
            raise BadArguments(f"{file} is not a record of the survey: write it again with `dev survey {file.stem}`") from None
    return found


def findings(record: Mapping[str, Any]) -> int:
    """Above hint."""
    return sum(int(group["count"]) for group in record["findings"])


def in_words(record: Mapping[str, Any]) -> str:
    """One package for a terminal."""
    total, cost = record["total"], record["cost"]
    lines = [f"{record['name']} {record['version']}: {total['kernels']:,} kernels, {total['waiting']:,} wait, "
             f"{total['triggering']:,} trigger, {total['both']:,} both, {total['trigger_before_wait']:,} may trigger before they wait; "
             f"{findings(record):,} findings above hint; {cost['cpu_s']:,.0f} s of CPU, {cost['largest_process_mb']:,} MB"]
    lines += [f"  {group['count']:>6} {group['rule']} in {group['kernels']} kernels {group['family']}" for group in record["findings"]]
    lines += [f"  {count:>6} times not read: {why}" for why, count in record["unreadable"].items()]
    return "\n".join(lines)


def as_markdown(all_records: list[dict[str, Any]], known: Mapping[str, Package], all_cases: list[Case]) -> str:
    """The page."""
    rest = match(all_cases, all_records)
    lines = [_HEAD, _sums(all_records), "",
             "| package | licence | architectures | kernels | wait | trigger | both | early trigger | findings | not read | CPU | memory |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    lines += [_row(record) for record in all_records]
    lines += _not_read(all_records)
    lines += _never_waiting(all_records)
    missing = sorted(set(known) - {str(r["name"]) for r in all_records})
    if missing:
        lines += ["", f"No record yet: {', '.join(missing)}."]
    lines += ["", "## What the findings mean", "",
              f"Every finding above hint belongs to one case of [{FILE}](survey/{FILE}). *Harmful if* names what else must hold.",
              "*Proved*: the case's page says on which GPU it went wrong, and how often. *Unproved*: nothing was seen to go wrong yet.", "",
              "| case | packages | rule | kernels | findings | state | because | proof |", "|---|---|---|---|---|---|---|---|"]
    lines += [_case_row(case) for case in all_cases if case.matched]
    if rest:
        lines += ["", "### Not classified yet", ""]
        lines += [f"- {name}: {group['rule']}, {group['count']} times in {group['kernels']} kernels `{group['family']}`"
                  for name, group in rest]
    return "\n".join(lines).rstrip() + "\n"


def _sums(all_records: list[dict[str, Any]]) -> str:
    """How much of what was scanned could be judged, and how far."""
    scanned, waiting, triggering, both = (sum(int(record["total"][key]) for record in all_records)
                                          for key in ("kernels", "waiting", "triggering", "both"))
    names = sum(int(record["kernel_names"]) for record in all_records)
    return (f"{len(all_records)} packages, {scanned:,} kernels scanned. A kernel that was compiled for several architectures or lies in "
            f"several images counts each time; {names:,} have\ndifferent names within their package. {waiting:,} wait and were "
            f"analysed along every path; {triggering - both:,} trigger and never wait; {scanned - waiting - triggering + both:,} do "
            "neither.")


def _row(record: Mapping[str, Any]) -> str:
    total, cost = record["total"], record["cost"]
    numbers = sorted(int(arch.removeprefix("sm_")) for arch in record["architectures"])
    architectures = ", ".join(map(str, numbers)) + (" only" if record["only"] else "")
    cells = [f"[{record['name']}](survey/{record['name']}.json) {record['version']}", record["licence"], architectures,
             *(f"{total[key]:,}" for key in ("kernels", "waiting", "triggering", "both", "trigger_before_wait")),
             f"{findings(record):,}", str(sum(record["unreadable"].values())), f"{cost['cpu_s']:,.0f} s",
             f"{cost['largest_process_mb']:,} MB"]
    return "| " + " | ".join(cells) + " |"


def _not_read(all_records: list[dict[str, Any]]) -> list[str]:
    rows = [f"- {record['name']}: {count} times: {why}" for record in all_records for why, count in record["unreadable"].items()]
    return ["", "Not read:", "", *rows] if rows else []


def _never_waiting(all_records: list[dict[str, Any]]) -> list[str]:
    rows = [f"- {record['name']}: `{family}` ({count})" for record in all_records
            for family, count in record["trigger_without_wait"].items()]
    return ["", "Kernels that trigger and never wait. That is right only if they are launched without overlap, which code does not say:",
            "", *rows] if rows else []


def _case_row(case: Case) -> str:
    packages = sorted({name for name, _ in case.matched})
    rules = sorted({group["rule"] for _, group in case.matched})
    kernels, count = (sum(int(group[key]) for _, group in case.matched) for key in ("kernels", "count"))
    title = f"[{case.title}]({case.page})" if case.page else case.title
    return (f"| {title} | {', '.join(packages)} | {', '.join(rules)} | {kernels:,} | {count:,} | {case.state} | {case.because} | "
            f"{case.proof} |")


def write(folder: Path, known: Mapping[str, Package]) -> None:
    """The page of this tree's records; into the folder itself if they lie elsewhere."""
    page = PAGE if folder.resolve() == PAGE.with_suffix("").resolve() else folder / PAGE.name
    page.write_text(as_markdown(records(folder), known, cases(folder) if (folder / FILE).is_file() else []), encoding="utf-8")
    print(page)
