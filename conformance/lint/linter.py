"""Files in, findings out: what the command line, the tests and the comparison with hardware call."""

from __future__ import annotations

import errno
import re
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from conformance.lint.analyser import Question, analyse
from conformance.lint.declarations import Declaration
from conformance.lint.disassembly import disassemble, sections_wanted
from conformance.lint.results import KernelResult
from conformance.lint.findings import RULES, Finding, above_hint
from conformance.lint.images import Image, Unreadable, open_images
from conformance.lint.kernel_rules import KernelRules
from conformance.pdlkit.cuda_programs import ToolFailed
from conformance.pdlkit.demangle import demangled
from conformance.pdlkit.elf import CorruptFile, Cubin
from conformance.pdlkit.exits import KitExit, SetupImpossible

DEFECT = "lint failed on this machine code"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE)


@dataclass
class Options:
    overlapping: re.Pattern[str] | None = None
    declarations: list[Declaration] = field(default_factory=list)
    architectures: frozenset[int] = frozenset()  # empty: all
    kernels: frozenset[str] = frozenset()  # mangled names; empty: all

    def is_overlapping(self, kernel: str) -> bool:
        pattern = self.overlapping
        return pattern is not None and bool(pattern.search(kernel) or pattern.search(demangled(kernel)))


@dataclass
class KernelVerdict:
    """What lint says of one kernel of one image."""

    kernel: str
    demangled: str
    file: str
    image: str | None
    arch: str
    judged: bool  # False: it has no wait and was not named, so nothing follows from its code
    waits: bool = False  # its code, or code that it calls in the same file, has a wait
    findings: list[Finding] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not above_hint(self.findings)


@dataclass
class Report:
    verdicts: list[KernelVerdict] = field(default_factory=list)
    extra: list[Finding] = field(default_factory=list)  # of no kernel: unused declarations
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    instructions: int = 0
    own_seconds: float = 0.0  # of one core, in our code, the analysis included
    disassembler_seconds: float = 0.0  # on the clock, in nvdisasm
    named: int = 0  # kernels that matched --overlapping

    @property
    def findings(self) -> list[Finding]:
        return [f for v in self.verdicts for f in v.findings] + self.extra


def lint_files(files: Iterable[Path], options: Options) -> Report:
    """Analyse every file; one that cannot be read is noted and the others go on."""
    report = Report()
    with _workplace() as folder:
        for file in files:
            first = len(report.verdicts)
            _lint_file(file, Path(folder), options, report)
            _settle_old_images(report, first)
    for declaration in options.declarations:
        if not declaration.used:
            what = ", ".join([f"parameter {p}" for p in sorted(declaration.parameters)]
                             + [f"variable {v}" for v in sorted(declaration.variables)])
            message = f"`{declaration.kernel.pattern}`, {what}: no early access matches it"
            report.extra.append(Finding("unused-declaration", "", "", declaration.source, "", message, declaration.source))
    return report


def _workplace() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="pdl-lint-", ignore_cleanup_errors=True)
    except OSError as error:
        raise SetupImpossible(f"lint needs a temporary folder ({error}); set TMPDIR to one that can be written") from None


def _lint_file(file: Path, workplace: Path, options: Options, report: Report) -> None:
    try:
        for image in open_images(file, workplace, options.architectures):
            _lint_image_or_say_why(image, options, report)
    except (Unreadable, CorruptFile) as error:
        report.unreadable.append((str(file), str(error)))
    except MemoryError:
        report.unreadable.append((str(file), "there is not enough memory for it"))
    except OSError as error:
        _stop_if_full(error)
        report.unreadable.append((str(file), f"it cannot be read: {error}"))


def _stop_if_full(error: OSError) -> None:
    """Without room for what lint writes, the next file would fail as well, and none of them is to blame."""
    if error.errno in _FULL:
        raise SetupImpossible(f"lint cannot write below {tempfile.gettempdir()}: {error.strerror}; set TMPDIR") from None


def _lint_image_or_say_why(image: Image, options: Options, report: Report) -> None:
    """One image of a file that cannot be analysed keeps none of the others from it."""
    inner = f"{image.inner}: " if image.inner else ""
    known = len(report.verdicts)
    try:
        _lint_image(image, options, report)
    except (Unreadable, CorruptFile) as error:
        report.unreadable.append((image.file, f"{inner}{error}"))
    except KitExit:  # nothing of the image: a tool is missing
        raise
    except MemoryError:
        report.unreadable.append((image.file, f"{inner}there is not enough memory for it"))
    except Exception as error:  # noqa: BLE001 - code that no compiler wrote; the others still have to be judged
        if isinstance(error, OSError):
            _stop_if_full(error)
        report.unreadable.append((image.file, f"{inner}{DEFECT} ({type(error).__name__}: {error}); the file may be damaged"))
    else:
        return
    del report.verdicts[known:]


def _lint_image(image: Image, options: Options, report: Report) -> None:
    started = time.process_time()
    cubin = image.cubin
    kernels = [k for k in cubin.kernels if not options.kernels or k in options.kernels]
    if options.kernels and not kernels:
        return
    named = {k for k in kernels if options.is_overlapping(k)}
    report.named += len(named)
    wanted = sections_wanted(cubin, named) - (set(cubin.kernels) - set(kernels))
    analysed = _analyse(image, kernels, wanted, report) if wanted else {}
    arch = f"sm_{cubin.sm}"
    for kernel in kernels:
        name = demangled(kernel)
        verdict = KernelVerdict(kernel, name, image.file, image.inner, arch, False)
        report.verdicts.append(verdict)
        result = analysed.get(kernel)
        verdict.judged = kernel in named
        if result is None and kernel not in named:
            continue
        if result is None and cubin.sm >= 90:
            report.unreadable.append((image.file, f"{image.inner + ': ' if image.inner else ''}the kernel {name} has no code"))
            continue
        judge = KernelRules(cubin, (image.file, image.inner, arch, kernel, name), kernel in named, options.declarations)
        if result is not None:
            verdict.findings = judge.judge(result)
            verdict.waits = result.waits
            verdict.judged |= result.waits
        else:
            judge.add("no-device-half", f"machine code for {arch}, which cannot overlap; named overlapping")
            verdict.findings = judge.findings
    report.own_seconds += time.process_time() - started


def _analyse(image: Image, kernels: list[str], wanted: set[str], report: Report) -> dict[str, KernelResult]:
    """What the analysis says of those kernels that the disassembler prints."""
    started = time.perf_counter()
    try:
        parts = disassemble(image, wanted)
    except ToolFailed as error:
        raise Unreadable(f"{image.inner or 'the cubin'} cannot be disassembled: {error}") from None
    finally:
        report.disassembler_seconds += time.perf_counter() - started
    answer = analyse(Question.of(image.cubin, (k for k in kernels if k in parts)), parts.values())
    report.instructions += answer.instructions
    report.own_seconds += answer.seconds
    _demand_all(image.cubin, wanted, set(parts), answer.instructions)
    return answer.kernels


def _demand_all(cubin: Cubin, wanted: set[str], printed: set[str], instructions: int) -> None:
    """What the disassembler left out, or what lint could not read of it, would be skipped silently."""
    sizes = {s.name.removeprefix(".text."): s.size // 16 for s in cubin.sections if s.name.startswith(".text.")}
    missing = sorted(name for name in wanted - printed if sizes.get(name))
    if missing:
        raise Unreadable(f"nvdisasm printed nothing of {missing[0]}" + (f" and {len(missing) - 1} others" if missing[1:] else ""))
    there = sum(sizes[name] for name in printed if name in sizes)
    if instructions < there:
        raise Unreadable(f"of {there} instructions that nvdisasm should have printed lint can read {instructions}")


def _settle_old_images(report: Report, first: int) -> None:
    """Code for a GPU that cannot overlap is an error only if the file has nothing better for this kernel."""
    verdicts = report.verdicts[first:]
    modern = {v.kernel for v in verdicts if int(v.arch.removeprefix("sm_")) >= 90}
    for verdict in verdicts:
        if int(verdict.arch.removeprefix("sm_")) < 90 and verdict.kernel in modern:
            verdict.findings, verdict.judged = [], False


def rule_names() -> list[str]:
    return list(RULES)


__all__ = ["CorruptFile", "KernelVerdict", "Options", "Report", "lint_files", "rule_names"]
