"""Opens pages in headless Chromium and looks at them: no script error, no request, nothing wider than the screen, no finding of axe.

    python3 conformance dev pages-in-browser [--chromium PROGRAM] [--shots FOLDER] [PAGE.html ...]

On demand, never in CI: needs Chromium and a network for playwright and axe-core. Without pages it makes its own: reports of 1, 300 and
3,000 cases, which have to open in 1, 2 and 10 s, a failing report, and the site of the recorded results.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.exits import FAILED, OK, SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.pdlkit.venv import ensure_venv
from conformance.reports import site
from conformance.reports.page import write_page
from conformance.reports.tests.made_reports import failed, recorded, with_cases

LIMITS_S = {1: 1.0, 300: 2.0, 3000: 10.0}  # from the report to the page that has been drawn
_DRIVER = Path(__file__).with_name("browser_driver.py")


def made_pages(folder: Path) -> dict[Path, float | None]:
    """Pages of every size, and how long each may take from its report to the screen, less what making it took.

    These are wall-clock times: they mean something on a machine that does nothing else.
    """
    pages: dict[Path, float | None] = {}
    for count, limit in LIMITS_S.items():
        report, page = with_cases(count), folder / f"{count}-cases.html"
        started = time.monotonic()
        page.write_text(write_page(report), encoding="utf-8")
        pages[page] = limit - (time.monotonic() - started)
    bad = folder / "failed.html"
    bad.write_text(write_page(failed(recorded())), encoding="utf-8")
    site.make(KIT / "results", folder / "site")
    for page in (bad, *(folder / "site" / name for name in ("index.html", "submit.html", "wild.html", "rules/WAIT-01.html"))):
        pages[page] = None
    return pages


def look(pages: dict[Path, float | None], chromium: str, shots: Path | None) -> tuple[list[str], list[str]]:
    """What is wrong with the pages, and how long the timed ones took, by a driver that runs where playwright is."""
    python = ensure_venv("browser")
    order = {
        "chromium": chromium,
        "shots": str(shots) if shots else None,
        "pages": [[str(page.resolve()), limit] for page, limit in pages.items()],
    }
    done = subprocess.run([str(python), "-P", str(_DRIVER)], input=json.dumps(order), stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SetupImpossible("Chromium could not be driven; its words stand above")
    answer = json.loads(done.stdout)
    return [str(text) for text in answer["found"]], [str(text) for text in answer["times"]]


def main(argv: Sequence[str] | None = None) -> int:
    """Look at the pages."""
    parser = argparse.ArgumentParser(description="Open pages in headless Chromium and check them.")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE.html")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"), help="the browser")
    parser.add_argument("--shots", type=Path, metavar="FOLDER", help="keep a picture of each page, light and dark, 360 and 1600 px wide")
    options = parser.parse_args(argv)
    if options.chromium is None:
        raise SetupImpossible("there is no chromium on PATH (Debian and Ubuntu: apt-get install chromium); --chromium names one")
    if options.shots:
        options.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        given: dict[Path, float | None] = dict.fromkeys(options.pages)
        pages = given or made_pages(Path(folder))
        found, times = look(pages, options.chromium, options.shots)
    print("\n".join(times))
    print("\n".join(found) or f"{len(pages)} pages: nothing is wrong")
    return FAILED if found else OK


if __name__ == "__main__":
    sys.exit(main())
