"""The picture and the number on the README's first screen, made from a recorded bench.json.

    python3 conformance dev gain-picture                 writes conformance/bench/gain.svg and the number in README.md
    python3 conformance dev gain-picture --check         ends with 1 if they are not of this record
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from conformance.bench.matrix import Cell, Matrix
from conformance.bench.record import from_text
from conformance.pdlkit.places import KIT, ROOT, in_tree

PICTURE, README = KIT / "bench" / "gain.svg", ROOT / "README.md"
RECORDS = sorted((KIT / "results").glob("*-bench/bench.json"))
_NUMBER = re.compile(r"(<!-- gain -->).*?(<!-- /gain -->)", re.DOTALL)
_AXIS, _PATH = "prologue_us", "stream"
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 640, 300, 56, 44, 150, 44
_LINES = (("plain", "plain", "ordinary launches"), ("early", "pdl", "PDL, trigger first"))
_STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #333 }
.title { font-weight: 600 }
.grid { stroke: #999; stroke-opacity: .35 }
.plain { stroke: #777; fill: #777 }
.pdl { stroke: #c43; fill: #c43 }
polyline { fill: none !important; stroke-width: 2.5 }
text.plain, text.pdl { stroke: none }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .plain { stroke: #aaa; fill: #aaa } .pdl { stroke: #f76; fill: #f76 } }
"""


def _base(matrix: Matrix, mode: str) -> Cell:
    return matrix.select(_PATH, "base", mode)[0]


def number(matrix: Matrix) -> str:
    """One sentence: what PDL gains for the base shape."""
    plain, pdl = _base(matrix, "plain"), _base(matrix, "early")
    shape = plain.shape
    return (f"On an {matrix.device['device'].removeprefix('NVIDIA ')}, a chain of {shape['depth']} dependent kernels of "
            f"{shape['main_ns'] / 1000:g} us with {shape['prologue_ns'] / 1000:g} us of prologue takes {plain.us:.2f} us per kernel "
            f"with ordinary launches and {pdl.us:.2f} us with PDL: **{plain.us / pdl.us:.2f} times as fast**, with the same results.")


def picture(matrix: Matrix) -> str:
    """Time per kernel by length of the prologue, as SVG."""
    lines = {mode: matrix.select(_PATH, _AXIS, mode) for mode, _, _ in _LINES}
    longest = max(cell.value for cell in lines["plain"])
    most = 2 * (int(max(cell.high95 for cells in lines.values() for cell in cells)) // 2 + 1)

    def x(value: float) -> float:
        return _LEFT + value / longest * (_WIDTH - _LEFT - _RIGHT)

    def y(us: float) -> float:
        return _HEIGHT - _BOTTOM - us / most * (_HEIGHT - _TOP - _BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
           f'aria-label="Time per kernel by length of the prologue: with PDL it stays the same">', f"<style>\n{_STYLE}</style>",
           f'<text class="title" x="{_LEFT}" y="20">Time per kernel, us ({matrix.device["device"]}, in a {_PATH})</text>']
    for us in range(0, most + 1, 4):
        out.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(us):.1f}" y2="{y(us):.1f}"/>'
                   f'<text x="{_LEFT - 10}" y="{y(us) + 4:.1f}" text-anchor="end">{us}</text>')
    for cell in lines["plain"]:
        if cell.value == int(cell.value):
            out.append(f'<text x="{x(cell.value):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{cell.value:g}</text>')
    out.append(f'<text x="{(x(0) + x(longest)) / 2:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">prologue of each kernel, us '
               f'(main part {_base(matrix, "plain").shape["main_ns"] / 1000:g} us)</text>')
    for mode, style, label in _LINES:
        points = " ".join(f"{x(cell.value):.1f},{y(cell.us):.1f}" for cell in lines[mode])
        last = lines[mode][-1]
        out.append(f'<polyline class="{style}" points="{points}"/>')
        out += [f'<circle class="{style}" cx="{x(cell.value):.1f}" cy="{y(cell.us):.1f}" r="3.5"/>' for cell in lines[mode]]
        out.append(f'<text class="{style}" x="{x(last.value) + 10:.1f}" y="{y(last.us) + 4:.1f}">{label}</text>')
    return "\n".join([*out, "</svg>", ""])


def main(argv: list[str] | None = None) -> int:
    """Write both, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", nargs="?", type=Path, default=RECORDS[-1] if RECORDS else None, help="a bench.json (the last recorded)")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if something is not up to date")
    options = parser.parse_args(argv)
    if options.record is None:
        parser.error("no bench.json was recorded below conformance/results: name one")
    matrix = from_text(options.record.read_text(encoding="utf-8")).matrix
    readme = README.read_text(encoding="utf-8")
    wanted = {PICTURE: picture(matrix), README: _NUMBER.sub(lambda match: f"{match[1]}{number(matrix)}{match[2]}", readme)}
    stale = [file for file, text in wanted.items() if not file.is_file() or file.read_text(encoding="utf-8") != text]
    for file in stale:
        print(f"{in_tree(file)} {'is not of' if options.check else 'written from'} {in_tree(options.record)}")
        if not options.check:
            file.write_text(wanted[file], encoding="utf-8")
    return int(options.check and bool(stale))
