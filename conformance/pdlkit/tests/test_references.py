"""Every id that the tree cites stands in references.md, and `list` leads to it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conformance.pdlkit import list_rules, references
from conformance.pdlkit.places import ROOT, RULES
from conformance.pdlkit.rules import load

# Files of text that engineers write. Records hold hashes and code names, tests make ids up.
SUFFIXES = {".c", ".cmake", ".cpp", ".cu", ".cuh", ".h", ".md", ".py", ".toml", ".txt"}
# What stands around an id tells it from opcodes (HADD2.F32), addresses (0xF10) and hexadecimal digits.
CITED = re.compile(rf"(?<![\w.#/+-])(?:{references.ID.pattern})(?![\w.])")


def _tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("not a git checkout, so the files of the tree are not known")
    names = [Path(name) for name in done.stdout.split("\0") if name]
    data = {"tests", "results", "fuzzing"}  # what is no text of ours: "B99" in a listing is a barrier
    return [name for name in names if name.suffix in SUFFIXES and data.isdisjoint(name.parts)]


def cited(text: str) -> set[str]:
    """The ids of references in a text."""
    return set(CITED.findall(text))


def test_every_cited_id_is_explained() -> None:
    known = references.load()
    missing = [f"{name}: {each}" for name in _tracked() if name.name != "references.md" and (ROOT / name).is_file()
               for each in sorted(cited((ROOT / name).read_text(encoding="utf-8")) - set(known))]
    assert not missing, "\n".join(missing)


def test_every_rule_has_its_clause() -> None:
    known = references.load()
    clauses = {match for rule in load(RULES).rules for match in re.findall(r"PDL-[A-Z]+-\d+", rule.source)}
    assert len(clauses) > 100 and clauses <= set(known)


def test_ids_are_found_where_they_are_cited() -> None:
    text = "/* F29b, after PDL-WAIT-01 (AMB-02); bugs B01, B53 */\nHADD2.F32 R0\n0xF10 B9 UTF-16 sm_90 FE-12"
    assert cited(text) == {"F29b", "PDL-WAIT-01", "AMB-02", "B01", "B53", "FE-12"}


def test_an_entry_twice_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "references.md"
    page.write_text("| id | what |\n|---|---|\n| B01 | one |\n| B01 | two |\n")
    with pytest.raises(ValueError, match="B01 twice, in lines 3 and 4"):
        references.load(page)


@pytest.mark.parametrize("name, said", [("B01", "cutlass"), ("b15", "merge sort"), ("F45", "one call"), ("AMB-01", "direct dependencies"),
                                        ("PDL-WAIT-01", "rule     WAIT-01")])
def test_list_leads_to_the_entry(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert list_rules.main([name]) == 0
    out = capsys.readouterr().out
    assert said in out and f"conformance/references.md:{references.load()[name.upper()].line}" in out


def test_list_names_what_rests_on_a_bug(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_rules.main(["B01"]) == 0
    assert "mutant   nowait" in capsys.readouterr().out
