"""What the recorded times are compared with: the signs that the differences must have, and which launch is which."""

from __future__ import annotations

from pathlib import Path

from conformance.trace.samples.agreement import Times, compare, of_session, own_times

OWN: list[Times] = [{0: (1010, 1500, 3020, 1400, 5000)}, {0: (9010, 9500, 9620, 9400, 12000)}]
# The last one: when the code that records was through, which is before the kernel's own start, too.
RECORDED: list[Times] = [{0: (700, 1520, 3000, 1430, 5040, 1000)}, {0: (8700, 9520, 9600, 9430, 12040, 9000)}]


def test_each_time_lies_on_its_side_of_the_kernels_own() -> None:
    found = compare(OWN, RECORDED)
    assert found["matched"] == 2 and set(found["wrong_sign"].values()) == {0}
    assert {name: spread["median"] for name, spread in found["difference_ns"].items()} == {
        "start": 310, "wait_begun": 20, "wait_ended": 20, "trigger": 30, "exit": 40, "entered": 10}


def test_a_time_on_the_wrong_side_is_counted() -> None:
    found = compare(OWN, [{0: (700, 1520, 3030, 1430, 5040, 1000)}, RECORDED[1]])
    assert found["wrong_sign"]["wait_ended"] == 1 and found["difference_ns"]["wait_ended"]["least"] == -10


def test_a_launch_that_was_not_recorded_does_not_shift_the_others() -> None:
    found = compare(OWN, RECORDED[1:])
    assert (found["launches"], found["recorded"], found["matched"]) == (2, 1, 1) and found["wrong_sign"]["exit"] == 0


def test_the_kernels_own_times_are_read_in_the_order_of_their_starts(tmp_path: Path) -> None:
    (tmp_path / "stamps").write_text("{}\n1 0 9 9 9 9 9\n0 0 5 5 5 5 5\n0 1 4 5 5 5 5\n")
    assert own_times(tmp_path / "stamps") == [{0: (5,) * 5, 1: (4, 5, 5, 5, 5)}, {0: (9,) * 5}]


def test_a_session_that_recorded_nothing_matches_nothing(tmp_path: Path) -> None:
    (tmp_path / "stamps").write_text("{}\n0 0 5 5 5 5 5\n")
    found = of_session(tmp_path / "kept", tmp_path / "stamps")
    assert (found["launches"], found["recorded"], found["matched"]) == (1, 0, 0)
