"""Prints, from a report.json, what this device does where the documents disagree or are silent.

    python3 conformance dev ambiguities REPORT.json > conformance/results/NAME-ambiguities.md
    python3 conformance dev ambiguities REPORT.json --json > conformance/results/NAME-ambiguities.json

One line per question and case: claim A, claim B, which one the device followed, in how many trials, and the bound that
goes with it. A measured answer is about one device and one driver; it is never a rule.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK
from conformance.pdlkit.read_report import read_report

NAMED = 6  # of many things that were asked with one answer
_OF = re.compile(r", of (\d+)$")
WRONG_WORDS = ("stale", "poison", "misplaced", "torn", "foreign")
_ITEMS = ("memset", "copy", "copy2d", "to_host", "to_gpu", "event", "timed", "host", "old", "own", "through", "graph", "kernels", "alloc",
          "prefetch", "memop")
Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """One contested point. `a` is what wrong words or an early start contradict; overlap: the question is about that."""

    id: str
    text: str
    a: str
    b: str
    cases: tuple[str, ...]  # RULE.pair, every window and path of it
    overlap: bool = False
    bare: bool = False  # an answer needs no overlap: that nothing began early is one


QUESTIONS = (
    Question("B34, B45", "When does the wait return?", "when the primary has completed and its memory is visible",
             "when every block has triggered", ("WAIT-01.store.widened", "WAIT-01.overwrite.widened")),
    Question("B45, FE-12", "Does a kernel without the attribute begin early after one that triggers?", "no", "yes", ("ATTR-03.plain",)),
    Question("B53", "Does a wait after a kernel that never triggers return?", "yes", "no, it hangs", ("WAIT-10.notrigger",)),
    Question("FE-13", "Does one thread's trigger count for its block?", "yes: overlap", "no, all threads have to", ("TRIG-06.one",), True),
    Question("TRIG-05", "Do repeated triggers of some blocks stand in for those of others?", "no", "yes", ("TRIG-05.repeat",)),
    Question("AMB-01", "Does the wait reach back over a kernel that did not wait?", "yes, to all grids in flight",
             "no, to direct dependencies only",
             ("WAIT-08.silent", "WAIT-08.mute", "WAIT-08.partial", "WAIT-08.leavers", "FWD-05.deep")),
    Question("AMB-02", "Does what follows a non-waiting kernel also come after the kernel before it?", "yes", "no",
             ("MEM-06.behind", "WAIT-11.behind_copy", "WAIT-11.behind_memset", "WAIT-11.behind_event", "MEM-09.host_end")),
    Question("AMB-03", "Is a wait in a plainly launched kernel harmless?", "yes, everything is visible", "no",
             ("WAIT-04.plain", "COMP-07.idle"), bare=True),
    Question("AMB-04", "May a dependent begin, or miss stores, after a primary that never triggers?",
             "no: the end comes with its memory", "yes: an implicit trigger comes before the flush", ("TRIG-04.implicit",), bare=True),
    Question("AMB-05", "Are stores before an unfenced trigger visible to a dependent that does not wait?",
             "yes: start of a task synchronises", "no: programmatic launches are the exception", ("TRIG-08.unfenced",)),
    Question("AMB-06", "Are stores before a fence and a trigger visible to a dependent that does not wait?", "yes", "no",
             ("MEM-03.fence_each", "MEM-03.fence_one", "MEM-03.fence_system")),
    Question("AMB-06", "The same from another memory-sync domain, the fence being of scope gpu?", "yes", "no: domains differ",
             ("MEM-03a.fence_domain",)),
    Question("AMB-07", "Is a line that was read through the read-only path before the wait read afresh after it?", "yes", "no",
             ("MEM-02.read_only",)),
    Question("AMB-07", "The same for a texture?", "yes", "no", ("MEM-02.texture_lines",)),
    Question("AMB-08", "Does one thread's wait serve others that synchronise with it?", "yes", "no",
             ("WAIT-07.block", "WAIT-07.warp", "WAIT-07.flag", "WAIT-07.barrier", "COMP-02b.cooperative_grid")),
    Question("AMB-08", "Do threads that do not wait run on beside those that do?", "yes", "not seen", ("WAIT-06.free",), True),
    Question("AMB-09", "Does the wait cover a programmatic event's kernel, the dependent having no attribute?", "yes", "no",
             ("EVT-11.covered",)),
    Question("AMB-09", "The same, the dependent having the attribute?", "yes", "no", ("EVT-11.covered_attr",)),
    Question("AMB-09", "Does the attribute on a dependent after an ordinary event leave that event's order alone?", "yes", "no",
             ("ATTR-11.attributed",), bare=True),
    Question("AMB-09", "Does a waiter keep to the launch that recorded its event, once that event is recorded again after the launch?",
             "yes: it still overlaps", "not seen", ("EVT-07a.recorded_late",), True),
    Question("AMB-10", "What does capture make of a launch-completion event, and of other things that the table leaves out?", "", "",
             ("EDGE-30a.table", "EVT-12.waiters")),
    Question("AMB-11", "Does a wait after a launch-completion edge cover its kernel?", "yes", "no", ("EDGE-07.launched",)),
    Question("AMB-11", "The same for a launch-completion event?", "yes", "no", ("EVT-09.completion",)),
    Question("AMB-12", "Which codes do illegal edges and events get, and when?", "", "",
             ("EDGE-08.codes", "EDGE-04.reserved", "EDGE-16a.other_data", "EDGE-19b.pending", "EVT-05.events", "EVT-06.flags",
              "ATTR-06.elsewhere", "ATTR-12.refused")),
    Question("AMB-13", "What do queries say that only count, or have room for data alone?", "", "", ("EDGE-15.counting",)),
    Question("AMB-14", "Does the wait cover in clones, updated graphs, child graphs and conditional bodies?", "yes", "no",
             ("EDGE-24.cloned", "EDGE-24.updated", "EDGE-25.child", "EDGE-26.body")),
    Question("AMB-14", "Which codes do updates of edge data, device launches, updatable and disabled nodes get?", "", "",
             ("EDGE-23.retyped", "EDGE-26a.special", "EDGE-27.disabled")),
    Question("AMB-15", "Which way does cudaGraphKernelNodeCopyAttributes copy?", "", "", ("ATTR-06a.copied",)),
    Question("AMB-16", "What stands between keeps the attribute from taking effect?", "no: overlap", "no overlap seen",
             tuple(f"COMP-05.{item}" for item in _ITEMS), True),
    Question("AMB-16", "Behind such an item, is everything visible without a wait?", "yes", "no",
             tuple(f"COMP-05a.{item}_bare" for item in _ITEMS), bare=True),
    Question("AMB-17", "Does a block's exit count as its trigger?", "yes: overlap", "not seen", ("TRIG-03.leave",), True),
    Question("AMB-19", "Does a cooperative dependent overlap?", "yes", "not seen", ("COMP-02a.cooperative_dependent",), True),
    Question("AMB-19", "Do other launches with the attribute overlap: clusters, cooperative primary, default streams?", "yes", "not seen",
             ("COMP-01.cluster", "COMP-01b.preferred", "COMP-02.cooperative_primary", "COMP-06.per_thread", "COMP-06.legacy",
              "COMP-15a.modules"), True),
    Question("AMB-19", "Does a kernel overlap at its first launch, when its code is still to be loaded?", "", "", ("COMP-15.lazy",)),
    Question("AMB-20", "Do pairs overlap in a green context, and does the wait hold there?", "", "", ("TOOL-05.green",)),
    Question("AMB-22", "Are a dependent's stores before its wait held back until the primary has read?", "yes", "no",
             ("MEM-05.early_store",)),
    Question("AMB-23", "Do doubled attributes and values other than 0 and 1 allow overlap?", "yes", "not seen",
             ("ATTR-09.on_off", "ATTR-09.off_on", "ATTR-09.two", "ATTR-09.minus"), True),
    Question("AMB-23", "Which codes do such launches get?", "", "", ("ATTR-09a.odd",)),
    Question("B44", "Does the wait order the asynchronous proxy?", "yes", "no",
             ("MEM-01c.bulk_store", "MEM-01c.bulk_load", "MEM-01d.tensor_store", "MEM-01d.tensor_load")),
    Question("MEM-01", "Does the wait cover what is read through a texture, or lies in host, managed or another GPU's memory?", "yes", "no",
             ("MEM-01d.texture", "MEM-01b.host", "MEM-01b.managed", "MEM-01b.peer")),
    Question("MEM-07", "Does the reader of a rewritten tensor map find the new one after its wait and a proxy fence?", "yes", "no",
             ("MEM-07.rewritten",)),
    Question("F16", "How often did the last of ten kernels begin while the first was held?", "yes", "not seen", ("FWD-05.deep",), True),
)


def bound95(n: int) -> str:
    """Upper 95 % bound of a rate of which n trials showed nothing."""
    return f"{-math.expm1(math.log(0.05) / n):.1e}" if n > 0 else "-"


def floor95(k: int, n: int) -> str:
    """Lower 95 % bound of a rate that showed k times in n trials, by Chernoff: never too high, and exact where k is n."""
    def surprise(p: float) -> float:
        return (k * math.log(k / (n * p)) if k else 0.0) + ((n - k) * math.log((n - k) / (n * (1 - p))) if k < n else 0.0)

    low, high = 1e-300, k / n
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if surprise(middle) > math.log(20) else (low, middle)
    return f">= {math.floor(low * 1e4) / 1e4:.4f}" if low >= 0.001 else f">= {low:.1e}"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"


def _together(whats: list[str]) -> str:
    """What was asked with one answer: a few by name."""
    names = list(dict.fromkeys(whats))
    return " / ".join(names if len(names) <= NAMED else [*names[:NAMED - 1], f"{len(names) - NAMED + 1} more"])


def _answers(entry: Entry) -> str | None:
    """Every answer of a case that only asks, each once; a reason holds but the first few."""
    groups: dict[str, list[str]] = {}
    for row in entry.get("answers") or ():
        groups.setdefault(row["answer"], []).append(row["what"])
    return "; ".join(f"{_together(whats)}: {answer}" for answer, whats in groups.items()) or entry["reason"]


def _answers_bound(entry: Entry) -> str:
    """The bound of what was asked so many times (`..., of 200`) and never seen; the widest of several."""
    asked = [int(found[1]) for row in entry.get("answers") or () if row["answer"] == "0" and (found := _OF.search(row["what"]))]
    return bound95(min(asked)) if asked else "-"


def wrong_trials(outcomes: Mapping[str, int]) -> int:
    """Trials with wrong words or an early start; one that has both is one."""
    return max(sum(outcomes.get(name, 0) for name in WRONG_WORDS), outcomes.get("early_start", 0))


def answer(question: Question, entry: Entry) -> tuple[str, str, str]:
    """Which claim, the counts, the bound."""
    if entry["kind"] == "api" or entry["status"] not in ("PASS", "FAIL", "INCONCLUSIVE"):
        said = entry["reason"] if entry["kind"] != "api" else f"{entry['trials']['run']:,} answers: {_answers(entry)}"
        return (entry["status"] if question.a else "-"), said or entry["status"], _answers_bound(entry)
    run, exercised = entry["trials"]["run"], entry["trials"]["exercised"]
    wrong = wrong_trials(entry["outcomes"])
    overlap = entry["outcomes"].get("overlap", 0)
    if question.overlap:
        return ("A" if overlap else "B"), f"overlap {_share(overlap, run)}; wrong {wrong:,}", \
            floor95(overlap, run) if overlap else bound95(run)
    if wrong:
        return "B", f"wrong {_share(wrong, run)}; overlap {overlap:,}", floor95(wrong, run)
    if exercised:
        return "A", f"wrong 0 of {exercised:,} exercised", bound95(exercised)
    if question.bare:
        return "A", f"wrong 0 of {run:,}; overlap {overlap:,}", bound95(run)
    return "-", f"never exercised in {run:,}", "-"


def _chosen(question: Question, tests: Sequence[Entry]) -> Iterator[Entry]:
    for name in question.cases:
        yield from (test for test in tests if test["name"].startswith(name + "."))


def rows(tests: Sequence[Entry]) -> Iterator[tuple[str, ...]]:
    """The table's rows."""
    for question in QUESTIONS:
        for entry in _chosen(question, tests):
            follows, counts, bound = answer(question, entry)
            yield question.id, question.text, question.a, question.b, entry["name"], follows, counts, bound


def contested(tests: Sequence[Entry]) -> list[dict[str, Any]]:
    """The table for a report: one entry per question and case, in the order of the questions."""
    keys = ("id", "question", "claim_a", "claim_b", "case", "follows", "counts", "bound")
    return [dict(zip(keys, row, strict=True)) for row in rows(tests)]


def mixes(tests: Sequence[Entry]) -> list[str]:
    """Which mixes of launches overlapped, beside what pdl.h had estimated (FWD-06a)."""
    answers = [pair for test in tests if test["name"].startswith("FWD-06a.") for pair in test.get("answers") or ()]
    if not answers:
        return []
    out = ["", "## Which mixes of launches overlap", "",
           "Counted, never asserted: overlap is nobody's promise. The estimate is `pdl_overlap_estimate`'s. Agree: both say that they "
           "overlap, or both that they do not.", "", "| mix | measured | estimated | agree |", "|---|---|---|---|"]
    for pair in answers:
        measured, _, estimated = pair["answer"].partition("; estimated ")
        known = estimated and (measured.startswith("overlapped 0 ") == estimated.startswith("no"))
        out.append(f"| {pair['what']} | {measured} | {estimated or '-'} | {('yes' if known else '**no**') if estimated else '-'} |")
    return out


def text(report: Mapping[str, Any]) -> str:
    """The Markdown page."""
    device, driver = report["device"], report["driver"]
    out = ["# Where the documents disagree or are silent", "",
           f"{device.get('name', 'device')}, driver {driver.get('version') or driver.get('cuda', '?')}, toolkit "
           f"{driver.get('toolkit', '?')}, profile "
           f"{report['run']['profile']}, seed {report['run']['seed']}. Made by `conformance dev ambiguities` from a report; "
           "one device, one driver, no promise.", "",
           "Follows: the claim that the counts fit. Bound, with 95 % confidence: the rate of what was not seen is at most this, or (>=) "
           "that of what was seen at least; where calls were answered there is no rate. Version 13000 is 13.0. "
           "An edge is from_port,to_port,type; all answers about edges and captures stand in the page of graphs beside this one, what the "
           "device itself launches (AMB-19) in the lines of pdl-from-device, profilers, sanitizers and an MPS server (AMB-20) in the page "
           "of environments. MIG was not to be had: it takes a device whose owner has partitioned it.", "",
           "| question | claim A | claim B | case | follows | counts | bound |", "|---|---|---|---|---|---|---|"]
    shown = ""
    for id_, question, a, b, name, follows, counts, bound in rows(report["tests"]):
        key = f"{id_}: {question}"
        head = (key, a, b) if key != shown else ("", "", "")
        shown = key
        out.append("| " + " | ".join((*head, f"`{name}`", follows, counts.replace("|", "/"), bound)) + " |")
    return "\n".join([*out, *mixes(report["tests"])]) + "\n"


def main(argv: list[str]) -> int:
    """The tool `dev ambiguities`; 0 done, 64 bad arguments."""
    parser = Parser("dev ambiguities", "write what a device does where the documents disagree or are silent, from a report")
    parser.add_argument("report", type=Path, metavar="REPORT.json", help="what `run` wrote, or its folder")
    parser.add_argument("--json", action="store_true", help="JSON instead of a page")
    options = parser.parse_args(argv)
    report = read_report(options.report)
    sys.stdout.write(json.dumps(contested(report["tests"]), indent=1) + "\n" if options.json else text(report))
    return OK
