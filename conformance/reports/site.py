"""The command `site`: a static site made from the recorded results."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from conformance.pdlkit import places
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK, BadArguments
from conformance.pdlkit.list_rules import rule_json
from conformance.pdlkit.references import REFERENCES
from conformance.pdlkit.rules import load
from conformance.reports.page import write_page
from conformance.reports.prose import relinked, rendered
from conformance.reports.record import Configuration, configurations
from conformance.reports.site_pages import index_page, prose_page, rule_page, submit_page, wild_page

SCHEMA = "pdl-site/1"
_MARK = "made by: conformance site\n"
_PROGRAMS = (".cu", ".c", ".cpp", ".py")


def parser() -> Parser:
    """The command line of `site`."""
    made = Parser(
        "site",
        "make the static site of the public record: rules by GPU, driver and toolkit",
        epilog=(
            "DIR must be empty, new, or a site that this command made, which is then replaced. The site fetches nothing and runs no script."
        ),
    )
    made.add_argument(
        "--results", type=Path, default=places.KIT / "results", metavar="DIR", help="the recorded reports (conformance/results)"
    )
    made.add_argument("--output", type=Path, default=places.BUILD / "site", metavar="DIR", help="where the site goes (build/site)")
    return made


def _rules(record: Sequence[Configuration]) -> list[dict[str, Any]]:
    """The rules of this kit, then those that only old reports know: an address once given stays."""
    book = load(places.RULES)
    rules = [rule_json(book, rule) for rule in book.rules]
    known = {rule["id"] for rule in rules}
    for configuration in record:
        for recorded in configuration.reports:
            for row in recorded.report["rules"]:
                if row["id"] not in known:
                    known.add(row["id"])
                    rules.append({key: row[key] for key in ("id", "class", "kind", "core", "text", "source")})
    return rules


def index_json(rules: Sequence[dict[str, Any]], record: Sequence[Configuration], suite: str) -> dict[str, Any]:
    """The whole table for programs; a rule that a configuration says nothing of is not there, and so unknown."""

    def answers(rule: str) -> dict[str, Any]:
        found = {configuration.id: configuration.answer(rule) for configuration in record}
        return {
            name: {
                "status": answer.status,
                "exercised": answer.row["exercised"],
                "bound95": answer.row["bound95"],
                "report": f"reports/{answer.recorded.name}",
            }
            for name, answer in found.items()
            if answer
        }

    return {
        "schema": SCHEMA,
        "suite": suite,
        "configurations": [
            {
                "id": c.id,
                "gpu": c.gpu,
                "cc": c.cc,
                "driver": c.driver,
                "toolkit": c.toolkit,
                "reports": [
                    {
                        "file": f"reports/{r.name}",
                        "sha256": r.sha256,
                        "run": r.report["run"]["id"],
                        "started": r.report["run"]["started"],
                        "profile": r.report["run"]["profile"],
                        "only": r.report["run"]["only"],
                        "verdict": r.report["verdict"],
                    }
                    for r in c.reports
                ],
            }
            for c in record
        ],
        "rules": [
            {
                "id": rule["id"],
                "class": rule["class"],
                "text": rule["text"],
                "source": rule["source"],
                "address": f"rules/{rule['id']}.html",
                "results": answers(rule["id"]),
            }
            for rule in rules
        ],
    }


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").strip() or path.stem


def _prose(folder: Path, paths: Sequence[Path]) -> list[tuple[str, str]]:
    """Writes a page for each file; returns their addresses and titles."""
    names, written = {path.name for path in paths}, []

    def address(target: str) -> str | None:
        name, _, anchor = target.partition("#")
        here = Path(name).name
        return f"{Path(here).stem}.html" + (f"#{anchor}" if anchor else "") if here in names else None

    for path, text in zip(paths, rendered(paths), strict=True):
        (folder / f"{path.stem}.html").write_text(prose_page(_title(path), relinked(text, address)), encoding="utf-8")
        of = "" if path == REFERENCES else f" ({path.stem})"
        written.append((f"{folder.name}/{path.stem}.html", _title(path) + of))
    return written


def _wild(output: Path, paths: Sequence[Path]) -> str:
    """The page of what was found in the wild; the programs that show a defect are copied beside it."""
    sections = {path.name: path.stem for path in paths}

    def address(here: Path, target: str) -> str | None:
        name, _, anchor = target.partition("#")
        file = (here.parent / name).resolve()
        if file.name in sections:
            return f"#{sections[file.name]}"
        if file == REFERENCES.resolve():
            return "pages/references.html" + (f"#{anchor}" if anchor else "")
        if file.suffix in _PROGRAMS and file.is_file() and file.is_relative_to(places.KIT):
            shutil.copyfile(file, output / "programs" / file.name)
            return f"programs/{file.name}"
        return None

    texts = [relinked(text, partial(address, path)) for path, text in zip(paths, rendered(paths), strict=True)]
    return wild_page([(path.stem, text) for path, text in zip(paths, texts, strict=True)])


def _check_output(output: Path) -> None:
    """Whether the site may go there: what this command did not make is never removed."""
    mark = output / ".made-by"
    if output.exists() and not output.is_dir():
        raise BadArguments(f"--output {output}: it is not a folder; name another one")
    if output.exists() and any(output.iterdir()) and (not mark.is_file() or mark.read_text() != _MARK):
        raise BadArguments(f"--output {output}: the folder is not empty and was not made by `site`; name another one")


def _prepared(output: Path) -> Path:
    """The folder, empty but for its own folders."""
    _check_output(output)
    if output.exists() and any(output.iterdir()):
        shutil.rmtree(output)
    for part in ("rules", "reports", "pages", "programs"):
        (output / part).mkdir(parents=True, exist_ok=True)
    (output / ".made-by").write_text(_MARK)
    return output


def make(results: Path, output: Path) -> int:
    """Write the site; returns the number of its pages."""
    if not results.is_dir():
        raise BadArguments(f"--results {results}: there is no such folder")
    _check_output(output)  # before what takes long
    record = configurations(results)
    book = load(places.RULES)
    rules, suite = _rules(record), book.suite
    folder = _prepared(output)
    for configuration in record:
        for recorded in configuration.reports:
            shutil.copyfile(results / recorded.name, folder / "reports" / recorded.name)
            page = folder / "reports" / recorded.name.replace(".json", ".html")
            page.write_text(write_page(recorded.report), encoding="utf-8")
    for rule in rules:
        (folder / "rules" / f"{rule['id']}.html").write_text(rule_page(rule, record), encoding="utf-8")
    pages = _prose(folder / "pages", [*sorted(path for path in results.glob("*.md") if path.name != "README.md"), REFERENCES])
    wild = _wild(folder, sorted((results / "field").glob("*.md"), key=lambda path: (path.name != "README.md", path.name)))
    for name, text in (("index", index_page(rules, record, suite, book.digest, pages)), ("submit", submit_page()), ("wild", wild)):
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    (folder / "index.json").write_text(json.dumps(index_json(rules, record, suite), indent=1, allow_nan=False) + "\n")
    return sum(1 for _ in folder.rglob("*.html"))


def main(argv: list[str]) -> int:
    """Make the site."""
    options = parser().parse_args(argv)
    pages = make(options.results, options.output.resolve())
    print(f"{pages} pages in {places.shown(options.output)}; open index.html there")
    return OK
