"""What rewriting costs and changes on this GPU: PyTorch with a plan that does nothing, and digests of clean runs.

    python3 -m conformance.stress.on_gpu.record --python PYTHON --output FILE

PYTHON is one that has PyTorch and Triton. The record holds, for each plan, the digest of what was computed, the times, and how
many launches were of kernels that were rewritten; and how many digests of correct runs differed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conformance.pdlkit.children import run_tool
from conformance.pdlkit.gpu_query import query
from conformance.pdlkit.toolchain import find_nvcc
from conformance.stress.injection import library as injection
from conformance.stress.oracle import read_copies
from conformance.stress.program import read_calibration

HERE = Path(__file__).parent
PLANS = {"plain": "0 0 0 1", "empty plan": "64 0 0 1", "trigger and hold at entry": "3 15000 5000 7"}
PROCESSES, RUNS = 20, 50
LIMIT_S = 3600.0  # against a hang
CLEAN_PLANS = ("* 3 15000 5000 {n}\n", "* 1 0 0 1\nfill 3 15000 5000 {n}\n", "* 1 0 0 1\nmix 3 15000 5000 {n}\n",
               "* 1 0 0 1\nshift 3 15000 5000 {n}\n")


def _environment(folder: Path, plan: str, **more: Path) -> dict[str, str]:
    file = folder / "plan"
    file.write_text(plan)
    return injection.environment(eager_loading=False) | {"PDL_STRESS_PLAN": str(file)} | {name: str(path) for name, path in more.items()}


def _output(argv: list[str], environment: dict[str, str] | None = None) -> str:
    """What the program prints; it has to end well, and ends with us."""
    done = run_tool(argv, timeout=LIMIT_S, environment=environment)
    if done.returncode != 0:
        raise SystemExit(f"{Path(argv[0]).name} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout.decode(errors="replace")


def torch_steps(python: str) -> dict[str, dict[str, object]]:
    """The PyTorch program under each plan."""
    found: dict[str, dict[str, object]] = {}
    for name, numbers in PLANS.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            environment = _environment(folder, f"calibrate\n* {numbers}\n", PDL_STRESS_RECORDS=folder / "records")
            said = _output([python, str(HERE / "torch_steps.py")], environment)
            seen = read_calibration(folder / "records")
            launches = {kernel.name: kernel.eager + kernel.captured + kernel.built for kernel in seen.kernels.values()}
            reached = sum(launches[kernel.name] for kernel in seen.kernels.values() if kernel.rewritten)
            found[name] = {**json.loads(said.splitlines()[-1]), "kernels": len(launches), "launches": sum(launches.values()),
                           "launches_of_rewritten_kernels": reached, "passed_on": seen.passed}
    return found


def _clean(program: Path, plan: str, folder: Path) -> dict[int, object]:
    folder.mkdir()
    environment = _environment(folder, plan, PDL_STRESS_DIGESTS=folder / "copies")
    _output([str(program), str(RUNS)], environment)
    return dict(read_copies(folder / "copies"))


def clean_digests(folder: Path) -> dict[str, int]:
    """Correct runs under stress: how many of their copies to the host differ from a plain run's."""
    nvcc = find_nvcc()
    assert nvcc is not None
    program = folder / "clean_chain"
    _output([str(nvcc.path), "-O2", "-std=c++17", "-gencode=arch=compute_90,code=sm_90", str(HERE / "clean_chain.cu"), "-o", str(program)])
    right = _clean(program, "* 0 0 0 1\n", folder / "plain")
    with ThreadPoolExecutor(min(5, os.cpu_count() or 1)) as pool:
        stressed = list(pool.map(lambda n: _clean(program, CLEAN_PLANS[n % 4].format(n=n + 1), folder / str(n)), range(PROCESSES)))
    wrong = sum(copies.get(number) != copy for copies in stressed for number, copy in right.items())
    return {"processes": PROCESSES, "runs": PROCESSES * RUNS, "copies_of_a_run": 1, "different": wrong}


def main() -> int:
    """0 if nothing differs and every launch is reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="an interpreter with PyTorch (default: this one)")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    devices = query().get("devices")
    if not isinstance(devices, list) or not devices:
        raise SystemExit("there is no NVIDIA GPU here")
    with tempfile.TemporaryDirectory() as folder:
        clean = clean_digests(Path(folder))
    steps = torch_steps(given.python)
    record = {"schema": "pdl-rewrite-on-gpu/1", "device": devices[0], "clean_digests": clean, "torch_steps": steps}
    given.output.write_text(json.dumps(record, indent=1) + "\n")
    digests = {entry["digest"] for entry in steps.values()}
    return 0 if len(digests) == 1 and not clean["different"] else 1


if __name__ == "__main__":
    sys.exit(main())
