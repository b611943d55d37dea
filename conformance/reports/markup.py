"""HTML and SVG elements that escape what they are given. The standard library only: `run` writes its page without a network."""

from __future__ import annotations

import html
from collections.abc import Iterable

VOID = frozenset({"meta", "link", "br", "rect", "line", "circle", "path"})


class Markup(str):
    """Text that is markup already and is not escaped again."""


Child = str | int | Iterable["Child"] | None


def text_of(child: Child) -> str:
    """A child as markup: nothing for None, markup as it is, any other text escaped, a sequence piece by piece."""
    if child is None:
        return ""
    if isinstance(child, Markup):
        return str(child)
    if isinstance(child, str | int):
        return html.escape(str(child))
    return "".join(text_of(part) for part in child)


def element(name: str, /, *children: Child, **attributes: str | int | float | None) -> Markup:
    """`element("a", "here", href="#x")`. An attribute's underscores become hyphens, `class_` is class, and None leaves it out."""
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"' for key, value in attributes.items() if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{pairs}/>")
    return Markup(f"<{name}{pairs}>{text_of(children)}</{name}>")


def joined(children: Iterable[Child]) -> Markup:
    """Several children as one piece of markup."""
    return Markup(text_of(children))
