"""Changes the kit's own logic, one line at a time, and sees which changes no test notices.

    python3 conformance dev mutate-kit --count 60 [--seed HEX] [--file verdicts.py] [--work DIR] [--units]

Works on copies, never on this tree. A change in a C file of the harness has to fail a unit test, or make the harness call or say
something else on the model than what is recorded (`dev watched`, `dev golden`; not with --units), or, in what draws and compares
programs, let a broken device escape that the table says is noticed. What has to notice one in the kernels' host code, kernels.py says.
One in a Python file has to fail its unit tests. A change that the compiler turns into the same machine code is not counted. What
survives is printed with its line; survivors with a reason stand in mutation/living.toml. Exit 0: none but those; 1: others survived.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from conformance.model import golden, on_model, watched
from conformance.mutation import kernels
from conformance.mutation.draw import Change, changes_of, choose
from conformance.mutation.programs import TEST_S, Build, Unit, limited, quiet
from conformance.mutation.trying import parser_of, run, try_all
from conformance.pdlkit import places
from conformance.pdlkit.exits import NOT_APPLICABLE, OK, BadArguments, InvalidRun
from conformance.pdlkit.selftest import test_python

PROGRAMS = "programs"  # the folder, and the family of kernels, of what is made in many ways
C_FILES = tuple(f"conformance/harness/{name}.c" for name in (
    "ask", "batch", "case", "check_words", "circumstances", "circumstances_graphs", "circumstances_streams", "crew", "device", "judge",
    "main", "nodes", "oracle", "other_thread", "part", "plan", "queue", "record", "record_case", "run_case", "tally", "variants",
    *sorted(f"{PROGRAMS}/{file.stem}" for file in (places.KIT / "harness" / PROGRAMS).glob("*.c"))))
C_TESTS = ("oracle_test", "judge_test", "check_words_test", "tally_test", "batch_test", "decisions_test", "device_test", "launch_test",
           "nodes_test", "part_test", "record_test", "run_case_test", "ask_test", "circumstances_test", "program_test", "compare_test",
           "driver_test", "moves_test", "graph_test", "keeps_test", "exec_test", "neighbours_test", "told_test", "host_step_test",
           "child_test", "deep_test", "detours_test")
# a file of the harness, and the tests that include it whole
INCLUDING = {"program_judge.c": ("program_test", "compare_test"), "program_graph.c": ("graph_test",),
             "program_driver.c": ("driver_test",), "program_moves.c": ("moves_test",), "program_exec.c": ("exec_test",),
             "program_detours.c": ("detours_test",)}
HARNESS = "pdl-harness-model"
PYTEST_CPU_S = 60  # of one file of tests: several times what the longest takes
# The unit tests of each Python file, the quickest first; without a folder: those of pdlkit.
PYTHON_FILES = {
    "conformance/pdlkit/verdicts.py": ("test_verdicts", "test_waivers"),
    "conformance/pdlkit/waivers.py": ("test_waivers",),
    "conformance/pdlkit/records.py": ("test_records", "test_verdicts"),
    "conformance/pdlkit/resume.py": ("test_resume",),
    "conformance/pdlkit/supervise.py": ("test_supervise", "test_run"),
    "conformance/pdlkit/display.py": ("test_display",),
    "conformance/pdlkit/run.py": ("test_run_decisions", "test_run", "test_resume", "test_waivers", "test_output_folder"),
    "conformance/pdlkit/soak.py": ("test_soak",),
    "conformance/pdlkit/many_gpus.py": ("test_many_gpus", "test_mps"),
    "conformance/pdlkit/evidence.py": ("test_evidence", "test_repro", "test_run", "test_report"),
    "conformance/pdlkit/device_choice.py": ("test_device_choice", "test_run", "test_entry"),
    "conformance/pdlkit/generate_cases.py": ("test_rules",),
    "conformance/pdlkit/read_report.py": ("test_read_report",),
    "conformance/pdlkit/report.py": ("test_report", "test_run"),
    "conformance/pdlkit/axes.py": ("test_axes",),
    "conformance/pdlkit/rules.py": ("test_rules", "test_axes"),
    "conformance/pdlkit/checked_lines.py": ("test_checked_lines",),
    "conformance/pdlkit/children.py": ("test_children", "test_supervise", "test_run"),
    "conformance/pdlkit/keeper.py": ("test_children",),
    "conformance/pdlkit/mps.py": ("test_mps",),
    "conformance/pdlkit/output_folder.py": ("test_output_folder",),
    "conformance/pdlkit/sources.py": ("test_sources", "reports/tests/test_recomputed", "reports/tests/test_replay"),
    "conformance/pdlkit/graph_tables.py": ("test_graph_tables", "test_read_report"),
    "conformance/pdlkit/ambiguities.py": ("test_ambiguities", "test_read_report"),
    "conformance/pdlkit/replay_token.py": ("test_display", "test_repro", "reports/tests/test_replay"),
    "conformance/pdlkit/reasons.py": ("test_contributing",),
    "conformance/pdlkit/ctest.py": ("test_ctest",),
    "conformance/pdlkit/selftest.py": ("test_ctest",),
    "conformance/pdlkit/schema.py": ("test_schema", "test_report", "test_read_report"),
    "conformance/pdlkit/drawn_devices.py": ("model/tests/test_recorded",),
    "conformance/reports/comparison.py": ("reports/tests/test_diff",),
    "conformance/reports/diff.py": ("reports/tests/test_diff",),
    "conformance/reports/complete.py": ("reports/tests/test_report_command",),
    "conformance/reports/content.py": ("reports/tests/test_diff", "test_waivers", "reports/tests/test_report_command"),
    "conformance/reports/rates.py": ("reports/tests/test_rates", "reports/tests/test_diff"),
    "conformance/reports/recomputed.py": ("reports/tests/test_recomputed", "reports/tests/test_submit"),
    "conformance/reports/several_runs.py": ("reports/tests/test_several_runs", "reports/tests/test_submit"),
    "conformance/reports/change_fields.py": ("reports/tests/test_diff", "reports/tests/test_submit"),
    "conformance/reports/replay.py": ("reports/tests/test_replay",),
    "conformance/reports/submission.py": ("reports/tests/test_submit", "reports/tests/test_submit_all"),
    "conformance/reports/interchange.py": ("reports/tests/test_report_command",),
    "conformance/reports/markdown.py": ("reports/tests/test_report_command",),
    "conformance/reports/page.py": ("reports/tests/test_report_command",),
    "conformance/reports/report.py": ("reports/tests/test_report_command",),
    "conformance/fleet/digest.py": ("fleet/tests/test_digest",),
    "conformance/fleet/health.py": ("fleet/tests/test_health",),
    "conformance/fleet/outliers.py": ("fleet/tests/test_outliers", "fleet/tests/test_health"),
    "conformance/fleet/report.py": ("fleet/tests/test_fleet_records", "fleet/tests/test_slurm"),
    "conformance/fleet/records.py": ("fleet/tests/test_fleet_records", "fleet/tests/test_worker", "fleet/tests/test_slurm"),
    "conformance/fleet/worker.py": ("fleet/tests/test_worker",),
    "conformance/fleet/status.py": ("fleet/tests/test_fleet_records", "fleet/tests/test_slurm"),
    "conformance/fleet/submit.py": ("fleet/tests/test_fleet_records", "fleet/tests/test_slurm"),
    "conformance/lint/against_hardware.py": ("lint/tests/test_decisions", "lint/tests/test_against_hardware"),
    "conformance/lint/findings.py": ("lint/tests/test_decisions", "lint/tests/test_reports"),
    "conformance/lint/judged.py": ("lint/tests/test_decisions", "lint/tests/test_reports", "lint/tests/test_pipeline"),
    "conformance/lint/baseline.py": ("lint/tests/test_decisions",),
    "conformance/lint/suppressions.py": ("lint/tests/test_decisions", "lint/tests/test_reports"),
    "conformance/lint/kernel_rules.py": ("lint/tests/test_decisions",),
    "conformance/lint/declarations.py": ("lint/tests/test_decisions",),
    "conformance/lint/summary.py": ("lint/tests/test_decisions", "lint/tests/test_pipeline", "lint/tests/test_reports"),
    "conformance/lint/launches.py": ("lint/tests/test_decisions",),
    "conformance/stress/detector.py": ("stress/tests/test_stress_verdicts", "stress/tests/test_stress_command"),
    "conformance/stress/oracle.py": (
        "stress/tests/test_stress_verdicts", "stress/tests/test_stress_copies", "stress/tests/test_stress_command"),
    "conformance/stress/search.py": ("stress/tests/test_stress_search", "stress/tests/test_stress_verdicts"),
    "conformance/lint/linter.py": ("lint/tests/test_decisions", "lint/tests/test_reports"),
    "conformance/lint/results.py": ("lint/tests/test_decisions", "lint/tests/test_reports"),
    "conformance/lint/command.py": ("lint/tests/test_decisions", "lint/tests/test_reports"),
    "conformance/lint/output.py": ("lint/tests/test_decisions", "lint/tests/test_reports"),
    "conformance/lint/ci.py": ("lint/tests/test_decisions",),
    "conformance/lint/cache.py": ("lint/tests/test_decisions", "lint/tests/test_pipeline"),
    "conformance/lint/pipeline.py": ("lint/tests/test_decisions", "lint/tests/test_pipeline"),
    "conformance/stress/plan.py": ("stress/tests/test_stress_search", "stress/tests/test_stress_verdicts"),
    "conformance/stress/same_command.py": ("stress/tests/test_stress_verdicts", "stress/tests/test_stress_roundtrip"),
    "conformance/stress/command.py": ("stress/tests/test_stress_verdicts", "stress/tests/test_stress_command"),
    "conformance/stress/ptx/ptx_scan.py": ("stress/tests/test_stress_rewriter", "stress/tests/test_stress_odd_ptx"),
    "conformance/stress/ptx/rewriter.py": ("stress/tests/test_stress_rewriter", "stress/tests/test_stress_odd_ptx"),
    "conformance/trace/diff.py": ("trace/tests/test_trace_diff",),
    "conformance/trace/images.py": ("trace/tests/test_trace_images",),
    "conformance/trace/pairs.py": ("trace/tests/test_trace_pairs", "trace/tests/test_trace_report"),
    "conformance/trace/presence.py": ("trace/tests/test_trace_summary",),
    "conformance/trace/reasons.py": ("trace/tests/test_trace_reasons", "trace/tests/test_trace_summary"),
    "conformance/trace/records.py": ("trace/tests/test_trace_timeline", "trace/tests/test_trace_records"),
    "conformance/trace/report.py": ("trace/tests/test_trace_report", "trace/tests/test_trace_records"),
    "conformance/trace/room.py": ("trace/tests/test_trace_room",),
    "conformance/trace/session.py": ("trace/tests/test_trace_session",),
    "conformance/trace/summary.py": ("trace/tests/test_trace_summary", "trace/tests/test_trace_report"),
    "conformance/trace/timeline.py": ("trace/tests/test_trace_timeline",),
    "conformance/trace/annotate.py": ("trace/tests/test_trace_annotate",),
    "conformance/trace/inside/findings.py": ("trace/tests/test_trace_inside",),
    "conformance/trace/inside/plan.py": ("trace/tests/test_trace_inside",),
    "conformance/trace/inside/records.py": ("trace/tests/test_trace_inside",),
    "conformance/trace/whatif/cases.py": ("trace/tests/test_trace_whatif",),
    "conformance/probes/casualties.py": ("probes/tests/test_casualties",),
    "conformance/probes/crowded.py": ("probes/tests/test_crowded",),
    "conformance/probes/environments.py": ("probes/tests/test_environments",),
    "conformance/probes/litmus.py": ("probes/tests/test_litmus",),
    "conformance/model/devices.py": ("model/tests/test_sweep", "model/tests/test_recorded"),
    "conformance/model/golden.py": ("model/tests/test_recorded",),
    "conformance/model/random_devices.py": ("model/tests/test_recorded",),
    "conformance/model/recorded.py": ("model/tests/test_recorded",),
    "conformance/model/sweep.py": ("model/tests/test_sweep",),
    "conformance/model/watched.py": ("model/tests/test_recorded",),
}


def _built(work: Path, targets: Sequence[str]) -> Build:
    """As the tests are built: what a case finds after some lies of tampered_test depends on how it was compiled."""
    return Build.make(places.ROOT, work / "build", targets, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG",
                      "-DPDL_BUILD_EXAMPLES=OFF", "-DPDL_KIT_CUDA=OFF", "-DPDL_KIT_MODEL=ON", "-DPDL_KIT_HOST_TESTS=ON")


class Native:
    """The C side: one changed file is compiled once, and linked into the unit tests that use it and into the harness."""

    def __init__(self, work: Path, units_only: bool) -> None:
        self.work, self._units_only = work, units_only
        self._recorded: dict[str, str] = json.loads(golden.FILE.read_text(encoding="utf-8"))
        self._watched: watched.Watched = json.loads(watched.FILE.read_text(encoding="utf-8"))
        self.build = _built(work, C_TESTS if units_only else (*C_TESTS, HARNESS, kernels.WATCHED))
        self.build.must_pass(C_TESTS, work)
        if not units_only and (other := golden.first_difference(self._linked(HARNESS, {}), self._recorded)):
            raise InvalidRun(f"the records of {other} differ without any change, so nothing could be told")

    def _unit_in(self, test: str, source: Path) -> Unit | None:
        """What the test is linked from: a compilation of its own, or the harness's."""
        own = [unit for unit in self.build.units_of(test) if unit.source == source]
        shared = self._unit("kit_core", source)
        return own[0] if own else shared if shared.output in self.build.linked_from(test) else None

    def _fails(self, test: str, change: Change, text: str) -> bool:
        """Whether this test fails with the change, or cannot be made; False, too, for one that does not use the file."""
        source, own = places.ROOT / change.file, self.work / "test.o"
        if test in INCLUDING.get(source.name, ()):
            unit: Unit | None = next(unit for unit in self.build.units_of(test) if unit.source.stem == test)
            assert unit is not None
            changed = self.work / "included" / source.parent.name / source.name
            changed.parent.mkdir(parents=True, exist_ok=True)
            changed.write_text(change.applied(text), encoding="utf-8")
            made = quiet(unit.command(unit.source, own, f"-I{changed.parents[1]}", f"-I{source.parent}", "-w"), self.build.folder)
        else:
            unit = self._unit_in(test, source)
            if unit is None:
                return False
            made = self.build.compile(unit, change.applied(text), own) is not None  # with the flags of the test, sanitizers for one
        return not made or not quiet([self._linked(test, {unit.output: own})])

    def _linked(self, target: str, replaced: dict[str, Path]) -> Path:
        return self.build.linked(target, replaced, self.work)

    def _unit(self, target: str, source: Path) -> Unit:
        return next(unit for unit in self.build.units_of(target) if unit.source == source)

    def notices(self, change: Change) -> str | None:
        """What notices the change; None if nothing does."""
        source = places.ROOT / change.file
        text = source.read_text(encoding="utf-8")
        after = self.build.changed(self._unit("kit_core", source), change, self.work)
        if isinstance(after, str):
            return after
        for test in C_TESTS:
            if self._fails(test, change, text):
                return test
        return None if self._units_only else self._harness_notices(source, after)

    def _harness_notices(self, source: Path, after: Path) -> str | None:
        replaced = {self._unit("kit_core", source).output: after}
        harness = self._linked(HARNESS, replaced)
        try:
            if calls := watched.other_calls(self._linked(kernels.WATCHED, replaced), self._watched,
                                            [PROGRAMS] if source.parent.name == PROGRAMS else None):
                return f"calls of {calls}"
            other = golden.first_difference(harness, self._recorded)
        except (InvalidRun, ValueError, subprocess.TimeoutExpired) as error:
            return f"records: {error}"
        if other:
            return f"records of {other}"
        return self._devices_notice(harness) if source.parent.name == PROGRAMS else None

    def _devices_notice(self, harness: Path) -> str | None:
        """What is looked at less conforms as before, so the answers are the same: then a broken device escapes."""
        wrong = next(kernels.devices_that_escape(harness, on_model.load_book(), [PROGRAMS]), None)
        return f"broken devices: {wrong}" if wrong else None


def _not_copied(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name == "__pycache__" or Path(folder, name) in (places.BUILD, places.ROOT / ".git")}


class Scripted:
    """The Python side: a copy of the tree, in which one file at a time is another."""

    def __init__(self, work: Path, files: Iterable[str]) -> None:
        self.root, self._python = work / "tree", test_python()
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(places.ROOT, self.root, ignore=_not_copied)
        for name in dict.fromkeys(test for file in files for test in PYTHON_FILES[file]):
            if not self._passes(name):
                raise InvalidRun(f"{name} fails without any change, so nothing could be told")

    def notices(self, change: Change) -> str | None:
        """What notices the change; None if nothing does."""
        path = self.root / change.file
        kept = path.read_text(encoding="utf-8")
        changed = change.applied(kept)
        try:
            compile(changed, change.file, "exec")
        except SyntaxError:
            return "does not compile"
        path.write_text(changed, encoding="utf-8")
        try:
            return next((name for name in PYTHON_FILES[change.file] if not self._passes(name)), None)
        finally:
            path.write_text(kept, encoding="utf-8")

    def _passes(self, name: str) -> bool:
        argv = [str(self._python), "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
                f"conformance/{name if '/' in name else f'pdlkit/tests/{name}'}.py"]
        clean = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # a file changed twice within a second would be read from its cache
        try:
            done = subprocess.run(argv, cwd=self.root, env=clean, capture_output=True, stdin=subprocess.DEVNULL, timeout=TEST_S,
                                  preexec_fn=limited(PYTEST_CPU_S))
        except subprocess.TimeoutExpired:
            return False
        return passed(done.returncode, name, done.stdout.decode())


def passed(code: int, name: str, said: str) -> bool:
    """Whether nothing failed in a file of tests for which pytest ended with this code. A code below 0: a signal ended it."""
    if code > 2 and code != NOT_APPLICABLE:  # the code of a file of which a test was skipped
        raise InvalidRun(f"pytest cannot run {name}: {said[-400:]}")
    return code in (OK, NOT_APPLICABLE)


def _files(only: str | None) -> list[str]:
    everything = (*C_FILES, *kernels.FILES, *PYTHON_FILES)
    chosen = [file for file in everything if only is None or file.endswith(only)]
    if not chosen:
        raise BadArguments(f"--file {only}: no such file is changed; these are: {', '.join(everything)}")
    return chosen


def _changes_of(file: str) -> list[Change]:
    return kernels.changes(file) if file in kernels.FILES else changes_of(file, (places.ROOT / file).read_text(encoding="utf-8"))


def mutate(options: argparse.Namespace, work: Path) -> int:
    """Try the chosen changes; OK or FAILED."""
    changes = choose([change for file in _files(options.file) for change in _changes_of(file)], options.count, options.seed)
    changed = list(dict.fromkeys(change.file for change in changes))
    python = [file for file in changed if file in PYTHON_FILES]
    sides = list[tuple[Container[str], Native | kernels.Kernels | Scripted]]()
    if not set(changed).isdisjoint(C_FILES):
        sides.append((C_FILES, Native(work, options.units)))
    if not set(changed).isdisjoint(kernels.FILES):
        sides.append((kernels.FILES, kernels.Kernels(work, _built(work, kernels.TARGETS), options.units)))
    if python:
        sides.append((PYTHON_FILES, Scripted(work, python)))
    return try_all(changes, lambda change: next(side for files, side in sides if change.file in files).notices(change))


def main(argv: list[str] | None = None) -> int:
    """Command line."""
    parser = parser_of("mutation run of the kit's own logic")
    parser.add_argument("--units", action="store_true", help="show them to the unit tests only, not to the recorded answers of the harness")
    return run("mutate-kit", parser, argv, mutate)
