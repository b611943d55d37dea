"""Lint the GPU code of published packages and write a record of each.

    python3 conformance dev survey PACKAGE...        # names of packages.toml; `all`: every one
    python3 conformance dev survey --list
    python3 conformance dev survey --table           # the table over all records

Each package is one wheel, pinned by its hash. It is fetched with pip, unpacked file by file into a private folder, and never
installed, loaded or run. The record holds names of kernels, offsets and counts. A wheel that is no longer needed is removed;
--wheels FOLDER keeps wheels there and takes those that are there. The exit code is 0 if every record was written.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from conformance.lint.shapes.compilers import installed_nvcc
from conformance.lint.survey import table
from conformance.lint.survey.record import Record
from conformance.lint.survey.wheels import PROGRAMS, Package, fetch, headers, packages, unpack
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.cuda_programs import call
from conformance.pdlkit.exits import FAILED, OK, BadArguments
from conformance.pdlkit.places import KIT
from conformance.pdlkit.private_folder import private_folder

RECORDS = KIT / "results" / "field" / "survey"
_PROGRESS_S = 20.0
_COMPILED_FOR = (90, 100, 120)  # where a program is compiled here


def survey(package: Package, kept: Path | None, only: frozenset[int] = frozenset()) -> dict[str, object]:
    """One package, from its wheel to its record."""
    record = Record(package, only)
    with tempfile.TemporaryDirectory(prefix="survey-", dir=private_folder("survey")) as place:
        folder = Path(place)
        wheel = fetch(package, kept or folder)
        told = time.monotonic()
        for file in _files(package, wheel, folder, only):
            record.judge(file)
            if time.monotonic() - told > _PROGRESS_S:
                told = time.monotonic()
                print(f"... {package.name}: {file.name}, {record.kernels:,} kernels", file=sys.stderr, flush=True)
    return record.as_json()


def _files(package: Package, wheel: Path, folder: Path, only: frozenset[int]) -> Iterator[Path]:
    """What is to be judged: the wheel's own files, or a program of ours that is compiled with its headers."""
    if package.program is None:
        yield from unpack(wheel, folder)
        return
    output = folder / Path(package.program).with_suffix(".fatbin").name
    include = [flag for place in headers(package, wheel, folder / "headers") for flag in ("-I", str(place))]
    gencode = [flag for sm in sorted(only) or _COMPILED_FOR for flag in ("-gencode", f"arch=compute_{sm},code=sm_{sm}")]
    source = str(PROGRAMS / package.program)
    call([str(installed_nvcc()), "-std=c++17", "-w", "-fatbin", *gencode, *include, "-o", str(output), source])
    yield output


def _each_in_its_own_process(names: list[str], arguments: list[str]) -> int:
    """Peak memory is a process's, so every package gets one."""
    failed = [name for name in names if subprocess.run([sys.executable, str(KIT), "dev", "survey", name, *arguments]).returncode]
    if failed:
        print(f"no record of {', '.join(failed)}", file=sys.stderr)
    return FAILED if failed else OK


def main(argv: list[str] | None = None) -> int:
    """The command."""
    parser = Parser("dev survey", __doc__ or "")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--list", action="store_true", help="what can be named")
    parser.add_argument("--table", action="store_true", help=f"write {table.PAGE.name} from the records")
    parser.add_argument("--records", type=Path, default=RECORDS, metavar="FOLDER", help="where the records lie")
    parser.add_argument("--arch", type=int, action="append", default=[], metavar="SM", help="judge only code for these, such as 90")
    parser.add_argument("--wheels", type=Path, metavar="FOLDER", help="keep wheels here")
    arguments = parser.parse_args(argv)
    known = packages()
    names = list(known) if arguments.packages == ["all"] else arguments.packages
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadArguments(f"{unknown[0]} is not in packages.toml; --list shows what is")
    if not (names or arguments.list or arguments.table):
        raise BadArguments("name a package, or --list, or --table")
    for package in known.values() if arguments.list else ():
        print(f"{package.name} {package.version} ({package.licence}): {package.program or package.wheel}")
    if len(names) > 1:
        more = ["--records", str(arguments.records)] + (["--wheels", str(arguments.wheels)] if arguments.wheels else [])
        more += [word for sm in arguments.arch for word in ("--arch", str(sm))]
        if _each_in_its_own_process(names, more):
            return FAILED
    elif names:
        found = survey(known[names[0]], arguments.wheels, frozenset(arguments.arch))
        arguments.records.mkdir(parents=True, exist_ok=True)
        (arguments.records / f"{names[0]}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(table.in_words(found))
    if arguments.table:
        table.write(arguments.records, known)
    return OK
