"""The frame of every page: one file with its style inside, no script, and a policy that lets it ask for nothing."""

from __future__ import annotations

import re
from pathlib import Path

from conformance.reports.markup import Child, Markup, element, joined

_STYLE = Path(__file__).with_name("page.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_WIDE = 24  # characters; a longer text gets room on a narrow screen instead of a tall, thin column
_TONES = {
    "PASS": "good",
    "CONFORMS": "good",
    "KILLED": "good",
    "FAIL": "bad",
    "HANG": "bad",
    "VIOLATES": "bad",
    "CRASH": "bad",
    "DEVICE_LOST": "bad",
    "NOT_RUN": "unsure",
    "INCONCLUSIVE": "unsure",
    "UNPROVEN": "unsure",
    "SURVIVED": "unsure",
    "KIT_ERROR": "kit",
    "INVALID": "kit",
}


def tone(status: str) -> str:
    """The style of a verdict; what has none of its own is grey."""
    return _TONES.get(re.split("[ ,]", status, maxsplit=1)[0], "none")


def badge(status: str, big: bool = False) -> Markup:
    """A verdict as a coloured word."""
    return element("span", status, class_=f"badge {tone(status)}{' long' if len(status) > _WIDE else ''}{' big' if big else ''}")


def document(title: str, *body: Child) -> str:
    """A whole page."""
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Markup(_STYLE.read_text(encoding="utf-8"))),
    ]
    page = element("html", element("head", head), element("body", element("main", body)), lang="en")
    return f"<!doctype html>\n{page}\n"


_EMPTY = (None, "", "–", "-", "0")  # of a column in which every cell is one of these, nothing is lost


def _cell_class(cell: Child, number: bool) -> str | None:
    if number:
        return "number"
    return "wide" if isinstance(cell, str) and not isinstance(cell, Markup) and len(cell) > _WIDE else None


def table(caption: str, head: list[str], rows: list[list[Child]], numbers: frozenset[int] = frozenset()) -> Markup:
    """A table that scrolls sideways on a narrow screen; columns in `numbers` are aligned to the right, empty ones are left out."""
    kept = [i for i in range(len(head)) if i == 0 or any(row[i] not in _EMPTY for row in rows)]

    def cells(name: str, row: list[Child]) -> Markup:
        scope = "col" if name == "th" else None
        return joined(element(name, row[i], scope=scope, class_=_cell_class(row[i], i in numbers)) for i in kept)

    inner = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", cells("th", list(head)))),
        element("tbody", [element("tr", cells("td", row)) for row in rows]),
    )
    return element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=caption)


def facts(rows: list[tuple[str, Child]]) -> Markup:
    """Names and values, one below the other on a narrow screen; what is empty is left out."""
    return element(
        "dl", [joined((element("dt", name), element("dd", value))) for name, value in rows if value not in (None, "", [])], class_="facts"
    )


def bullets(items: list[str] | list[Markup]) -> Markup:
    """A list of sentences."""
    return element("ul", [element("li", item) for item in items])
