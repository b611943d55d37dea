"""Markdown files of the record as HTML, by markdown-it with raw HTML off; as plain text where the library cannot be had."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.references import ID
from conformance.pdlkit.venv import ensure_venv, pins
from conformance.reports.markup import Markup, element, text_of

_RENDER = """
import json, sys
from markdown_it import MarkdownIt
render = MarkdownIt("js-default", {"html": False, "linkify": False}).render
print(json.dumps([render(text) for text in json.load(sys.stdin)]))
"""


def rendered(paths: Sequence[Path]) -> list[Markup]:
    """Each file as markup, in the same order."""
    texts = [path.read_text(encoding="utf-8") for path in paths]
    if not texts:
        return []
    try:
        python = ensure_venv("prose")
    except SetupImpossible:
        return [_plain(text) for text in texts]
    done = subprocess.run([str(python), "-P", "-c", _RENDER], input=json.dumps(texts), capture_output=True, text=True)
    if done.returncode != 0:
        raise SetupImpossible(f"{pins('prose')[0]} does not work here: {done.stderr.strip()[-200:]}")
    return [_addressed(_scrolling(text, path.stem)) for text, path in zip(json.loads(done.stdout), paths, strict=True)]


def _plain(text: str) -> Markup:
    """The file as it is, with an address for each row of references.md all the same."""
    escaped = text_of(text)
    return Markup(element("pre", Markup(re.sub(rf"(?m)^\| ({ID.pattern}) \|", r'| <span id="\1">\1</span> |', escaped))))


def _addressed(text: str) -> Markup:
    """Headings get the addresses that GitHub gives them, and the first cell of a row of references.md its id."""

    def heading(match: re.Match[str]) -> str:
        words = re.sub("<[^>]+>", "", match[2]).lower()
        return f'<{match[1]} id="{re.sub(r"[^a-z0-9_ -]", "", words).replace(" ", "-")}">{match[2]}</{match[1]}>'

    text = re.sub(r"<(h[1-6])>(.*?)</\1>", heading, text)
    return Markup(re.sub(rf"<tr>\n<td>({ID.pattern})</td>", r'<tr>\n<td id="\1">\1</td>', text))


def below(text: Markup) -> Markup:
    """The text as a part of a page that has its own first heading: every heading one level lower, and without an address."""

    def lower(match: re.Match[str]) -> str:
        return f"<{match[1]}h{min(6, int(match[2]) + 1)}>"

    return Markup(re.sub(r"<(/?)h([1-6])(?: id=[^>]*)?>", lower, text))


def relinked(text: Markup, address: Callable[[str], str | None]) -> Markup:
    """The text without pictures; a link into the tree leads to the address that this site has for it, or loses its target."""

    def link(match: re.Match[str]) -> str:
        target = match[1]
        if re.match(r"(https?:|#)", target):
            return match[0]
        found = address(target)
        return f'href="{found}"' if found else ""

    return Markup(re.sub(r'href="([^"]*)"', link, re.sub(r"<img [^>]*>", "", text)))


def _scrolling(text: str, name: str) -> Markup:
    """Tables and listings that scroll by themselves on a narrow screen, also by the keyboard; each is named after its file."""
    count = itertools.count(1)

    def region(match: re.Match[str]) -> str:
        what, tag = ("table", "div") if match[0] == "<table>" else ("listing", "pre")
        opened = f'<{tag} class="scroll" tabindex="0" role="region" aria-label="{what} {next(count)} of {name}">'
        return f"{opened}<table>" if what == "table" else opened

    return Markup(re.sub("<table>|<pre>", region, text).replace("</table>", "</table></div>"))
