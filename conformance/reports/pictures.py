"""Pictures in a page, as inline SVG: the timeline of a trial, and a share as a bar. Colours come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.reports.markup import Markup, element

WIDTH, LEFT, RIGHT = 640, 92, 24
_ROW, _BAR = 30, 16


def counted(part: int, whole: int) -> Markup:
    """A bar that is filled to part/whole, and the two numbers, which say the same to a screen reader; a dash where nothing was counted."""
    if whole <= 0:
        return Markup("–")
    filled = max(0.0, min(1.0, part / whole)) * 100
    bar = element("i", style=f"--share:{filled:.1f}%", aria_hidden="true")
    return element("span", bar, f" {part:,} of {whole:,}", class_="counted")


def _numbers(trial: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    state = trial.get("state") or {}
    read = [state.get(f"{name}_ns") for name in ("primary_store", "dependent_begin", "dependent_waited")]
    store, begin, waited = (float(value) if isinstance(value, int | float) else None for value in read)
    return store, begin, waited


def has_timeline(trial: Mapping[str, Any]) -> bool:
    """Whether the record holds the moments that a timeline needs."""
    store, begin, _ = _numbers(trial)
    return store is not None and begin is not None


def timeline(trial: Mapping[str, Any], unit: str) -> Markup:
    """When the primary stored its last word, when the dependent began, and when its wait returned; 0 is the primary's begin."""
    store, begin, waited = _numbers(trial)
    assert store is not None and begin is not None
    moments = [0.0, store, begin, *([waited] if waited is not None else [])]
    low, high = min(moments), max(moments)
    scale = (WIDTH - LEFT - RIGHT) / ((high - low) or 1.0)

    def x(moment: float) -> float:
        return round(LEFT + (moment - low) * scale, 1)

    end = waited if waited is not None else high
    words = (
        f"The primary begins at 0 {unit} and stores its last word at {store:,.0f} {unit}. "
        f"The dependent begins at {begin:,.0f} {unit}" + (f" and its wait returns at {waited:,.0f} {unit}." if waited is not None else ".")
    )
    parts = [element("title", words)]
    if waited is not None and waited < store:
        parts.append(element("rect", x=x(waited), y=4, width=max(1.0, x(store) - x(waited)), height=2 * _ROW, class_="too-early"))
    parts += _bar("primary", 0, x(0), x(store))
    parts += _bar("dependent", 1, x(begin), x(end))
    parts += _marks([(store, "last store"), (begin, "begins"), *([(waited, "wait returns")] if waited is not None else [])], x, unit)
    height = 2 * _ROW + 12 + 16 * (len(moments) - 1)
    return element("svg", parts, viewBox=f"0 0 {WIDTH} {height}", role="img", class_="timeline", width=WIDTH, height=height)


def _bar(name: str, row: int, left: float, right: float) -> list[Markup]:
    y = 8 + row * _ROW
    return [
        element("text", name, x=LEFT - 10, y=y + 13, text_anchor="end", class_="label"),
        element("rect", x=left, y=y, width=round(max(2.0, right - left), 1), height=_BAR, rx=2, class_=f"bar-{name}"),
    ]


def _marks(marks: list[tuple[float, str]], x: Any, unit: str) -> list[Markup]:
    """A line at each moment, and its words below, each on a line of its own so that none covers another."""
    drawn = []
    for line, (moment, what) in enumerate(sorted(marks)):
        at, y = x(moment), 2 * _ROW + 20 + 16 * line
        right_half = at > WIDTH / 2
        drawn.append(element("line", x1=at, y1=4, x2=at, y2=y - 4, class_="mark"))
        drawn.append(
            element(
                "text",
                f"{what} {moment:,.0f} {unit}",
                x=at - 4 if right_half else at + 4,
                y=y,
                text_anchor="end" if right_half else "start",
                class_="label",
            )
        )
    return drawn
