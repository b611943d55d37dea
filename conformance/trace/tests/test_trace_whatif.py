"""whatif on the stand-in driver: what is changed, what is left alone, and what is said of a program that goes wrong."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.pdlkit.exits import SetupImpossible
from conformance.pdlkit.places import KIT
from conformance.rewrite import library as rewriter
from conformance.rewrite.tests.images import ADD, EXIT, STACK, TRIGGER, WAIT, Instruction, Kernel, cubin
from conformance.trace import command, session
from conformance.trace.pairs import Pair
from conformance.trace.reasons import Facts
from conformance.trace.records import ASKED_COMPLETION_EVENT, ASKED_COOPERATIVE, ASKED_EVENT, ASKED_UPDATABLE, HostEvent, Process
from conformance.trace.records import Kernel as TracedKernel
from conformance.trace.tests.traced_by_hand import Made
from conformance.trace.timeline import Run
from conformance.trace.whatif import measure, variants, where
from conformance.trace.whatif.cases import cases
from conformance.trace.whatif.search import Places, TriggerAt, search
from conformance.trace.whatif.variants import Known, why_left
from conformance.trace.zoo.command import build_zoo


def kernel(name: str, *middle: Instruction) -> Kernel:
    return Kernel(name, [STACK, *middle, ADD, EXIT], exits=[16 * (len(middle) + 2)])


@pytest.fixture(scope="module")
def place(stand_in: Path) -> Path:
    folder = stand_in
    plain = ("gate", "first", "first_silent", "second", "second_shared", "second_unloaded")
    (folder / "zoo.cubin").write_bytes(cubin([*(kernel(name) for name in plain), kernel("second_waits_first", WAIT)]))
    waiting = [kernel(name, WAIT, TRIGGER) for name in (*plain, "second_waits_first")]
    (folder / "waiting.cubin").write_bytes(cubin(waiting))
    return folder


def whatif(place: Path, *options: str, program: str = "not-asked", image: str = "zoo.cubin") -> subprocess.CompletedProcess[str]:
    command = [str(build_zoo()), program, "broken", str(place / image), str(place / image)]
    return subprocess.run([sys.executable, str(KIT), "whatif", *options, "--", *command], capture_output=True, text=True, check=False,
                          env={**os.environ, "LD_LIBRARY_PATH": str(place), "PDL_TRACE_CUPTI": str(place / "libcuda.so.1")},
                          timeout=3600)


def test_kernels_without_a_wait_are_changed_and_the_others_listed(place: Path) -> None:
    done = whatif(place, "--json", "--rounds", "2", "--trigger", "--compare-outputs")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert set(content["variants"]) == {"original", "empty", "pdl", "trigger"} and content["rounds"] == 2
    assert content["changed"] == ["first", "first_silent", "gate", "second", "second_shared"]
    assert [entry["kernel"] for entry in content["left"]] == ["second_waits_first"]
    gain = content["gain"]
    assert gain["low"] <= gain["estimate"] <= gain["high"]
    # the stand-in prints how many kernels of an image wait: one as it is and with an empty prologue, six with PDL
    assert content["differing"] == ["pdl", "trigger"]


def test_pairs_show_where_the_gain_is(place: Path) -> None:
    done = whatif(place, "--json", "--rounds", "2", "--trigger", "--pairs", program="full-edge")
    assert done.returncode == 0, done.stderr
    pairs = {(entry["primary"], entry["dependent"]): entry for entry in json.loads(done.stdout)["pairs"]}
    # which variant is best is a matter of load here; that both runs were traced and joined is not
    assert pairs["first", "second"]["launches"] == 20 and pairs["first", "second"]["overlapping_before"] == 0
    assert pairs["gate", "first"]["launches"] == 20


def test_a_graph_built_by_hand_gets_programmatic_edges_and_its_nodes_are_still_found(place: Path, tmp_path: Path) -> None:
    program = [sys.executable, str(Path(__file__).with_name("graph_by_hand.py")), str(place / "zoo.cubin")]
    asked = {}
    for variant in (variants.original(), variants.with_waits(["first", "second"], True)):
        folder = tmp_path / variant.name
        environment = variants.environment(variant, folder, place / "libcuda.so.1") | {"LD_LIBRARY_PATH": str(place)}
        ran = session.run(program, folder, environment, True, 60)
        assert ran.code == 0  # the program checks every answer of the driver
        pairs = command.pairs_of(command.timelines_of(folder), folder)[0]
        asked[variant.name] = {(p.primary.name, p.dependent.name): (p.facts.asked, p.facts.overlapped) for p in pairs if p.place[0] == "g"}
    assert asked["original"] == {("gate", "first"): ("no", False), ("first", "second"): ("no", False)}
    assert asked["trigger"] == {("gate", "first"): ("edge", False), ("first", "second"): ("edge", True)}  # the gate does not trigger


def run(name: str, start: int, end: int) -> Run:
    return Run(1, 0, 0, TracedKernel(name), (1, 1, 1), (32, 1, 1), 0, start * 1000, end * 1000)


def test_what_a_pair_saves_is_what_its_dependent_no_longer_adds() -> None:
    def pair(start: int, end: int, overlapped: bool) -> Pair:
        return Pair(run("a", 0, 10), run("b", start, end), Facts(overlapped=overlapped), "stream")

    places = where.compare([pair(11, 16, False), pair(11, 16, False)], [pair(4, 12, True), pair(11, 16, False)])
    assert [(p.primary, p.dependent, p.launches, p.overlapping_before, p.overlapping_after, p.saved_us) for p in places] == [
        ("a", "b", 2, 0.0, 0.5, 2.0)]
    assert where.compare([pair(11, 16, False)], []) == []


def test_the_report_says_what_is_promised_and_what_is_not(place: Path) -> None:
    done = whatif(place, "--rounds", "2", program="full-edge")
    assert done.returncode == 0, done.stderr
    assert "between synchronisations: 1 graph launch" in done.stdout
    told = " ".join(done.stdout.split())
    for said in ("results were not compared", "95 % interval", "left as they are: 1", "the 5 changed kernels", "first > second (",
                 "its kernels ran in one stream"):
        assert said in told
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_the_promises_name_the_programs_own_streams_pairs_and_kernels() -> None:
    names = ["a", "b", "ncclKernel", "odd"]
    process = Process(kernels={number: TracedKernel(name) for number, name in enumerate(names)})
    process.events = [HostEvent("launch", number, 0, 0, 1, stream, 0, kernel=kernel)
                      for number, (stream, kernel) in enumerate([(0, 0), (0, 1), (1, 2), (0, 3), (0, 1)])]
    process.events.insert(1, HostEvent("memset", 0, 0, 0, 1, 0, 0))  # between two kernels there is other work: no pair
    doubtful = (Known("ncclKernel"), Known("odd", why="it has no exit", images=1))
    left = {known.name: why_left(known, 0) for known in doubtful}
    found = cases([process], ["a", "b"], left)
    assert found.pairs == {("odd", "b"): 1} and len(found.streams) == 2
    assert "odd > b (1)" in found.preserved_if() and "No wait was verified in odd" in found.preserved_if()
    for said in ("2 streams needs: a, b, odd; ncclKernel", "wait for others: ncclKernel"):
        assert said in found.may_not_end_when()
    process.events = [one for one in process.events if one.stream == 0]
    assert "ran in one stream" in cases([process], ["a", "b"], {}).may_not_end_when()


def test_a_pair_is_two_launches_in_a_row_that_took_effect() -> None:
    """A synchronisation puts nothing between them, other work does, and a call that failed was not there."""
    made = Made()
    for name, between in (("a", "synchronize"), ("b", "memset"), ("c", None), ("d", None)):
        made.kernel(name, 0, 1, code=2 if name == "c" else 0)
        if between:
            made.call(between)
    made.kernel("e", 0, 1)
    assert dict(cases([made.process], ["b", "c", "d", "e"], {}).pairs) == {("a", "b"): 1, ("d", "e"): 1}
    assert dict(cases([made.process], ["b"], {}).pairs) == {("a", "b"): 1}


def test_a_program_whose_kernels_all_wait_is_not_measured(place: Path) -> None:
    done = whatif(place, "--rounds", "2", image="waiting.cubin")
    assert done.returncode == 70 and "no kernel of this program can be given a wait: first: it waits already" in done.stderr


@pytest.mark.parametrize(("options", "said"), [
    (["--rounds", "1", "--", "true"], "--rounds takes 2 or more"), (["--exempt", "(", "--", "true"], "is not a regular expression"),
    (["--timeout", "0", "--", "true"], "argument --timeout: '0' is not a number above 0"),
    (["--within", "0", "--", "true"], "--within takes percent"),
    (["--search", "0", "--", "true"], "--search takes 1 or more"),
    ([], "there is no command to run"),
    (["--", "no-such-program-anywhere"], "is not a program that can be run"),
])
def test_bad_arguments_are_named(options: list[str], said: str) -> None:
    done = subprocess.run([sys.executable, str(KIT), "whatif", *options], capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 64 and said in done.stderr


def test_a_program_that_fails_or_launches_nothing_is_said_to() -> None:
    for word, said in (("false", "ended with code 1"), ("true", "launched no kernel")):
        done = subprocess.run([sys.executable, str(KIT), "whatif", "--", word], capture_output=True, text=True, check=False, timeout=3600)
        assert done.returncode == 70 and said in done.stderr


GOOD = Known("k", images=1, rewritten=1, launches=3)


@pytest.mark.parametrize(("change", "said"), [
    ({"name": "ncclDevKernel_AllReduce"}, "parked blocks"), ({"flags": ASKED_COOPERATIVE}, "cooperatively"),
    ({"flags": ASKED_EVENT}, "programmatic event"), ({"flags": ASKED_COMPLETION_EVENT}, "launch-completion event"),
    ({"flags": ASKED_UPDATABLE}, "updated by the device"), ({"waits": 1}, "waits already"),
    ({"overlapping": 1}, "asks for overlap already"),
    ({"images": 0, "rewritten": 0}, "was not seen"), ({"images": 2}, "cannot be rewritten"), ({"why": "it has no exit"}, "it has no exit"),
])
def test_a_kernel_is_left_as_it_is_for_each_reason(change: dict[str, object], said: str) -> None:
    assert why_left(GOOD, 0) == ""
    assert said in why_left(Known(**{**vars(GOOD), **change}), 0)


def test_a_refused_image_makes_every_kernel_doubtful() -> None:
    assert "refused" in why_left(GOOD, 1)


def test_the_gain_is_the_share_of_time_saved_with_an_interval_that_covers_it() -> None:
    sure = measure.gain([10.0, 10.0, 10.0], [9.0, 9.0, 9.0])
    assert math.isclose(sure.estimate, 0.1) and math.isclose(sure.low, 0.1) and math.isclose(sure.high, 0.1)
    unsure = measure.gain([10.0, 10.0, 10.0], [8.0, 9.0, 10.0])
    assert unsure.low < 0.1 < unsure.high and unsure.low < 0 < unsure.high
    assert "below -1000" in measure.gain([10.0, 10.0], [1.0, 100.0]).words()
    lost = measure.gain([9.0, 9.0], [10.0, 10.0])
    assert lost.estimate < 0


def test_a_step_is_what_all_runs_have_in_common() -> None:
    runs = [{(1, 0): [5.0], (0, 1): [100.0]}, {(1, 0): [6.0]}]
    assert measure.step_of(runs) == (1, 0) and measure.step_of([]) is None and measure.step_of([{}, {}]) is None
    started = {(43, 0): [600_000.0], (0, 10): [660.0] * 20, (2, 0): [3.0] * 5}  # a runtime that loads, then replays of a graph
    assert measure.step_of([started, started]) == (0, 10)
    assert measure.step_of([started, {(43, 0): [600_000.0], (0, 10): [660.0] * 4}]) == (43, 0)  # nothing recurs in both
    assert measure.typical({(1, 0): [90.0, 1.0, 1.0, 1.0, 1.0]}, (1, 0)) == 1.0  # the first fifth warms up


def test_a_path_that_the_loader_would_cut_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriter, "compiled", lambda *_: tmp_path / "a b" / "libpdlwhatif.so")
    with pytest.raises(SetupImpossible, match="has a space or a colon in its path"):
        variants.library()


def test_the_search_finds_each_kernels_best_place_and_rules_out_what_does_not_end() -> None:
    cost = {("a", TriggerAt.NOWHERE): 10.0, ("a", TriggerAt.BEFORE): 12.0, ("a", TriggerAt.AFTER): 5.0,
            ("b", TriggerAt.NOWHERE): 10.0, ("b", TriggerAt.BEFORE): 2.0, ("b", TriggerAt.AFTER): 9.0}

    def run(places: Places) -> list[float] | None:
        if places["c"] is TriggerAt.AFTER:
            return None
        return [cost["a", places["a"]] + cost["b", places["b"]] + noise for noise in (0.0, 0.01)]

    found = search(["a", "b", "c"], run, 8)
    assert found.places == {"a": TriggerAt.AFTER, "b": TriggerAt.BEFORE, "c": TriggerAt.BEFORE}
    assert ("all kernels", TriggerAt.AFTER) in found.failed and ("c", TriggerAt.AFTER) in found.failed
    assert found.tried == 3 + 3 * 2


def test_the_search_takes_noise_for_no_gain_and_stops_where_it_was_told() -> None:
    times = iter([[10.0, 12.0], [9.0, 12.5], [10.1, 9.0]] + [[11.0, 10.5]] * 99)
    found = search(["a", "b"], lambda places: next(times), 1)
    assert set(found.places.values()) == {TriggerAt.NOWHERE} and found.tried == 3 + 2
    assert search(["a", "b"], lambda places: None, 8).places == {}


def test_a_searched_variant_is_measured_like_the_others(place: Path) -> None:
    done = whatif(place, "--json", "--rounds", "2", "--search", "1")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["searched"]["tried"] == 5 and set(content["searched"]["places"]) == set(content["changed"])
    assert set(content["variants"]) == {"original", "empty", "pdl", "searched"} and content["searched"]["ruled_out"] == []


def test_a_plan_names_the_chosen_kernels_and_nobody_else() -> None:
    assert variants.with_waits(["b", "a"], False).plan == "* 0 0 0 0\na 4 0 0 0\nb 4 0 0 0\n"
    assert variants.with_waits(["a"], True).plan == "* 0 0 0 0\na 5 0 0 0\n"
    assert variants.placed("searched", {"a": TriggerAt.AFTER, "b": TriggerAt.NOWHERE}).plan == "* 0 0 0 0\na 260 0 0 0\nb 4 0 0 0\n"
    assert variants.original().plan is None
