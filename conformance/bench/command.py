"""The command line of bench."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from conformance.bench import programs
from conformance.bench.guidance import page
from conformance.bench.matrix import Matrix
from conformance.bench.record import Bench, compared, from_measurement, from_text
from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import OK, BadArguments, KitExit
from conformance.pdlkit.places import REPORTS, shown
from conformance.pdlkit.read_report import Unreadable, read_json, read_text
from conformance.pdlkit.venv import ensure_venv

_EPILOG = """\
Writes into the output folder: gap.jsonl and cost.jsonl (what the programs measured), bench.json (the matrix), guidance.md
(made from it) and plots. exit codes: 0 done, 64 bad arguments, 69 set-up impossible, 77 no GPU that can overlap kernels."""


def _parser() -> Parser:
    parser = Parser("bench", "What PDL is worth on this GPU: time per kernel of dependent chains, and the host's cost.",
                    epilog=_EPILOG)
    parser.add_argument("--json", action="store_true", help="bench.json on stdout and nothing else there")
    parser.add_argument("--output", metavar="DIR", type=Path, default=REPORTS / "bench")
    parser.add_argument("--repetitions", metavar="N", type=int, default=51, help="per cell, 5 to 501 (default 51)")
    parser.add_argument("--peers", action="store_true",
                        help="fetch CUTLASS's headers from the package registry, to measure its launchers, too")
    parser.add_argument("--programs", metavar="DIR", type=Path, help="use the programs built there, compile nothing")
    parser.add_argument("--build", metavar="DIR", type=Path, help="only compile the programs, into DIR")
    parser.add_argument("--records", metavar="DIR", type=Path,
                        help="measure nothing: read gap.jsonl and cost.jsonl, or else bench.json, of an earlier run from there")
    parser.add_argument("--compare", metavar="FILE", type=Path, help="also compare with the bench.json of another machine")
    parser.add_argument("--examples", metavar="FILE", type=Path,
                        help="what the examples gained (examples/gains.py run), to set beside the cells")
    parser.add_argument("--no-plots", action="store_true")
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _measure(folder: Path, place: Path, repetitions: int) -> None:
    _say("measuring the gap between launches")
    (folder / "gap.jsonl").write_text("\n".join(programs.run_gap(place, repetitions)) + "\n")
    _say("measuring the host's cost of a launch")
    (folder / "cost.jsonl").write_text("\n".join(programs.run_cost(place, 4 * repetitions)) + "\n")


def _read(folder: Path, examples: Path | None) -> Bench:
    """From what the programs printed or, if only that was kept, from a bench.json."""
    try:
        rows = read_json(examples)["examples"] if examples is not None else []
        if not (folder / "gap.jsonl").is_file() and (folder / "bench.json").is_file():
            kept = from_text(read_text(folder / "bench.json"))
            return kept if examples is None else replace(kept, examples=[row for row in rows if row["status"] == "right"])
        gap = read_text(folder / "gap.jsonl").splitlines()
        cost = folder / "cost.jsonl"
        costs = read_text(cost).splitlines() if cost.is_file() else []
        return from_measurement(gap, costs, programs.count_instructions(), rows)
    except (Unreadable, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadArguments(f"{shown(folder)} does not hold the records of a whole run: {error}") from None


def _plot(folder: Path) -> list[str]:
    try:
        python = ensure_venv("plotting")
        argv = [str(python), str(Path(__file__).with_name("plots.py")), str(folder / "bench.json"), str(folder)]
        done = subprocess.run(argv, capture_output=True, text=True)
    except KitExit as reason:
        _say(f"no plots: {reason}")
        return []
    if done.returncode != 0:
        _say(f"no plots: {done.stderr.strip()[-300:]}")
        return []
    return done.stdout.split()


def _other(file: Path) -> Matrix:
    """Another machine's matrix, read before anything is measured."""
    try:
        return from_text(read_text(file)).matrix
    except (Unreadable, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadArguments(f"{file} is not a bench.json: {error}") from None


def _compare(bench: Bench, other: Matrix) -> list[str]:
    try:
        return compared(bench.matrix, other)
    except ValueError as error:
        raise BadArguments(f"nothing to compare: {error}") from None


def main(argv: list[str]) -> int:
    options = _parser().parse_args(argv)
    if not 5 <= options.repetitions <= 501:
        raise BadArguments("--repetitions is from 5 to 501")
    if options.build is not None:
        programs.build(_say, options.peers, options.build)
        return OK
    other = _other(options.compare) if options.compare is not None else None
    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    if options.records is None:
        place = options.programs or programs.build(_say, options.peers)
        _measure(folder, place, options.repetitions)
    bench = _read(options.records or folder, options.examples)
    text = bench.as_text()
    (folder / "bench.json").write_text(text)
    plots = [] if options.no_plots else _plot(folder)
    (folder / "guidance.md").write_text(page(bench, plots))
    if options.json:
        print(text, end="")
    else:
        matrix = bench.matrix
        print(f"{len(matrix.cells)} cells; PDL loses in {len(matrix.losses())}. Read {shown(folder / 'guidance.md')}")
    if other is not None:
        print("\n".join(_compare(bench, other)), file=sys.stderr if options.json else sys.stdout)
    return OK
