"""Runs the examples, records what they gained, and fills the index from a record. Standard library only.

    python3 examples/gains.py run FOLDER --output FILE    runs every example in FOLDER, and those that build themselves; exit 1 if one fails
    python3 examples/gains.py index FILE                  writes the figures into examples/README.md
    python3 examples/gains.py check FILE                  exit 1 if examples/README.md has other figures
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
SKIPPED, LONGEST_S, LONGEST_WITH_BUILD_S = 77, 60, 300
LINE = re.compile(
    r"(?P<name>\w+): plain (?P<plain_us>[\d.]+) us, PDL (?P<pdl_us>[\d.]+) us per (?P<per>\w+), gain (?P<gain>[\d.]+)x"
    r"(?:, (?P<limit_percent>\d+) % of the limit)?, (?P<wrong>\d+) \w+ wrong(?: \((?P<note>.*)\))?"
)
ROW = re.compile(r"^(\| \[(?P<name>\d\d_\w+)\]\([^)]*\) \|.*\| )[^|]*\| [^|]*\|$", re.MULTILINE)
BASIS = re.compile(r"(<!-- basis -->).*?(<!-- /basis -->)", re.DOTALL)


def names() -> list[str]:
    """The examples in the tree: one file each, or a folder with a host program in C or Python."""
    found = HERE.glob("[0-9][0-9]_*")
    return sorted(path.stem for path in found if path.suffix == ".cu" or (path / "main.c").is_file() or (path / "run.py").is_file())


def path_of(name: str) -> str:
    """Whether what an example measures runs in a stream or in a graph, by what it tells measure(), or PyTorch."""
    sources = [*HERE.glob(f"{name}.cu"), *HERE.glob(f"{name}/main.c"), *HERE.glob(f"{name}/run.py")]
    return "graph" if any(re.search(r"\bm\.(in_graph = 1|build = )|CUDAGraph\(\)", source.read_text()) for source in sources) else "stream"


def run_one(program: Path) -> dict[str, object]:
    """What one example said; status is right, skipped, wrong (its own verdict), or broken."""
    command, limit = [str(program)], LONGEST_S
    if (script := HERE / program.name / "run.py").is_file():
        command, limit = [sys.executable, str(script)], LONGEST_WITH_BUILD_S
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"name": program.name, "status": "broken", "said": str(error)[:200]}
    match = LINE.fullmatch(done.stdout.strip().rpartition("\n")[2])
    said = (done.stdout + done.stderr).strip()[-300:]
    if done.returncode == SKIPPED or "error while loading shared libraries" in done.stderr:
        return {"name": program.name, "status": "skipped", "said": said}
    if match is None or match["name"] != program.name:
        return {"name": program.name, "status": "broken", "exit": done.returncode, "said": said}
    row: dict[str, object] = {"name": match["name"], "status": "wrong" if done.returncode else "right"}
    for key in ("plain_us", "pdl_us", "gain", "limit_percent", "wrong"):
        row[key] = None if match[key] is None else float(match[key])
    return row | {"per": match["per"], "path": path_of(program.name), "note": match["note"]}


def device() -> dict[str, str]:
    """The GPU and driver by nvidia-smi; empty without it."""
    smi = shutil.which("nvidia-smi")
    if smi is None:
        return {}
    query = [smi, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    lines = subprocess.run(query, capture_output=True, text=True).stdout.splitlines()
    parts = [part.strip() for part in lines[0].split(",")] if lines else []
    return dict(zip(("gpu", "driver"), parts, strict=False))


def run(folder: Path, output: Path | None) -> int:
    rows = []
    for name in names():
        program = folder / name
        row = run_one(program) if program.is_file() or (HERE / name / "run.py").is_file() else {"name": name, "status": "not built"}
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    text = json.dumps({"schema": "pdl-examples-1", "device": device(), "examples": rows}, indent=1) + "\n"
    if output is None:
        print(text, end="")
    else:
        output.write_text(text)
    bad = any(row["status"] in ("wrong", "broken") for row in rows)
    if bad:
        return 1
    return 0 if any(row["status"] == "right" for row in rows) else SKIPPED


def filled(text: str, record: dict[str, Any]) -> str:
    """The index with the figures of a record; an example without a figure gets a dash."""
    rows = {row["name"]: row for row in record["examples"] if row["status"] == "right"}

    def figures(match: re.Match[str]) -> str:
        row = rows.get(match["name"])
        if row is None:
            return f"{match[1]}- | - |"
        limit = "-" if row["limit_percent"] is None else f"{row['limit_percent']:.0f} %"
        gain = f"{row['plain_us']:.2f} to {row['pdl_us']:.2f} us per {row['per']}, {row['gain']:.2f}x"
        return f"{match[1]}{gain} | {limit} |"

    place = record["device"]
    basis = f"Recorded on {place['gpu']}, driver {place['driver']}." if place else "Not recorded yet."
    return BASIS.sub(lambda match: f"{match[1]}{basis}{match[2]}", ROW.sub(figures, text))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="gains.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "index", "check"))
    parser.add_argument("place", type=Path, metavar="FOLDER or FILE")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(argv)
    if options.what == "run":
        return run(options.place, options.output)
    text = README.read_text()
    wanted = filled(text, json.loads(options.place.read_text()))
    if options.what == "check":
        return int(text != wanted)
    README.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
