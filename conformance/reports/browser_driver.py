"""Run by browser.py in a Python that has playwright and axe: opens each page in both schemes and widths, prints findings and times."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-not-found]
from playwright.sync_api import sync_playwright  # type: ignore[import-not-found]

WIDTHS, SCHEMES = (360, 1600), ("light", "dark")
_LARGEST_FOR_AXE = 1_500_000  # bytes; a longer page has more of the same, and axe takes minutes for it

_TURNS = 3  # of a page that is timed: the best one counts, because the first one also starts the browser


def _drawn(page: Any, path: Path) -> float:
    """Seconds from the request of the page to its second frame."""
    started = time.monotonic()
    page.goto(path.as_uri())
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return time.monotonic() - started


def _check(browser: Any, path: Path, limit: float | None, scheme: str, width: int, shots: str | None, times: list[str]) -> list[str]:
    """What is wrong with one page in one scheme and width; where there is a limit, what was left of it is added to the times."""
    page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(f"the console says {message.text}"))
    page.on("pageerror", lambda error: said.append(f"a script failed: {error}"))
    page.on(
        "request",
        lambda request: said.append(f"it asks for {request.url}")
        if request.url != path.as_uri() and not request.url.startswith("data:")
        else None,
    )
    took = min(_drawn(page, path) for _ in range(1 if limit is None else _TURNS))
    if limit is not None:
        times.append(f"{path.name}: drawn in {took:.2f} s, when {limit:.2f} s were left after it was made")
        if took > limit:
            said.append(f"it took {took:.1f} s to draw, and {limit:.1f} s were left")
    if shots:
        page.screenshot(path=str(Path(shots, f"{path.stem}-{scheme}-{width}.png")))
    if page.evaluate("document.documentElement.scrollWidth") > width:
        said.append("it is wider than the screen")
    if path.stat().st_size < _LARGEST_FOR_AXE:
        report = Axe().run(page, options={"resultTypes": ["violations"]}).response
        said += [f"axe: {entry['id']}, {len(entry['nodes'])} times: {entry['nodes'][0]['html'][:90]}" for entry in report["violations"]]
    page.close()
    return [f"{path.name}, {scheme}, {width} px: {text}" for text in said]


def main() -> int:
    """Read the order from stdin, print the findings and the times as JSON."""
    order = json.load(sys.stdin)
    found: list[str] = []
    times: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=order["chromium"], args=["--no-sandbox"])
        for name, limit in order["pages"]:
            for scheme in SCHEMES:
                for width in WIDTHS:
                    left = limit if (scheme, width) == (SCHEMES[0], WIDTHS[0]) else None
                    found += _check(browser, Path(name), left, scheme, width, order["shots"], times)
        browser.close()
    print(json.dumps({"found": found, "times": times}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
