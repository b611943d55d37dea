"""Checks data against the part of JSON Schema that report.schema.json uses; the standard library has no validator.

test_schema.py compares it with the jsonschema package. A keyword that it does not know is an error of the schema, never ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Json = Any
_TYPES: dict[str, Callable[[Json], bool]] = {
    "object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list), "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool), "null": lambda v: v is None,
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v.is_integer(),
}
_ANNOTATIONS = {"$schema", "$defs", "title", "description", "then", "else"}  # `then` and `else` are read with their `if`
_MOST_SHOWN = 60


def problem(value: Json, schema: Mapping[str, Json]) -> str | None:
    """The first thing that is wrong with the value, with its place; None if it is valid."""
    return next(_Checker(schema).problems(value, schema, ""), None)


def _same(a: Json, b: Json) -> bool:
    """Equal as JSON has it: true is not 1."""
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def _shown(value: Json) -> str:
    text = ascii(value)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."


class _Checker:
    def __init__(self, root: Mapping[str, Json]) -> None:
        self._root = root

    def problems(self, value: Json, schema: Mapping[str, Json] | bool, place: str) -> Iterator[str]:
        if isinstance(schema, bool):
            if not schema:
                yield f"{place or 'it'} must not be there"
            return
        for keyword, rule in schema.items():
            if keyword not in _ANNOTATIONS:
                yield from getattr(self, "_" + keyword.lstrip("$"))(value, rule, place, schema)

    def _valid(self, value: Json, schema: Mapping[str, Json], place: str) -> bool:
        return next(self.problems(value, schema, place), None) is None

    def _ref(self, value: Json, rule: str, place: str, _: Mapping[str, Json]) -> Iterator[str]:
        yield from self.problems(value, self._root["$defs"][rule.removeprefix("#/$defs/")], place)

    def _type(self, value: Json, rule: str | list[str], place: str, _: Mapping[str, Json]) -> Iterator[str]:
        names = [rule] if isinstance(rule, str) else rule
        if not any(_TYPES[name](value) for name in names):
            yield f"{place or 'it'} is {_shown(value)}, which is not of type {' or '.join(names)}"

    def _const(self, value: Json, rule: Json, place: str, _: Mapping[str, Json]) -> Iterator[str]:
        if not _same(value, rule):
            yield f"{place or 'it'} is {_shown(value)} instead of {_shown(rule)}"

    def _enum(self, value: Json, rule: list[Json], place: str, _: Mapping[str, Json]) -> Iterator[str]:
        if not any(_same(value, allowed) for allowed in rule):
            yield f"{place or 'it'} is {_shown(value)}, which is none of {', '.join(map(str, rule))}"

    def _pattern(self, value: Json, rule: str, place: str, _: Mapping[str, Json]) -> Iterator[str]:
        if isinstance(value, str) and not re.search(rule.removesuffix("$") + r"\Z" if rule.endswith("$") else rule, value):
            yield f"{place} is {_shown(value)}, which cannot be"

    def _minimum(self, value: Json, rule: float, place: str, _: Mapping[str, Json]) -> Iterator[str]:
        if _TYPES["number"](value) and not value >= rule:
            yield f"{place} is {_shown(value)}, below {rule}"

    def _maximum(self, value: Json, rule: float, place: str, _: Mapping[str, Json]) -> Iterator[str]:
        if _TYPES["number"](value) and not value <= rule:
            yield f"{place} is {_shown(value)}, above {rule}"

    def _exclusiveMinimum(self, value: Json, rule: float, place: str, _: Mapping[str, Json]) -> Iterator[str]:  # noqa: N802
        if _TYPES["number"](value) and not value > rule:
            yield f"{place} is {_shown(value)}, not above {rule}"

    def _required(self, value: Json, rule: list[str], place: str, _: Mapping[str, Json]) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (f"{place or 'it'} has no `{name}`" for name in rule if name not in value)

    def _properties(self, value: Json, rule: Mapping[str, Json], place: str, _: Mapping[str, Json]) -> Iterator[str]:
        if isinstance(value, dict):
            for name, schema in rule.items():
                if name in value:
                    yield from self.problems(value[name], schema, f"{place}.{name}" if place else name)

    def _additionalProperties(self, value: Json, rule: Json, place: str, schema: Mapping[str, Json]) -> Iterator[str]:  # noqa: N802
        if isinstance(value, dict):
            for name in value.keys() - schema.get("properties", {}).keys():
                yield from self.problems(value[name], rule, f"{place}.{_shown(name)}" if place else _shown(name))

    def _items(self, value: Json, rule: Mapping[str, Json], place: str, _: Mapping[str, Json]) -> Iterator[str]:
        if isinstance(value, list):
            for index, entry in enumerate(value):
                yield from self.problems(entry, rule, f"{place}[{index}]")

    def _maxItems(self, value: Json, rule: int, place: str, _: Mapping[str, Json]) -> Iterator[str]:  # noqa: N802
        if isinstance(value, list) and len(value) > rule:
            yield f"{place} has {len(value)} entries, more than {rule}"

    def _minItems(self, value: Json, rule: int, place: str, _: Mapping[str, Json]) -> Iterator[str]:  # noqa: N802
        if isinstance(value, list) and len(value) < rule:
            yield f"{place} has {len(value)} entries, fewer than {rule}"

    def _allOf(self, value: Json, rule: list[Mapping[str, Json]], place: str, _: Mapping[str, Json]) -> Iterator[str]:  # noqa: N802
        for schema in rule:
            yield from self.problems(value, schema, place)

    def _anyOf(self, value: Json, rule: list[Mapping[str, Json]], place: str, _: Mapping[str, Json]) -> Iterator[str]:  # noqa: N802
        if not any(self._valid(value, schema, place) for schema in rule):
            yield f"{place or 'it'} fits none of the forms it may have"

    def _not(self, value: Json, rule: Mapping[str, Json], place: str, _: Mapping[str, Json]) -> Iterator[str]:
        if self._valid(value, rule, place):
            yield f"{place or 'it'} has a form that is ruled out"

    def _if(self, value: Json, rule: Mapping[str, Json], place: str, schema: Mapping[str, Json]) -> Iterator[str]:
        branch = schema.get("then" if self._valid(value, rule, place) else "else")
        if branch is not None:
            yield from self.problems(value, branch, place)
