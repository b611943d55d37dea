"""The examples' form, and the script that fills their index."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from conformance.pdlkit.places import KIT, ROOT

EXAMPLES = ROOT / "examples"
FILES = sorted(EXAMPLES.glob("[0-9][0-9]_*.cu"))


def _gains() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gains", EXAMPLES / "gains.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_form(file: Path) -> None:
    lines = file.read_text().splitlines()
    assert len(lines) <= 85 and max(map(len, lines)) <= 120
    assert lines[0].startswith(f"// {file.stem}: ") and lines[0].endswith("Licence: 0BSD")
    assert re.fullmatch(rf"// nvcc .*-I\.\. {file.stem}\.cu -o {file.stem}", lines[1])
    included = [line.split()[1] for line in lines if line.startswith("#include")]
    assert included[-3:] == ['"pdl.h"', '"pdl_device.cuh"', '"measure.h"'] and set(included[:-3]) <= {"<cuda/barrier>"}
    assert f'm.name = "{file.stem}";' in file.read_text() and "return measure(&m);" in file.read_text()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_example_times_or_prints(file: Path) -> None:
    words = re.findall(r"\b(printf|clock64|cudaEventElapsedTime|cudaMalloc|cudaMemcpy)\(", file.read_text())
    assert not words, f"{words} belong into measure.h"


@pytest.mark.parametrize("name", ["15_c_host_nvrtc", "17_c_host_nvcc"])
def test_form_of_a_c_host(name: str) -> None:
    lines = (EXAMPLES / name / "main.c").read_text().splitlines()
    assert lines[0].startswith(f"/* {name}: ") and lines[0].endswith("Licence: 0BSD") and max(map(len, lines)) <= 120
    assert re.fullmatch(rf" \* nvcc .*-I\.\./\.\. -I\.\. main\.c .*-o {name}.*", lines[1])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_call_is_checked(file: Path) -> None:
    text = re.sub(r"//.*", "", file.read_text())
    calls = re.findall(r"^(.*?)\b(?:cuda[A-Z]\w+|pdl(?:::launch|_(?:launch|kernel_init|event_create|attributes_fill)))\(", text, re.M)
    loose = [before for before in calls if not re.search(r"CHECK\(|if \(|\? |: |return |static ", before)]
    assert calls and not loose


def test_index_names_every_example() -> None:
    rows = re.findall(r"^\| \[(\d\d_\w+)\]", (EXAMPLES / "README.md").read_text(), re.M)
    assert rows == sorted(path.stem for path in EXAMPLES.glob("[0-9][0-9]_*") if path.suffix in ("", ".cu"))


def test_index_is_filled_from_a_record_and_only_from_it() -> None:
    gains = _gains()
    row = {"name": "01_two_kernels", "status": "right", "plain_us": 7.2, "pdl_us": 5.1, "gain": 1.41, "limit_percent": 98.0,
           "per": "kernel"}
    text = gains.filled(gains.README.read_text(), {"device": {"gpu": "G", "driver": "1"}, "examples": [row]})
    assert "| 7.20 to 5.10 us per kernel, 1.41x | 98 % |" in text and "Recorded on G, driver 1." in text
    assert text.count("| - | - |") == len(re.findall(r"^\| \[\d\d_", text, re.M)) - 1
    row["status"] = "wrong"
    assert "1.41x" not in gains.filled(text, {"device": {"gpu": "G", "driver": "1"}, "examples": [row]})


def test_index_holds_the_recorded_figures() -> None:
    gains = _gains()
    records = sorted((KIT / "results").glob("*-examples.json"))
    assert records
    assert any(gains.main(["check", str(record)]) == 0 for record in records), "make the index again: gains.py index RECORD"


def test_path_of_an_example_is_read_from_its_source() -> None:
    gains = _gains()
    paths = {name: gains.path_of(name) for name in gains.names()}
    assert {name[:2] for name, path in paths.items() if path == "graph"} == {"05", "07", "08", "11", "19"}
    assert "17_c_host_nvcc" in paths


def test_broken_and_wrong_examples_are_noticed(tmp_path: Path) -> None:
    gains = _gains()
    said = "01_x: plain 2.00 us, PDL 1.00 us per kernel, gain 2.00x, 90 % of the limit, {} words wrong"
    for script, status in ((f"echo '{said.format(0)}'", "right"), (f"echo '{said.format(3)}'; exit 1", "wrong"),
                           ("exit 77", "skipped"), ("echo hello", "broken"), ("exit 1", "broken")):
        program = tmp_path / "01_x"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        assert gains.run_one(program)["status"] == status


def test_an_example_that_builds_itself_is_run_by_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what the compiler says before its own line is left aside."""
    gains = _gains()
    monkeypatch.setattr(gains, "HERE", tmp_path)
    (tmp_path / "19_x").mkdir()
    said = "19_x: plain 2.00 us, PDL 1.00 us per kernel, gain 2.00x, 0 words wrong"
    (tmp_path / "19_x" / "run.py").write_text(f"print('ninja: building')\nprint({said!r})\ng = 'torch.cuda.CUDAGraph()'\n")
    output = tmp_path / "record.json"
    assert gains.names() == ["19_x"] and gains.run(tmp_path / "built", output) == 0
    (row,) = json.loads(output.read_text())["examples"]
    assert row["status"] == "right" and row["gain"] == 2.0 and row["path"] == "graph"
