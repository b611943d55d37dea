"""What the survey remembers of a package: counts, names of kernels and offsets, never code."""

from __future__ import annotations

import hashlib
import re
import resource
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.lint import analyser
from conformance.lint.findings import HINT, Finding
from conformance.lint.grouping import template_of
from conformance.lint.images import NO_CODE
from conformance.lint.linter import KernelVerdict, Options, lint_files
from conformance.lint.survey.wheels import Package
from conformance.pdlkit.cuda_programs import call, tool

SCHEMA = 1
_MODERN = 90  # the first architecture with PDL
_LONG_NAME = 48  # a plain name of this length is one of many that a generator made
_WORDS = 3
_NO_NUMBER = re.compile(r"\+0x[0-9a-f]+|\d+\.sm_\w+\.cubin:? |0x[0-9a-f]+")


def family_of(demangled: str) -> str:
    """Kernels that are counted together: a template's name, or the first words of a name that a generator made."""
    name = template_of(demangled)
    words = name.split("_")
    return "_".join(words[:_WORDS]) + "_*" if len(name) > _LONG_NAME and len(words) > _WORDS and "::" not in name else name


@dataclass
class Group:
    """All findings of one rule in one family of kernels."""

    rule: str
    severity: str
    family: str
    example: dict[str, object]
    count: int = 0
    kernels: set[tuple[str, str]] = field(default_factory=set)  # (architecture, mangled name)
    names: set[str] = field(default_factory=set)
    architectures: Counter[str] = field(default_factory=Counter)
    subjects: Counter[str] = field(default_factory=Counter)
    conditions: Counter[str] = field(default_factory=Counter)
    early: set[tuple[str, str]] = field(default_factory=set)  # of those kernels, the ones that trigger before they have waited
    imprecise: int = 0

    def add(self, finding: Finding, verdict: KernelVerdict) -> None:
        kernel = (verdict.arch, verdict.kernel)
        self.count += 1
        self.kernels.add(kernel)
        self.names.add(verdict.kernel)
        self.architectures[verdict.arch] += 1
        self.subjects[finding.subject or finding.message] += 1
        self.imprecise += finding.imprecise
        if finding.condition:
            self.conditions[finding.condition] += 1
        if verdict.triggers_early:
            self.early.add(kernel)

    def as_json(self) -> dict[str, object]:
        return {
            "rule": self.rule, "severity": self.severity, "family": self.family, "count": self.count, "kernels": len(self.kernels),
            "names": len(self.names), "trigger_before_wait": len(self.early), "imprecise": self.imprecise,
            "architectures": dict(sorted(self.architectures.items())), "subjects": dict(sorted(self.subjects.items())),
            "conditions": dict(sorted(self.conditions.items())), "example": self.example,
        }


@dataclass
class Tally:
    """Kernels of one architecture, each image's copy counted."""

    kernels: int = 0
    waiting: int = 0
    triggering: int = 0
    both: int = 0
    trigger_before_wait: int = 0

    def add(self, verdict: KernelVerdict) -> None:
        self.kernels += 1
        self.waiting += verdict.waits
        self.triggering += verdict.triggers
        self.both += verdict.waits and verdict.triggers
        self.trigger_before_wait += verdict.waits and verdict.triggers_early


class Record:
    """Grows file by file."""

    def __init__(self, package: Package, only: frozenset[int] = frozenset()) -> None:
        self.package, self.only = package, only  # only: these architectures; empty: all
        self.files: list[dict[str, object]] = []
        self.tallies: dict[str, Tally] = {}
        self.groups: dict[tuple[str, str], Group] = {}
        self.hints: Counter[str] = Counter()
        self.names: set[str] = set()
        self.early: Counter[str] = Counter()  # family -> kernels that trigger before they have waited
        self.never_waits: Counter[str] = Counter()  # family -> kernels that trigger, but never wait
        self.unreadable: Counter[str] = Counter()
        self.left_alone = 0
        self.wall_s, self.cpu_s = 0.0, 0.0  # of lint alone: fetching and compiling are no time of its own

    @property
    def kernels(self) -> int:
        return sum(tally.kernels for tally in self.tallies.values())

    def judge(self, file: Path) -> None:
        """Lint one file and add what it says."""
        begun, cpu = time.monotonic(), _cpu_seconds()
        overlapping = re.compile(self.package.overlapping) if self.package.overlapping is not None else None
        report = lint_files([file], Options(overlapping=overlapping, architectures=self.only))
        self.wall_s += time.monotonic() - begun
        self.cpu_s += _cpu_seconds() - cpu
        modern = [v for v in report.verdicts if int(v.arch.removeprefix("sm_")) >= _MODERN]
        images = {verdict.image for verdict in modern}
        self.files.append({"name": file.name, "bytes": file.stat().st_size, "images": len(images), "kernels": len(modern)})
        for verdict in modern:
            self._add(verdict)
        for _, message in report.unreadable:
            if self.only and message.startswith(NO_CODE):  # it holds code, for other architectures
                continue
            self.unreadable[_NO_NUMBER.sub("", message)] += 1
        for note in report.notes:
            found = re.search(r": (\d+) images for GPUs without PDL", note)
            self.left_alone += int(found[1]) if found else 0

    def _add(self, verdict: KernelVerdict) -> None:
        self.names.add(verdict.kernel)
        self.tallies.setdefault(verdict.arch, Tally()).add(verdict)
        family = family_of(verdict.demangled)
        if verdict.waits and verdict.triggers_early:
            self.early[family] += 1
        if verdict.triggers and not verdict.waits:
            self.never_waits[family] += 1
        for finding in verdict.findings:
            if finding.severity == HINT:
                self.hints[finding.id] += 1
                continue
            key = finding.id, family
            if key not in self.groups:
                self.groups[key] = Group(finding.id, finding.severity, family, _place(finding))
            self.groups[key].add(finding, verdict)

    def as_json(self) -> dict[str, object]:
        total = Tally()
        for tally in self.tallies.values():
            for name, value in vars(tally).items():
                setattr(total, name, getattr(total, name) + value)
        found = [group.as_json() for _, group in sorted(self.groups.items())]
        largest = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return {
            "schema": SCHEMA, **{k: v for k, v in vars(self.package).items() if v},
            "only": sorted(self.only), "lint": _lint_version(), "nvdisasm": _nvdisasm_version(),
            "files": sorted(self.files, key=lambda row: str(row["name"])) if len(self.files) <= 64 else _summed(self.files),
            "images_without_pdl": self.left_alone, "kernel_names": len(self.names), "total": vars(total),
            "architectures": {arch: vars(tally) for arch, tally in sorted(self.tallies.items())},
            "findings": found, "hints": dict(sorted(self.hints.items())),
            "trigger_before_wait": dict(sorted(self.early.items())), "trigger_without_wait": dict(sorted(self.never_waits.items())),
            "unreadable": dict(sorted(self.unreadable.items())),
            "cost": {"wall_s": round(self.wall_s, 1), "cpu_s": round(self.cpu_s, 1),
                     "largest_process_mb": round(largest / 1024)},
        }


def _summed(files: Iterable[dict[str, Any]]) -> list[dict[str, object]]:
    """Thousands of small files as one row."""
    rows = list(files)
    return [{"name": f"{len(rows)} files", **{key: sum(int(row[key]) for row in rows) for key in ("bytes", "images", "kernels")}}]


def _place(finding: Finding) -> dict[str, object]:
    return {"kernel": finding.kernel, "file": Path(finding.file).name, "image": finding.image, "arch": finding.arch,
            "section": finding.section if finding.section != finding.kernel else None, "offset": finding.offset, "message": finding.message}


def _lint_version() -> str:
    """Of the analysis that judged: it changes with every line of its sources."""
    digest = hashlib.sha256()
    for source in [*analyser.c_files(), *sorted(analyser.SOURCES.parent.glob("*.py"))]:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _nvdisasm_version() -> str:
    """Such as 13.0.85."""
    found = re.search(r"V(\d+\.\d+\.\d+)", call([str(tool("nvdisasm")), "--version"]))
    return found[1] if found else "unknown"


def _cpu_seconds() -> float:
    """Of this process and the children that have ended."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
