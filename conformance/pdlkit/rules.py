"""Reads rules.toml, the one place where a rule is stated, and refuses every slip in it.

Everything downstream (the C tables, the runner, `list`) trusts what `load` returns, so each check here names
the entry at fault and the remedy.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pdlkit.axes import Axes, Axis, Never

PROFILES = ("smoke", "quick", "full", "soak")
CLASSES = ("documented", "derived", "measured")
RULE_KINDS = ("visibility", "start", "progress", "api")
WINDOWS = ("widened", "natural", "contended")
PATHS = ("stream", "captured", "built")
CAPABILITIES = {"stream": "streams", "captured": "captured graphs", "built": "built graphs"}  # what a path puts to the test
EVENTS = "events"
ROLES = ("proving", "observing")
TAG_KINDS = ("kernel", "host", "image", "control", "broken_wait")
ALLOWABLE = ("wrong", "early_start")  # outcomes that the documents may permit where a rule is only measured
INTERESTING = ("overlap",)
IMAGE_TAG_KINDS = ("kernel", "host", "image")  # the kinds that are compiled into an image of their own
BROKEN_WAIT_IMAGE = "brokenwait"
BASE_IMAGE = "base"

_RULE_ID = re.compile(r"[A-Z]+-[0-9]{2}[a-z]?")
_WORD = re.compile(r"[a-z][a-z0-9_]*")
_TAG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TOOLKIT = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})")
_SUITE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


class RulesError(Exception):
    """A slip in rules.toml: which entry, what is wrong with it, what to do."""


@dataclass(frozen=True)
class Tag:
    """One planted bug or control, declared once and listed by any number of cases."""

    tag: str
    kind: str
    text: str
    source: tuple[str, ...]
    flags: tuple[str, ...] = ()
    equivalent_candidate: str | None = None
    lint: tuple[str, ...] = ()  # the findings of which lint has to make one where hardware kills this
    lint_blind: str | None = None  # why lint cannot see it

    @property
    def symbol(self) -> str:
        """The tag as part of a C name."""
        return self.tag.replace("-", "_")


@dataclass(frozen=True)
class Case:
    """One rule exercised in one window and on one path."""

    rule: str
    rule_class: str
    kind: str
    core: bool
    family: str
    pair: str
    window: str
    path: str
    proving: bool
    broken_waits: bool
    gpu_only: bool
    min_cc: int
    min_toolkit: int
    trials: tuple[int, int, int, int]
    mutants: tuple[str, ...]
    controls: tuple[str, ...]
    allowed: tuple[str, ...] = ()  # counted, never a FAIL
    interesting: tuple[str, ...] = ()  # not required of a device, and reached by a model that is not timid
    serial: str | None = None  # why nothing overlaps on this path of the model
    events: bool = False  # it is about programmatic or launch-completion events

    @property
    def capability(self) -> str:
        """The part of programmatic launch that a verdict on this case speaks of."""
        return EVENTS if self.events else CAPABILITIES[self.path]

    @property
    def name(self) -> str:
        """RULE.pair.window.path."""
        return f"{self.rule}.{self.pair}.{self.window}.{self.path}"


@dataclass(frozen=True)
class Rule:
    """One testable sentence with its source and the cases that exercise it."""

    id: str
    rule_class: str
    kind: str
    core: bool
    text: str
    source: str
    min_cc: int
    min_toolkit: int
    note: str | None
    untestable: str | None
    no_device: str | None  # why no broken device of the model violates it
    cases: tuple[Case, ...]

    @property
    def mutants(self) -> tuple[str, ...]:
        """Every mutant that some proving case of this rule must kill, in order of first mention."""
        return tuple(dict.fromkeys(tag for case in self.cases for tag in case.mutants))

    @property
    def controls(self) -> tuple[str, ...]:
        """Every control that some proving case of this rule runs."""
        return tuple(dict.fromkeys(tag for case in self.cases for tag in case.controls))

    @property
    def families(self) -> tuple[str, ...]:
        """Families whose file holds this rule's kernels."""
        return tuple(dict.fromkeys(case.family for case in self.cases))


@dataclass(frozen=True)
class RuleBook:
    """All of rules.toml, checked."""

    suite: str
    digest: str
    tags: Mapping[str, Tag]
    rules: tuple[Rule, ...]
    _cases: Mapping[str, Case] = field(repr=False, default_factory=dict)
    axes: Axes = Axes((), ())

    @property
    def cases(self) -> tuple[Case, ...]:
        """Every case, in the file's order."""
        return tuple(self._cases.values())

    def case(self, name: str) -> Case | None:
        """The case of that name, if the book has it."""
        return self._cases.get(name)

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id, if the book has it."""
        return next((rule for rule in self.rules if rule.id == rule_id), None)

    @property
    def families(self) -> tuple[str, ...]:
        """Every family, in order of first mention."""
        return tuple(dict.fromkeys(case.family for case in self.cases))

    def images(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """(family, tag, nvcc -gencode list) of every image that the build must compile, sorted."""
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for case in self.cases:
            found[(case.family, BASE_IMAGE)] = ()
            for name in (*case.mutants, *case.controls):
                if self.tags[name].kind in IMAGE_TAG_KINDS:
                    found[(case.family, name)] = self.tags[name].flags
            if case.broken_waits:
                found[(case.family, BROKEN_WAIT_IMAGE)] = ()
        return [(family, tag, flags) for (family, tag), flags in sorted(found.items())]


class _Table:
    """One TOML table that knows its own name, so that every complaint can say where it is."""

    def __init__(self, where: str, data: Any) -> None:
        if not isinstance(data, dict):
            raise RulesError(f"{where} must be a table, not {type(data).__name__}")
        self.where, self._data, self._seen = where, data, set[str]()

    def fail(self, text: str) -> RulesError:
        return RulesError(f"{self.where}: {text}")

    def take(self, key: str, kind: type, default: Any = ...) -> Any:
        self._seen.add(key)
        if key not in self._data:
            if default is ...:
                raise self.fail(f"`{key}` is missing; add it")
            return default
        value = self._data[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.fail(f"`{key}` must be {_kind_name(kind)}, not {value!r}")
        if isinstance(value, str) and not value.strip():
            raise self.fail(f"`{key}` is empty; write it or leave it out")
        return value

    def has(self, key: str) -> bool:
        return key in self._data

    def word(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.take(key, str)
        return self.one_of(key, value, allowed)

    def one_of(self, key: str, value: str, allowed: tuple[str, ...]) -> str:
        if value not in allowed:
            raise self.fail(f"`{key}` is `{value}`, which nobody knows; use one of {', '.join(allowed)}")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        values = self.take(key, list, [])
        for value in values:
            if not isinstance(value, str) or not value.strip():
                raise self.fail(f"`{key}` must list words, and {value!r} is none")
        doubled = sorted({value for value in values if values.count(value) > 1})
        if doubled:
            raise self.fail(f"`{key}` names `{doubled[0]}` twice; name it once")
        return tuple(values)

    def finish(self) -> None:
        unknown = sorted(set(self._data) - self._seen)
        if unknown:
            known = ", ".join(sorted(self._seen))
            raise self.fail(f"unknown key `{unknown[0]}`; remove it or use one of {known}")


def _kind_name(kind: type) -> str:
    return {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}[kind]


def _read_tag(data: Any, index: int) -> Tag:
    table = _Table(f"[[mutant]] number {index + 1}", data)
    name = table.take("tag", str)
    table.where = f"mutant `{name}`"
    if not _TAG.fullmatch(name):
        raise table.fail("a tag is made of a-z, 0-9 and single `-`; rename it")
    if name in (BASE_IMAGE, BROKEN_WAIT_IMAGE) and data.get("kind") != "broken_wait":
        raise table.fail("this name is reserved for an image that the build always makes; rename it")
    tag = Tag(
        tag=name,
        kind=table.word("kind", TAG_KINDS),
        text=table.take("text", str),
        source=table.names("source"),
        flags=table.names("flags"),
        equivalent_candidate=table.take("equivalent_candidate", str, None),
        lint=table.names("lint"),
        lint_blind=table.take("lint_blind", str, None),
    )
    if tag.flags and tag.kind != "image":
        raise table.fail(f"`flags` is only for kind image, not {tag.kind}; remove it or change the kind")
    if tag.kind == "image" and not tag.flags:
        raise table.fail("kind image needs `flags`, the nvcc -gencode list of its image")
    if tag.lint and tag.lint_blind:
        raise table.fail("`lint` says what lint finds and `lint_blind` why it cannot; keep one of them")
    if (tag.lint or tag.lint_blind) and tag.kind not in IMAGE_TAG_KINDS:
        raise table.fail(f"lint judges machine code, and kind {tag.kind} plants nothing there; remove `lint`")
    for flag in tag.flags:
        if not re.fullmatch(r"[A-Za-z0-9_=,.]+", flag):
            raise table.fail(f"flag `{flag}` is no -gencode value such as arch=compute_80,code=sm_90")
    table.finish()
    return tag


def _read_needs(table: _Table) -> tuple[int, int]:
    needs = _Table(f"{table.where}, needs", table.take("needs", dict, {}))
    cc = needs.take("cc", int, 90)
    toolkit = needs.take("toolkit", str, "12.3")
    match = _TOOLKIT.fullmatch(toolkit)
    if not match:
        raise needs.fail(f"`toolkit` is `{toolkit}`; write it as major.minor, such as 12.3")
    if not 10 <= cc <= 999:
        raise needs.fail(f"`cc` is {cc}; write ten times the major plus the minor, such as 90")
    needs.finish()
    return cc, int(match[1]) * 1000 + int(match[2]) * 10


def _read_trials(table: _Table, kind: str) -> tuple[int, int, int, int]:
    trials = _Table(f"{table.where}, trials", table.take("trials", dict, {} if kind == "api" else ...))
    default: Any = 0 if kind == "api" else ...
    values = [trials.take(profile, int, default) for profile in PROFILES]
    trials.finish()
    for profile, value in zip(PROFILES, values, strict=True):
        if value < 0 or (value == 0 and kind != "api"):
            raise trials.fail(f"`{profile}` is {value}; a case without trials proves nothing, plan at least one")
    if values != sorted(values):
        raise trials.fail("a longer profile must not run fewer trials; make the numbers grow")
    return values[0], values[1], values[2], values[3]


def _read_windows(table: _Table, rule_class: str) -> dict[str, bool]:
    windows = table.take("windows", dict)
    if not windows:
        raise table.fail("`windows` is empty; name at least one of " + ", ".join(WINDOWS))
    for window, role in windows.items():
        table.one_of("windows", window, WINDOWS)
        table.one_of(f"windows.{window}", role, ROLES)
        if rule_class == "measured" and role == "proving":
            raise table.fail(f"window `{window}` is proving, but a measured rule only observes; make it observing")
    return {window: role == "proving" for window, role in windows.items()}


def _check_tags(table: _Table, tags: Mapping[str, Tag], key: str, names: tuple[str, ...], proving: bool) -> None:
    for name in names:
        if name not in tags:
            raise table.fail(f"`{key}` names `{name}`, which no [[mutant]] declares; declare it or correct the name")
        is_control = tags[name].kind == "control"
        if is_control != (key == "controls"):
            right = "controls" if is_control else "mutants"
            raise table.fail(f"`{name}` is of kind {tags[name].kind}; list it under `{right}`")
    if names and not proving:
        raise table.fail(f"has {key} but no proving window; make one window proving or remove them")


def _read_outcomes(
    table: _Table, rule: Rule, paths: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """What a case's trials may show beside the required: allowed, interesting, and on which paths neither can."""
    allowed = table.names("allowed")
    for outcome in allowed:
        table.one_of("allowed", outcome, ALLOWABLE)
    if allowed and rule.rule_class != "measured":
        raise table.fail(f"`allowed` is for measured rules; what a {rule.rule_class} rule's trials show is forbidden or required")
    interesting = table.names("interesting") if table.has("interesting") else INTERESTING if rule.kind == "visibility" else ()
    for outcome in interesting:
        table.one_of("interesting", outcome, INTERESTING)
    serial = table.take("serial", dict, {})
    for path, why in serial.items():
        table.one_of("serial", path, paths)
        if not isinstance(why, str) or not why.strip():
            raise table.fail(f"`serial.{path}` must say why nothing overlaps there")
    return allowed, interesting, serial


def _read_cases(data: Any, index: int, rule: Rule, tags: Mapping[str, Tag]) -> Iterator[Case]:
    table = _Table(f"rule `{rule.id}`, case {index + 1}", data)
    family, pair = table.take("family", str), table.take("pair", str)
    for key, value in (("family", family), ("pair", pair)):
        if not _WORD.fullmatch(value):
            raise table.fail(f"`{key}` is `{value}`; it becomes a C name, so use a-z, 0-9 and _")
    windows = _read_windows(table, rule.rule_class)
    paths = table.names("paths")
    if not paths:
        raise table.fail("`paths` is empty; name at least one of " + ", ".join(PATHS))
    for path in paths:
        table.one_of("paths", path, PATHS)
    mutants, controls = table.names("mutants"), table.names("controls")
    broken_waits = table.take("broken_waits", bool, False)
    proving = any(windows.values())
    if len(controls) > 1:  # the harness runs one among the trials of a case, and would leave the others out
        raise table.fail(f"has {len(controls)} controls; keep one, or state a second case for `{controls[1]}`")
    _check_tags(table, tags, "mutants", mutants, proving)
    _check_tags(table, tags, "controls", controls, proving)
    if broken_waits and not proving:
        raise table.fail("has broken_waits but no proving window; make one window proving or remove it")
    gpu_only, events = table.take("gpu_only", bool, False), table.take("events", bool, False)
    trials = _read_trials(table, rule.kind)
    allowed, interesting, serial = _read_outcomes(table, rule, paths)
    table.finish()
    for window, proves in windows.items():
        for path in paths:
            yield Case(
                rule=rule.id, rule_class=rule.rule_class, kind=rule.kind, core=rule.core, family=family, pair=pair,
                window=window, path=path, proving=proves, broken_waits=broken_waits and proves, gpu_only=gpu_only,
                min_cc=rule.min_cc, min_toolkit=rule.min_toolkit, trials=trials,
                mutants=mutants if proves else (), controls=controls if proves else (),
                allowed=allowed, interesting=interesting, serial=serial.get(path), events=events,
            )


def _read_rule(data: Any, index: int, tags: Mapping[str, Tag]) -> Rule:
    table = _Table(f"[[rule]] number {index + 1}", data)
    rule_id = table.take("id", str)
    table.where = f"rule `{rule_id}`"
    if not _RULE_ID.fullmatch(rule_id):
        raise table.fail("an id is capital letters, `-` and two digits, such as WAIT-01; rename it")
    min_cc, min_toolkit = _read_needs(table)
    bare = Rule(
        id=rule_id, rule_class=table.word("class", CLASSES), kind=table.word("kind", RULE_KINDS),
        core=table.take("core", bool, False), text=table.take("text", str), source=table.take("source", str),
        min_cc=min_cc, min_toolkit=min_toolkit, note=table.take("note", str, None),
        untestable=table.take("untestable", str, None), no_device=table.take("no_device", str, None), cases=(),
    )
    entries = table.take("case", list, [])
    table.finish()
    cases = tuple(case for i, entry in enumerate(entries) for case in _read_cases(entry, i, bare, tags))
    rule = Rule(**{**bare.__dict__, "cases": cases})
    _check_rule(table, rule)
    return rule


def _check_rule(table: _Table, rule: Rule) -> None:
    if rule.untestable and rule.cases:
        raise table.fail("is called untestable and has cases; remove one of the two")
    if not rule.cases and not rule.untestable:
        raise table.fail("has no case; add a [[rule.case]] or say in `untestable` why there can be none")
    if rule.core and rule.rule_class == "measured":
        raise table.fail("is core and measured; a measured rule cannot decide a verdict, so it cannot be core")
    if rule.core and not any(case.proving for case in rule.cases):
        raise table.fail("is core but no case proves it; make one window proving")
    names = [case.name for case in rule.cases]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise table.fail(f"makes the case `{doubled[0]}` twice; give one of them another pair, window or path")
    proved = any(case.proving for case in rule.cases)
    power = rule.mutants or rule.controls or any(case.broken_waits for case in rule.cases)
    if proved and not power and not rule.note:
        raise table.fail("proves without mutant, control or broken wait; add one or say in `note` why none applies")


def _read_axis(data: Any, index: int) -> Axis:
    table = _Table(f"[[axis]] number {index + 1}", data)
    axis = Axis(table.take("name", str), table.names("values"), table.take("core", bool, False))
    table.where = f"axis `{axis.name}`"
    for word in (axis.name, *axis.values):
        if not _WORD.fullmatch(word):
            raise table.fail(f"`{word}` becomes a C name, so use a-z, 0-9 and _")
    if len(axis.values) < 2:
        raise table.fail("`values` names fewer than two; an axis with one value is none")
    table.finish()
    return axis


def _read_never(data: Any, index: int, axes: Mapping[str, Axis]) -> Never:
    table = _Table(f"[[never]] number {index + 1}", data)
    when: dict[str, tuple[str, ...]] = {}
    chosen = table.take("when", dict)
    for name, values in chosen.items():
        if name not in axes:
            raise table.fail(f"`when` names the axis `{name}`, which no [[axis]] declares")
        if not isinstance(values, list) or not values or any(value not in axes[name].values for value in values):
            raise table.fail(f"`when.{name}` must list values of that axis: {', '.join(axes[name].values)}")
        when[name] = tuple(values)
    if len(when) < 2:
        raise table.fail("`when` names fewer than two axes; take the value off its axis instead")
    never = Never(when, table.take("reason", str))
    table.finish()
    return never


def _read_axes(table: _Table) -> Axes:
    found: dict[str, Axis] = {}
    for index, entry in enumerate(table.take("axis", list, [])):
        axis = _read_axis(entry, index)
        if axis.name in found:
            raise RulesError(f"axis `{axis.name}` is declared twice; keep one of them")
        found[axis.name] = axis
    nevers = [_read_never(entry, index, found) for index, entry in enumerate(table.take("never", list, []))]
    axes = Axes(tuple(found.values()), tuple(nevers))
    for place, axis in enumerate(axes.axes):
        for value in range(len(axis.values)):
            if not axes.can_stand(((place, value),)):
                raise RulesError(f"axis `{axis.name}`: no launch can hold its value `{axis.values[value]}`; a [[never]] forbids too much")
    return axes


def parse(text: bytes) -> RuleBook:
    """The rule book in these bytes; RulesError names the first slip."""
    try:
        data = tomllib.loads(text.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RulesError(f"this is no TOML: {error}") from None
    table = _Table("the file", data)
    suite = table.take("suite", str)
    if not _SUITE.fullmatch(suite):
        raise table.fail(f"`suite` is `{suite}`; write a version such as 0.1.0")
    tags: dict[str, Tag] = {}
    for index, entry in enumerate(table.take("mutant", list, [])):
        tag = _read_tag(entry, index)
        if tag.tag in tags:
            raise RulesError(f"mutant `{tag.tag}` is declared twice; keep one of them")
        tags[tag.tag] = tag
    rules: list[Rule] = []
    for index, entry in enumerate(table.take("rule", list, [])):
        rule = _read_rule(entry, index, tags)
        if any(other.id == rule.id for other in rules):
            raise RulesError(f"rule `{rule.id}` is stated twice; merge the two")
        rules.append(rule)
    axes = _read_axes(table)
    table.finish()
    if not rules:
        raise RulesError("the file states no rule; add a [[rule]]")
    cases = {case.name: case for rule in rules for case in rule.cases}
    return RuleBook(suite, hashlib.sha256(text).hexdigest()[:16], tags, tuple(rules), cases, axes)


def load(path: Path) -> RuleBook:
    """The rule book in this file; RulesError names the file and the first slip."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise RulesError(f"{path.name} cannot be read: {error.strerror}") from None
    try:
        return parse(text)
    except RulesError as error:
        raise RulesError(f"{path.name}: {error}") from None
