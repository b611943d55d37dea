"""`python3 conformance dev NAME ...`: the tools of those who change the kit. Each has --help."""

from __future__ import annotations

import importlib
import sys

from conformance.pdlkit.exits import OK, BadArguments
from conformance.pdlkit.places import PROGRAM

TOOLS = {
    "ambiguities": ("pdlkit.ambiguities", "write what a device does where the documents disagree, from a report"),
    "api": ("packaging.api", "compare the headers' public names and layouts with the record"),
    "bench-lint": ("lint.benchmark", "measure how long lint takes, and how much memory"),
    "break-headers": ("headers.break_headers", "break the headers line by line and show that a test notices"),
    "break-packaging": ("packaging.break_packaging", "break the packaging and show that a test notices"),
    "casualties": ("probes.casualties", "make hangs and crashes on purpose and see what the kit makes of them"),
    "change-fields": ("reports.change_fields", "change every field of a recorded report and show which changes `submit` refuses"),
    "check-builds": ("model.tests.check_builds", "compare the model's traces between compilers and sanitizers"),
    "check-litmus": ("model.tests.check_litmus", "compare the litmus outcomes with the recorded ones"),
    "check-manifests": ("fleet.manifests", "check the Kubernetes manifests against the schemas of Kubernetes"),
    "check-records": ("model.tests.check_records", "compare the harness's records between compilers and sanitizers"),
    "check-sarif": ("lint.check_sarif", "check SARIF files by the official schema"),
    "check-shapes": ("lint.shapes.check_shapes", "compile the compiler's safe and dangerous shapes and read the machine code"),
    "check-wheel": ("packaging.check_wheel", "install the wheel on new machines and use it there"),
    "compile-checks": ("headers.compile_checks", "one compile check of the headers"),
    "compile-with-nvrtc": ("lint.shapes.compilers", "compile one file with one NVRTC library, in a process that does nothing else"),
    "compilers": ("packaging.compilers", "compile pdl.h with every host compiler"),
    "consume": ("packaging.consume", "build one consumer project outside the tree"),
    "crowded": ("probes.crowded", "smoke runs beside other users of the GPU, at low priority and under MPS"),
    "devices": ("model.devices", "write the table of broken devices and the cases that notice them"),
    "driver-only": ("packaging.driver_only", "repeat a recorded run from the wheel, with the CUDA Toolkit hidden"),
    "environments": ("probes.environments", "measure what tools and settings do to overlap"),
    "fresh-machines": ("packaging.fresh_machines", "run the README's commands on new, minimal machines"),
    "gain-picture": ("bench.gain_picture", "draw the README's picture and fill in its number, from a recorded bench.json"),
    "fuzz": ("fuzzing.command", "feed damaged and odd input to what reads files or takes arguments, on as many cores as you say"),
    "generate-cases": ("pdlkit.generate_cases", "write cases.h and variants.cmake from rules.toml"),
    "watched": ("model.watched", "compare which words cases of kind api look at with what is recorded"),
    "golden": ("model.golden", "compare the harness's records on the model with the recorded ones"),
    "graph-tables": ("pdlkit.graph_tables", "write what a driver makes of edges and captures, from a report"),
    "include-cost": ("packaging.include_cost", "measure what including pdl.h costs to compile"),
    "judge-corpus": ("lint.corpus.judge_corpus", "compare lint's findings on the labelled corpus with the labels"),
    "judge-third-party": ("lint.third_party.judge_third_party", "lint binaries that others made"),
    "launcher-table": ("bench.launcher_table", "write the table of launchers side by side, from a recorded bench.json"),
    "lint-against-hardware": ("lint.against_hardware", "compare lint's findings on the harness with a report from a GPU"),
    "litmus": ("probes.litmus", "compare a GPU's litmus outcomes with the allowed ones"),
    "make-corpus": ("stress.corpus.make_corpus", "make real PTX for `stress roundtrip`"),
    "mutate-headers": ("mutation.headers", "change the two headers line by line and see which changes the tests notice"),
    "mutate-model": ("mutation.model", "change the model line by line and see which changes a smoke run does not notice"),
    "mutate-kit": ("mutation.kit", "change the kit's own logic line by line and see which changes the tests notice"),
    "manual": ("packaging.manual", "write the man page and the completions of the shells"),
    "pages-in-browser": ("reports.browser", "open the pages of reports and the site in headless Chromium and check them"),
    "portable": ("packaging.portable", "check that a harness runs where there is only a driver"),
    "check-registers": ("lint.tests.check_registers", "compare the registers that lint sees written with nvdisasm's live ranges"),
    "random-machines": ("lint.tests.run_random_machines", "compare lint's analysis with runs of random barriers and loops"),
    "random-graphs": ("lint.tests.run_random_graphs", "compare lint's analysis with enumeration on random graphs"),
    "random-devices": ("model.random_devices", "draw broken devices from the model's grammar and see whether one escapes"),
    "reasons": ("pdlkit.reasons", "say which cases keep a run from CONFORMS, and why, from a report"),
    "recipes": ("packaging.recipes", "build the Conan and Debian recipes as their users would"),
    "survey": ("lint.survey.survey", "lint the GPU code of published packages and record what it finds"),
    "sweep": ("model.sweep", "run the model over many seeds and every broken device"),
    "toolkits": ("packaging.toolkits", "check the headers against every CUDA Toolkit"),
    "wheel": ("packaging.build_wheel", "build the wheel of pdl-conformance"),
}


def _help() -> str:
    rows = "".join(f"  {name:<22} {text}\n" for name, (_, text) in TOOLS.items())
    return f"usage: {PROGRAM} dev NAME [options]\n\n{rows}\nEvery tool has --help."


def main(argv: list[str]) -> int:
    """Run one tool; without a name, list them."""
    if not argv or argv[0] in ("-h", "--help"):
        print(_help())
        return OK
    entry = TOOLS.get(argv[0])
    if entry is None:
        raise BadArguments(f"there is no tool `{argv[0]}`; `python3 conformance dev` lists them")
    sys.argv[0] = f"{PROGRAM} dev {argv[0]}"  # what argparse calls the program
    return int(importlib.import_module(f"conformance.{entry[0]}").main(argv[1:]))
