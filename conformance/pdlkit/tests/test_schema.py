"""The kit's own validator says of every keyword that it knows what the jsonschema package says."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from conformance.pdlkit.schema import problem

NESTED = {"$defs": {"count": {"type": "integer", "minimum": 0}}, "properties": {"n": {"$ref": "#/$defs/count"}}}
BRANCHES = {"if": {"type": "string"}, "then": {"pattern": "^a"}, "else": {"type": "integer"}}
# A schema, then what it takes, then what it refuses: on both sides of each edge.
TABLE: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"const": 1}, [1, 1.0], [True, 2, "1", None, [1]]),
    ({"const": True}, [True], [1, "true", False]),
    ({"const": 0}, [0], [False, None, ""]),
    ({"enum": [0, 1, "a", None]}, [0, 1, "a", None], [False, True, "b", 2, []]),
    ({"enum": [False]}, [False], [0, None]),
    ({"type": "integer"}, [0, -3, 2.0], [True, 2.5, "2", None]),
    ({"type": "number"}, [0, 2.5], [False, "2"]),
    ({"type": ["string", "null"]}, ["", None], [0, [], {}, False]),
    ({"type": "boolean"}, [True], [1, None]),
    ({"pattern": "^[0-9a-f]{4}$"}, ["0a1f", 5], ["0a1", "0a1f0", "\n0a1f"]),
    ({"pattern": "^WAIT"}, ["WAIT-01\n"], ["wait", " WAIT"]),
    ({"minimum": 1}, [1, "0", True], [0, 0.999, -1]),
    ({"maximum": 1}, [1, "2"], [2, 1.001]),
    ({"exclusiveMinimum": 0}, [0.001, 1], [0, 0.0, -1]),
    ({"minItems": 2}, [[1, 2], [1, 2, 3], "a"], [[], [1]]),
    ({"maxItems": 2}, [[], [1, 2]], [[1, 2, 3]]),
    ({"items": {"type": "integer"}}, [[], [1, 2, 3]], [["a", 1, 1], [1, "a", 1], [1, 1, "a"]]),
    ({"required": ["a", "b"]}, [{"a": 1, "b": None}, []], [{}, {"a": 1}, {"b": 1}]),
    ({"properties": {"a": {"const": 1}, "b": False}}, [{}, {"a": 1}, {"c": 0}, []], [{"a": 2}, {"b": 1}]),
    ({"properties": {"a": True}, "additionalProperties": False}, [{"a": 1}, {}], [{"b": 1}, {"a": 1, "b": 1}]),
    ({"properties": {"a": True}, "additionalProperties": {"type": "null"}}, [{"a": 1, "b": None}], [{"b": 1}, {"b": None, "c": 0}]),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1, 2], [0, 3]),
    ({"anyOf": [{"const": 1}, {"type": "string"}]}, [1, "a"], [2, None, True]),
    ({"not": {"const": 1}}, [0, True, None], [1]),
    (BRANCHES, ["ab", 3], ["b", None, 2.5]),
    ({"if": {"type": "string"}, "else": {"type": "null"}}, ["a", None], [1, []]),
    ({"if": {"type": "string"}, "then": {"pattern": "^a"}}, ["a", 1], ["b"]),
    (NESTED, [{}, {"n": 0}, []], [{"n": -1}, {"n": True}, {"n": None}]),
    ({"title": "t", "description": "d"}, [None, 1], []),
]


@pytest.mark.parametrize(("schema", "right", "wrong"), TABLE, ids=[", ".join(schema) for schema, *_ in TABLE])
def test_each_keyword_takes_and_refuses_what_jsonschema_does(schema: dict[str, Any], right: list[Any], wrong: list[Any]) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    for value, taken in (*((value, True) for value in right), *((value, False) for value in wrong)):
        assert validator.is_valid(value) is taken, f"{value!r}: the table is wrong"
        assert (problem(value, schema) is None) is taken, repr(value)


def test_a_text_with_a_line_after_it_is_not_the_text() -> None:
    """In JSON Schema `$` is the end of the text; Python's, and so the jsonschema package's, is also before a last newline."""
    assert problem("0a1f\n", {"pattern": "^[0-9a-f]{4}$"}) is not None


def test_the_place_of_what_is_wrong_is_said() -> None:
    schema = {"properties": {"rows": {"items": {"properties": {"n": {"minimum": 1}}}}}}
    assert problem({"rows": [{"n": 1}, {"n": 0}]}, schema) == "rows[1].n is 0, below 1"


def test_a_keyword_that_it_does_not_know_is_an_error_of_the_schema() -> None:
    with pytest.raises(AttributeError):
        problem(3, {"multipleOf": 2})
