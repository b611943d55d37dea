"""The frame of every page: one file with its style inside, no script, and a policy that lets it ask for nothing."""

from __future__ import annotations

from pathlib import Path

from conformance.reports.markup import Child, Markup, element, joined

_STYLE = Path(__file__).with_name("page.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
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
    return _TONES.get(status.split(" ", 1)[0], "none")


def badge(status: str, big: bool = False) -> Markup:
    """A verdict as a coloured word."""
    return element("span", status, class_=f"badge {tone(status)}{' big' if big else ''}")


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


def table(caption: str, head: list[str], rows: list[list[Child]], numbers: frozenset[int] = frozenset()) -> Markup:
    """A table that scrolls sideways on a narrow screen; columns in `numbers` are aligned to the right."""

    def cells(name: str, row: list[Child]) -> Markup:
        scope = "col" if name == "th" else None
        return joined(element(name, cell, scope=scope, class_="number" if i in numbers else None) for i, cell in enumerate(row))

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
