"""Fleet folders: nothing lost, nothing counted twice, nothing believed that is damaged."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from conformance.fleet import records, report, status, submit
from conformance.fleet.records import Plan, Writer, opened, read, sealed
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.many_gpus import worst


def gpu(name: str = "g", verdict: str = "CONFORMS", finished: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    return {"gpu": name, "node": "n", "ordinal": 0, "finished": finished, "model": "M", "driver": "1", "verdict": verdict, "exit": 0,
            "reasons": [], "run": name, "sources": None, "failed": [], "kinds": {"R": "visibility"}, "rules": {"R": [64, 60, 3]},
            "families": {"f": 1.0}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "fleet"
    Plan(3, "cuda", "quick", 600, ("--gres=gpu:8",), None).write(place)
    return place


def attempt(folder: Path, task: int, name: str, gpus: list[dict[str, Any]], ended: bool = True, **end: Any) -> None:
    writer = Writer(folder, task, name)
    writer.write("begin", node=f"n{task}")
    for one in gpus:
        writer.write("gpu", **one)
    if ended:
        writer.write("end", **end)
    writer.close()


def test_a_line_that_is_cut_or_changed_is_damaged() -> None:
    line, dice = sealed({"record": "end", "task": 3}), random.Random(1)
    assert opened(line) == {"record": "end", "task": 3}
    for _ in range(200):
        at = dice.randrange(len(line) - 1)
        assert opened(line[:at] + chr((ord(line[at]) + dice.randrange(1, 90)) % 127) + line[at + 1:]) is None
        assert opened(line[:at]) is None
    mark, _, text = line.partition(" ")
    assert all(opened(f"{mark[:length]} {text}") is None for length in range(len(mark)))


def test_a_gpu_judged_twice_counts_once_with_its_last_judgement(folder: Path) -> None:
    attempt(folder, 0, "0-1", [gpu("a", "UNPROVEN", "2026-01-01")], ended=False)
    attempt(folder, 0, "1-2", [gpu("a", "CONFORMS", "2026-01-02"), gpu("b")])
    fleet = read(folder)
    assert sorted((g["gpu"], g["verdict"]) for g in fleet.gpus) == [("a", "CONFORMS"), ("b", "CONFORMS")]
    pooled = report.build(fleet)["groups"][0]
    assert pooled["rules"]["R"]["exercised"] == 120 and pooled["gpus"] == 2


def test_what_is_cut_short_is_missing_and_submitted_again(folder: Path) -> None:
    attempt(folder, 0, "0-1", [gpu("a")])
    attempt(folder, 1, "0-1", [gpu("b")], ended=False)
    attempt(folder, 2, "0-1", [], duplicate=True)
    fleet = read(folder)
    assert submit.missing(fleet, set()) == [1, 2] and submit.missing(fleet, {1}) == [2]
    found = status.summary(fleet, {2})
    assert (found["done"], found["held_by_slurm"], found["missing"]) == (1, 1, [1])
    assert found["tasks_on_a_node_judged_already"] == 1
    assert report.build(fleet)["exit"] == 2


def test_a_gpu_whose_run_was_lost_leaves_its_task_undone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for task in (1, 2):
        attempt(folder, task, "0-1", [gpu(f"g{task}")], devices=1)
    writer = Writer(folder, 0, "0-1")
    writer.write("begin", node="n0")
    writer.write("gpu", **gpu("g0"))
    writer.write("lost", device="cuda:1", why="the run was ended and left no report")
    writer.write("end", devices=2)
    writer.close()
    assert report.main([str(folder)]) == 2 and status.main([str(folder)]) == 0
    assert capsys.readouterr().out.count("lost: cuda:1: the run was ended and left no report on n0") == 2
    assert submit.missing(read(folder), set()) == [0]
    attempt(folder, 0, "1-2", [gpu("g0"), gpu("g9")], devices=2)
    assert report.main([str(folder)]) == 0 and "lost" not in capsys.readouterr().out


def test_a_gpu_whose_line_is_damaged_or_missing_leaves_its_task_undone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for task in (0, 1, 2):
        attempt(folder, task, "0-1", [gpu(f"g{task}"), gpu(f"h{task}", "VIOLATES" if task == 1 else "CONFORMS")], devices=2)
    assert report.main([str(folder)]) == 1 and "damaged" not in capsys.readouterr().out
    path = folder / "records" / "1-0-1.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    for kept in (["x" + line if "VIOLATES" in line else line for line in lines], [line for line in lines if "VIOLATES" not in line]):
        path.write_text("".join(kept))
        for command, code in ((report.main, 2), (status.main, 0)):
            assert command([str(folder)]) == code
            assert ("1 damaged lines were left out" in capsys.readouterr().out) == (len(kept) == len(lines))


def test_a_task_with_a_line_that_cannot_be_read_is_undone(folder: Path) -> None:
    """Whatever the line held: with it, every GPU that the task counts is there."""
    attempt(folder, 0, "0-1", [gpu("a")], devices=1)
    assert read(folder).done() == {0}
    with (folder / "records" / "0-0-1.jsonl").open("a") as file:
        file.write("x" + sealed({"record": "gpu"}))
    assert read(folder).done() == set() and read(folder).damaged_lines == 1


@pytest.mark.parametrize("verdict", ["VIOLATES", "VIOLATES (waived: EDGE-33)"])
@pytest.mark.parametrize("later", ["CONFORMS", "UNPROVEN", "INVALID"])
def test_a_violation_is_not_judged_away(folder: Path, verdict: str, later: str) -> None:
    attempt(folder, 0, "0-1", [gpu("a", verdict, "2026-01-01")], ended=False)
    attempt(folder, 0, "1-2", [gpu("a", later, "2026-01-02")])
    assert [g["verdict"] for g in read(folder).gpus] == [verdict]


@pytest.mark.parametrize("names", [("0-1", "1-2"), ("1-2", "0-1")])
@pytest.mark.parametrize("later", ["INVALID", "UNPROVEN", "VIOLATES"])
def test_a_gpu_that_conformed_once_is_what_its_last_judgement_says(folder: Path, later: str, names: tuple[str, str]) -> None:
    """The last by its time, whatever the attempts are called."""
    attempt(folder, 0, names[0], [gpu("a", "CONFORMS", "2026-01-01")], ended=False)
    attempt(folder, 0, names[1], [gpu("a", later, "2026-01-02")])
    assert [g["verdict"] for g in read(folder).gpus] == [later]


def test_an_attempt_that_lost_a_gpu_is_not_whole_whatever_it_counts(folder: Path) -> None:
    for name, devices in (("0-1", None), ("0-2", 1)):
        writer = Writer(folder, 0, name)
        writer.write("begin", node="n0")
        writer.write("gpu", **gpu("a"))
        writer.write("lost", device="cuda:1", why="the run was ended and left no report")
        writer.write("end", devices=devices)
        writer.close()
    assert read(folder).done() == set() and len(read(folder).lost()) == 2


def test_attempts_never_share_a_file(folder: Path) -> None:
    attempt(folder, 0, "0-1", [])
    with pytest.raises(FileExistsError):
        Writer(folder, 0, "0-1")


def test_nothing_of_the_users_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(BadArguments, match="not empty"):
        Plan(1, "cuda", "quick", None, (), None).write(tmp_path / "mine")
    with pytest.raises(BadArguments, match="fleet submit"):
        read(tmp_path / "mine")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "other"}', '{"schema": "pdl-fleet/1"}'])
def test_a_plan_that_is_not_one_is_named(folder: Path, text: str) -> None:
    (folder / "plan.json").write_text(text)
    with pytest.raises(BadArguments, match="plan.json"):
        read(folder)


def test_the_worst_gpu_decides_and_the_model_conforms() -> None:
    assert worst(["CONFORMS (model, no GPU)", "CONFORMS (waived: EDGE-33)"]) == "CONFORMS"
    assert worst(["CONFORMS", "UNPROVEN", "VIOLATES"]) == "VIOLATES" and worst([]) == "UNPROVEN"
    assert worst(["VIOLATES", "INVALID"]) == "VIOLATES"


@pytest.mark.parametrize("place", [0, 39, 40, 119])
def test_every_gpu_counts_for_the_verdict_of_the_fleet_and_of_its_group(folder: Path, place: int) -> None:
    attempt(folder, 0, "0-1", [gpu(f"g{number:03d}", "VIOLATES" if number == place else "CONFORMS") for number in range(120)])
    found = report.build(read(folder))
    assert (found["verdict"], found["exit"], found["groups"][0]["verdict"], len(found["gpus"])) == ("VIOLATES", 1, "VIOLATES", 120)


def test_spans_and_times() -> None:
    assert submit.spans([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
    assert (submit.seconds("30m"), submit.seconds("2h")) == (1800, 7200)
    for text in ("", "0m", "5", "-1h", "1.5h"):
        with pytest.raises(BadArguments):
            submit.seconds(text)


def test_the_script_quotes_what_a_shell_would_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "a b'; touch x"
    assert submit.main([str(place), "--tasks", "2", "--dry-run", "--", "--gres=gpu:1"]) == 0
    said = capsys.readouterr().out
    assert "--array=0-1" in said and "--gres=gpu:1" in said
    lines = [line for line in said.splitlines() if line.startswith("exec srun")]
    import shlex

    assert str(place.resolve()) in shlex.split(lines[0])
    assert not json.loads((place / "plan.json").read_text())["harness"]
    assert records.Plan.read(place).tasks == 2


def test_only_what_a_lost_task_claimed_is_free_again(folder: Path) -> None:
    for task in (1, 2, 12):
        records.claim_file(folder, f"n{task}").write_text(str(task), encoding="utf-8")
    submit._free_claims(folder, [2, 3])
    assert {path.name for path in (folder / "records").glob("*.claim")} == {"node-n1.claim", "node-n12.claim"}


def test_what_sbatch_took_is_kept_and_not_submitted_twice(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                                          capsys: pytest.CaptureFixture[str]) -> None:
    asked = list[tuple[str, ...]]()

    def slurm(*command: str) -> str:
        asked.append(command)
        return "17;cluster\n"

    monkeypatch.setattr(submit, "_slurm", slurm)
    monkeypatch.setattr(submit, "queued", lambda _folder: {2} if asked else set())
    attempt(folder, 1, "0-1", [gpu("a")])
    assert submit.main([str(folder)]) == 0 and "job 17: 2 of 3 tasks" in capsys.readouterr().out
    assert submit._jobs_file(folder).read_text() == "17 0,2\n"
    assert {"sbatch", "--array=0,2", "--exclude=n1", "--gres=gpu:8"} <= set(asked[0])
    assert submit.main([str(folder)]) == 0 and submit._jobs_file(folder).read_text() == "17 0,2\n17 0\n"


def test_both_pages_tell_what_is_bad(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each case that fails, each GPU without CONFORMS and each attempt that was cut short is in a line of its own."""
    bad = {**gpu("b", "VIOLATES"), "failed": ["WAIT-01.x", "MEM-01.y"], "reasons": ["one", "two", "three"]}
    attempt(folder, 0, "0-1", [gpu("a"), bad, {**gpu("c", "UNPROVEN"), "failed": ["WAIT-01.x"]}])
    attempt(folder, 1, "0-1", [gpu("d")], ended=False)
    assert report.main([str(folder)]) == 1
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for said in ("WAIT-01.x fails on 2 of 4", "MEM-01.y fails on 1 of 4", "GPU b on n: VIOLATES: one; two", "GPU c on n: UNPROVEN:",
                 "FLEET  VIOLATES  4 GPUs, 1 of 3 tasks done"):
        assert said in lines, said
    assert any(line.startswith("M, driver 1: 2 CONFORMS, 1 UNPROVEN, 1 VIOLATES; pooled bound") for line in lines)
    assert report.main([str(folder), "--json"]) == 1 and json.loads(capsys.readouterr().out)["exit"] == 1
    assert status.main([str(folder)]) == 0
    said = capsys.readouterr().out
    assert "1 of 3 tasks done, 0 held by Slurm, 2 missing; 4 GPUs judged: " in said and "cut short: task 1 on n1" in said
    assert all(part in said for part in ("2 CONFORMS", "1 VIOLATES", "1 UNPROVEN", "submits what is missing"))


def test_nothing_judged_is_said_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report.main([str(folder)]) == 2 and status.main([str(folder)]) == 0
    assert "0 GPUs judged: none" in capsys.readouterr().out


def test_an_attempt_knows_its_job(folder: Path) -> None:
    for name, more in (("0-1", {"job": "17"}), ("0-2", {})):
        writer = Writer(folder, 0, name)
        writer.write("begin", node="n0", **more)
        writer.close()
    assert [(one.node, one.job) for one in read(folder).attempts] == [("n0", "17"), ("n0", "")]
