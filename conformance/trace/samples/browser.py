"""Opens timeline pages in a real headless Chromium: `python3 -m conformance.trace.samples.browser OUT [PAGE.html ...]`.

Without pages it makes six, of 1, 1,000 and 100,000 kernels, traced only and with times from inside. Each is opened as a whole, at a
kernel and at a launch that recorded, light and dark; a picture of each stands in OUT. It fails if a script fails, if the page shows
another number of kernels, or if it names a URL.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import FAILED, OK, SetupImpossible
from conformance.trace import page
from conformance.trace.inside.findings import Inside
from conformance.trace.inside.records import Block, Launch
from conformance.trace.records import Kernel, Process
from conformance.trace.summary import summarise
from conformance.trace.timeline import Run, Timeline

SIZES = (1, 1000, 100_000)


def recorded(kernels: int) -> Inside:
    """A chain in which each launch starts at the trigger of the one before it, and waits for its end; every fourth one asks for nothing."""
    inside = Inside(launches=kernels)
    before: Launch | None = None
    for number in range(kernels):
        asks, prologue = number % 4 != 3, 300 + number % 5 * 150
        start = 0 if before is None else before.released + 500 if asks else before.end + 900
        ended = max(start + prologue, before.end + 600) if before and asks else start + prologue
        trigger, leaves = (ended + 1400) * (number % 3 != 2), ended + 2400 + number % 7 * 200
        block = Block(start, (start + prologue) * asks, ended * asks, trigger, leaves, 0)
        launch = Launch(f"kernel_{number % 12}", number, 1, {0: block})
        inside.shown.append((launch, before))
        before = launch
    return inside


def made(folder: Path, kernels: int, inside: bool = False) -> Path:
    """A page of so many kernels in three streams, some of which overlap."""
    known = [Kernel(f"kernel_{number}") for number in range(12)]
    runs = [Run(1, 0, i % 3, known[i % 12], (132, 1, 1), (128, 1, 1), 0, i * 3000, i * 3000 + 2500 + i % 7 * 1900) for i in range(kernels)]
    timeline = Timeline(Process(pid=1, times="CUPTI", ended=True), [], runs, 0, 0)
    path = folder / f"made-{kernels}{'-inside' if inside else ''}.html"
    more = recorded(kernels) if inside else None
    page.write(path, page.data(summarise([timeline], [], None), [timeline], [], None, ["made", str(kernels)], more))
    return path


def wrong(browser: str, path: Path, out: Path) -> list[str]:
    """What is wrong with a page."""
    text = path.read_text(encoding="utf-8")
    found = [f"{path.name} names {url}" for url in re.findall(r"https?://[^\"'\s]+", text)[:1]]
    expected = text.partition('"length":[')[2].partition("]")[0].count(",") + 1
    places = {"": "", "-at": "#kernel=0", "-launch": "#launch=0"}
    for word, place in places.items():
        for dark in (False, True):
            flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,700"]
            flags += ["--force-dark-mode"] if dark else []
            picture = out / f"{path.stem}{word}{'-dark' if dark else ''}.png"
            url = path.resolve().as_uri() + place
            subprocess.run([browser, *flags, f"--screenshot={picture}", url], capture_output=True, check=True, timeout=120)
            done = subprocess.run([browser, *flags, "--dump-dom", url], capture_output=True, text=True, check=True, timeout=120)
            head = done.stdout[:2000]
            if "data-error" in head or f'data-kernels="{expected}"' not in head:
                error = re.search(r'data-error="([^"]*)"', head)
                found.append(f"{path.name}{place}: {error[1] if error else f'it does not show {expected} kernels'}")
    return found


def main(argv: list[str]) -> int:
    """Open all of them."""
    parser = Parser("trace browser", __doc__ or "")
    parser.add_argument("out", help="a folder for the pictures")
    parser.add_argument("pages", nargs="*", help="pages that trace wrote")
    given = parser.parse_args(argv)
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SetupImpossible("there is no Chromium on PATH (Debian and Ubuntu: apt-get install chromium)")
    out = Path(given.out)
    out.mkdir(parents=True, exist_ok=True)
    pages = [Path(name) for name in given.pages] or [made(out, size, inside) for size in SIZES for inside in (False, True)]
    found = [what for path in pages for what in wrong(browser, path, out)]
    print("\n".join(found) or f"{len(pages)} pages, each opened six times: no script failed, no URL")
    return FAILED if found else OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
