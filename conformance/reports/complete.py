"""Is this report whole enough to be shown? Kinds and required parts, as report.schema.json states them; `submit` checks all of it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import SCHEMA
from conformance.pdlkit.read_report import read_report

_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
Schema = dict[str, Any]


@cache
def report_schema() -> Schema:
    """The schema of a report."""
    return dict(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _resolved(schema: Schema) -> Schema:
    while "$ref" in schema:
        schema = report_schema()["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def _is_a(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and not (isinstance(value, bool) and kind in ("integer", "number"))


def shape_problem(value: Any, schema: Schema, where: str = "the report") -> str | None:
    """The first part that is missing or of the wrong kind; None if there is none."""
    schema = _resolved(schema)
    for part in schema.get("allOf", []):
        if "if" not in part and (problem := shape_problem(value, part, where)):
            return problem
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_a(value, kind) for kind in kinds):
        return f"{where} is not of kind {' or '.join(kinds)}"
    if "const" in schema and value != schema["const"]:
        return f"{where} is {value!r:.60} instead of {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is {value!r:.60}, which is none of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, dict):
        missing = [key for key in schema.get("required", []) if key not in value]
        if missing:
            return f"{where} has no {missing[0]}"
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties")
        for key, entry in value.items():
            part = known.get(key, rest if isinstance(rest, dict) else {})
            if problem := shape_problem(entry, part, f"{where}'s {key}" if where != "the report" else key):
                return problem
    if isinstance(value, list) and "items" in schema:
        for index, entry in enumerate(value):
            if problem := shape_problem(entry, schema["items"], f"{where}[{index}]"):
                return problem
    return None


def read_complete(path: Path) -> dict[str, Any]:
    """The report in this file or folder, or BadArguments with what it lacks."""
    report = read_report(path)
    problem = shape_problem(report, report_schema())
    if problem:
        raise BadArguments(f"{path} is not a complete report: {problem}; name a report.json that `run` wrote")
    return report
