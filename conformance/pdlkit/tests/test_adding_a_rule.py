"""A rule is one entry in rules.toml and one pair with its queueing function: added to a copy of the tree, built, and judged."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit import places, toolchain
from conformance.pdlkit.build import cmake_settings
from conformance.pdlkit.toolchain import Toolchain

HANG_S = 3600.0
ENTRY = '''
[[rule]]
id = "WAIT-99"
class = "derived"
kind = "visibility"
text = "A thread that rests after its wait still sees everything."
source = "none: a rule made up by a test"
needs = { cc = 90, toolkit = "12.3" }

  [[rule.case]]
  family = "rested"
  pair = "pause"
  windows = { widened = "proving" }
  paths = ["captured", "stream"]
  mutants = ["nowait"]
  trials = { smoke = 64, quick = 12000, full = 300000, soak = 1500000 }
'''

KERNELS = '''/* rested.cu - pause  WAIT-99  the dependent rests between its wait and its reads */
#include "pair.h"
#include "visibility.h"

KERNEL(rested_primary) { visibility_primary(&args, FORM_PLAIN); }

KERNEL(rested_dependent)
{
    struct trial_plan plan = k_plan(&args);

    dependent_begins(&args);
    dependent_is_alive(&args);
#ifndef MUTANT_nowait
    k_wait(&args, &plan);
    k_delay(args.state, 100);
#endif
    dependent_waited(&args);
    dependent_reads(&args, &plan, FORM_PLAIN, 0, plan.words);
    dependent_finishes(&args);
}

static cudaError_t queue_rested(const struct queue *queue, const struct trial_launch *trial)
{
    cudaError_t error = queue_primary(queue, trial, 0);
    return error == cudaSuccess ? queue_dependent(queue, trial) : error;
}

static const struct pair rested_pairs[] = {
    PAIR("pause", SHAPE_WORDS, 0, rested_primary, rested_dependent, queue_rested),
};
IMAGE(rested, rested_pairs)
'''
NEEDED = ("CMakeLists.txt", "CMakePresets.json", "cmake", "pdl.h", "pdl_device.cuh", "LICENSE", "conformance")


def _copy(to: Path) -> None:
    ignore = shutil.ignore_patterns("__pycache__", "results", "*.pyc")
    for name in NEEDED:
        source = places.ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=ignore)
        elif source.is_file():
            shutil.copy(source, to / name)


def _tags_only(text: str) -> str:
    """rules.toml up to its first rule, so that only the added family has to be built."""
    return text[:text.index("[[rule]]")]


def _statuses(harness: Path, device: str) -> tuple[set[str], set[str]]:
    done = subprocess.run([harness, "--family", "rested", "--device", device, "--profile", "smoke", "--seed", "1"],
                          capture_output=True, text=True, timeout=HANG_S, check=True)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return ({r["status"] for r in records if r["record"] == "case"},
            {r["status"] for r in records if r["record"] == "variant" and r["kind"] == "mutant"})


def _tools() -> Toolchain:
    """What the kit itself would build with, what it fetched included."""
    gaps = toolchain.missing(for_gpu=False)
    if gaps:
        pytest.skip("; ".join(gaps))
    return toolchain.require(for_gpu=False)


def _build(tree: Path, tools: Toolchain) -> Path:
    """Build the harness on the model in this tree, and return it."""
    cmake = str(tools.cmake.path)
    for command in ([cmake, "--preset", "model", *cmake_settings(tools)],
                    [cmake, "--build", "--preset", "model", "--target", "pdl-harness-model"]):
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=HANG_S)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return tree / "build/model/pdl-harness-model"


def test_one_entry_and_one_pair_make_a_rule(tmp_path: Path) -> None:
    tools = _tools()
    _copy(tmp_path)
    rules = tmp_path / "conformance/rules.toml"
    rules.write_text(_tags_only(rules.read_text(encoding="utf-8")) + ENTRY, encoding="utf-8")
    (tmp_path / "conformance/kernels/rested.cu").write_text(KERNELS, encoding="utf-8")
    harness = _build(tmp_path, tools)
    assert _statuses(harness, "model") == ({"PASS"}, {"KILLED"})
    assert "FAIL" in _statuses(harness, "model:wait-at-trigger")[0]
