"""The page of edges, captures and queries."""

from __future__ import annotations

import json
from typing import Any

from conformance.pdlkit import graph_tables, places
from conformance.pdlkit.rules import load


def a_report(**answers: list[tuple[str, str]]) -> dict[str, Any]:
    tests = [
        {"name": name.replace("__", "-").replace("_in_", ".") + ".widened.built",
         "answers": [{"what": what, "answer": answer} for what, answer in rows]}
        for name, rows in answers.items()
    ]
    return {"device": {"name": "a device"}, "driver": {"version": "1.2"}, "tests": tests}


def test_captures_are_told_once_and_by_their_edges() -> None:
    text = graph_tables.page(a_report(
        EDGE__11_in_attribute=[("attribute", "P>D 1,0,1"), ("D", "cudaSuccess")],
        EDGE__30_in_no_kernel=[("attribute", "P>D 1,0,1"), ("memset", "cudaSuccess"), ("memset", "P>memset 0,0,0")]))
    assert text.count("| attribute |") == 1
    assert "| attribute | P>D 1,0,1 | `EDGE-11` |" in text
    assert "| memset | P>memset 0,0,0 | `EDGE-30` |" in text
    assert "cudaSuccess" not in text


def test_kinds_of_one_answer_stand_together() -> None:
    text = graph_tables.page(a_report(EDGE__08_in_codes=[
        ("kernel to host", "cudaSuccess: 0,0,0; cudaErrorInvalidValue: 1,0,0"),
        ("host to kernel", "cudaSuccess: 0,0,0"),
        ("kernel to empty", "cudaSuccess: 0,0,0; cudaErrorInvalidValue: 1,0,0")]))
    assert "| kernel to host; kernel to empty | cudaSuccess: 0,0,0<br>cudaErrorInvalidValue: 1,0,0 |" in text
    assert "| host to kernel | cudaSuccess: 0,0,0 |" in text


def test_what_is_answered_alike_stands_there_once() -> None:
    text = graph_tables.page(a_report(EDGE__14_in_lossy=[
        ("edges of the graph", "cudaErrorLossyQuery"), ("edges of the graph", "cudaSuccess"),
        ("edges of the graph", "cudaErrorLossyQuery")]))
    assert "| `EDGE-14.lossy` | edges of the graph | cudaErrorLossyQuery, 2 times |\n|  | edges of the graph | cudaSuccess |" in text


def test_the_page_names_cases_of_the_rule_book() -> None:
    known = {f"{case.rule}.{case.pair}" for case in load(places.KIT / "rules.toml").cases}
    assert {*graph_tables.CAPTURED, graph_tables.MATRIX, *graph_tables.ANSWERS} <= known


def test_recorded_pages_are_what_their_reports_give() -> None:
    pages = sorted((places.KIT / "results").glob("*-graphs.md"))
    for page in pages:
        report = json.loads(page.with_name(page.name.replace("-graphs.md", "-full.json")).read_text(encoding="utf-8"))
        assert page.read_text(encoding="utf-8") == graph_tables.page(report), f"{page.name}: `dev graph-tables` writes it anew"
    assert pages
