"""Markdown files of the record as HTML, by markdown-it with raw HTML off; as plain text where the library cannot be had."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.venv import ensure_venv, pins
from conformance.reports.markup import Markup, element

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
        return [element("pre", text) for text in texts]
    done = subprocess.run([str(python), "-P", "-c", _RENDER], input=json.dumps(texts), capture_output=True, text=True)
    if done.returncode != 0:
        raise SetupImpossible(f"{pins('prose')[0]} does not work here: {done.stderr.strip()[-200:]}")
    return [_scrolling(text) for text in json.loads(done.stdout)]


def _scrolling(text: str) -> Markup:
    """Tables and listings that scroll by themselves on a narrow screen, also by the keyboard."""
    count = itertools.count(1)

    def region(match: re.Match[str]) -> str:
        what, tag = ("table", "div") if match[0] == "<table>" else ("listing", "pre")
        opened = f'<{tag} class="scroll" tabindex="0" role="region" aria-label="{what} {next(count)}">'
        return f"{opened}<table>" if what == "table" else opened

    return Markup(re.sub("<table>|<pre>", region, text).replace("</table>", "</table></div>"))
