"""Files in, findings out: what the command line, the tests and the comparison with hardware call."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pdlkit.lint.declarations import Declaration
from pdlkit.lint.demangle import demangled
from pdlkit.lint.elf import CorruptFile
from pdlkit.lint.findings import RULES, Finding, above_hint
from pdlkit.lint.images import Image, Unreadable, open_images
from pdlkit.lint.judge import Judge
from pdlkit.lint.opcodes import SCANNED_ARCHITECTURES, TRIGGER_CODE, WAIT_CODE
from pdlkit.lint.program import Program
from pdlkit.lint.sass import count_instructions, split_functions
from pdlkit.lint.tools import ToolFailed, call, tool

DEFECT = "lint failed on this machine code"
_AT_ONCE = 400  # functions named in one call of nvdisasm; more and the command line gets long


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
    own_seconds: float = 0.0  # of one core, in our code
    disassembler_seconds: float = 0.0  # on the clock, in nvdisasm
    named: int = 0  # kernels that matched --overlapping

    @property
    def findings(self) -> list[Finding]:
        return [f for v in self.verdicts for f in v.findings] + self.extra


def lint_files(files: Iterable[Path], options: Options) -> Report:
    """Analyse every file; one that cannot be read is noted and the others go on."""
    report = Report()
    with tempfile.TemporaryDirectory(prefix="pdl-lint-") as folder:
        for file in files:
            first = len(report.verdicts)
            try:
                for image in open_images(file, Path(folder), options.architectures):
                    _lint_image_or_say_why(image, options, report)
            except (Unreadable, CorruptFile) as error:
                report.unreadable.append((str(file), str(error)))
            _settle_old_images(report, first)
    for declaration in options.declarations:
        if not declaration.used:
            what = ", ".join([f"parameter {p}" for p in sorted(declaration.parameters)]
                             + [f"variable {v}" for v in sorted(declaration.variables)])
            message = f"`{declaration.kernel.pattern}`, {what}: no early access matches it"
            report.extra.append(Finding("unused-declaration", "", "", declaration.source, "", message, declaration.source))
    return report


def _lint_image_or_say_why(image: Image, options: Options, report: Report) -> None:
    """One image of a file that cannot be analysed keeps none of the others from it."""
    inner = f"{image.inner}: " if image.inner else ""
    known = len(report.verdicts)
    try:
        _lint_image(image, options, report)
    except (Unreadable, CorruptFile) as error:
        report.unreadable.append((image.file, f"{inner}{error}"))
    except Exception as error:  # noqa: BLE001 - code that no compiler wrote; the others still have to be judged
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
    wanted = _sections_wanted(image, named) - (set(cubin.kernels) - set(kernels))
    try:
        texts = _disassemble(image, wanted, report) if wanted else {}
    except ToolFailed as error:
        raise Unreadable(f"{image.inner or 'the cubin'} cannot be disassembled: {error}") from None
    program = Program(cubin, texts)
    arch = f"sm_{cubin.sm}"
    for kernel in kernels:
        name = demangled(kernel)
        verdict = KernelVerdict(kernel, name, image.file, image.inner, arch, False)
        report.verdicts.append(verdict)
        if kernel not in texts:
            if kernel in named:
                verdict.judged = True
                judge = Judge(program, (image.file, image.inner, arch, kernel, name), True, [])
                judge.add("no-device-half", f"machine code for {arch}, which cannot overlap; named overlapping")
                verdict.findings = judge.findings
            continue
        judge = Judge(program, (image.file, image.inner, arch, kernel, name), kernel in named, options.declarations)
        verdict.findings = judge.judge()
        verdict.judged = judge.waits or kernel in named
    report.instructions += sum(count_instructions(text) for text in texts.values())
    report.own_seconds += time.process_time() - started


def _settle_old_images(report: Report, first: int) -> None:
    """Code for a GPU that cannot overlap is an error only if the file has nothing better for this kernel."""
    verdicts = report.verdicts[first:]
    modern = {v.kernel for v in verdicts if int(v.arch.removeprefix("sm_")) >= 90}
    for verdict in verdicts:
        if int(verdict.arch.removeprefix("sm_")) < 90 and verdict.kernel in modern:
            verdict.findings, verdict.judged = [], False


def _sections_wanted(image: Image, named: set[str]) -> set[str]:
    """The code sections worth disassembling; a scan of the raw code spares the rest. An empty set: none."""
    cubin = image.cubin
    if cubin.sm < 90:
        return set()
    sections = [s for s in cubin.sections if s.name.startswith(".text.")]
    everything = {s.name.removeprefix(".text.") for s in sections}
    if cubin.sm not in SCANNED_ARCHITECTURES:
        return everything
    opcodes = frozenset({WAIT_CODE, TRIGGER_CODE})
    hits = {s.name.removeprefix(".text.") for s in sections if cubin.may_contain(s, opcodes)}
    if not hits and not named:
        return set()
    kernels = set(cubin.kernels)
    if hits - kernels:  # a wait in a device function: any kernel may call it
        return everything
    return hits | named | (everything - kernels)


def _disassemble(image: Image, wanted: set[str], report: Report) -> dict[str, str]:
    """Section -> text, from as few calls of nvdisasm as possible; whole cubins when most of it is wanted."""
    started = time.perf_counter()
    cubin = image.cubin
    indices = {s.name: i for i, s in enumerate(cubin.symbols) if s.kind == 2}
    command = [str(tool("nvdisasm")), "-c", "-g", str(image.path)]
    total = sum(1 for s in cubin.sections if s.name.startswith(".text."))
    texts: dict[str, str] = {}
    chosen = [indices[name] for name in sorted(wanted) if name in indices]
    if len(wanted) > _AT_ONCE or len(wanted) * 2 > total or len(chosen) < len(wanted):
        texts = dict(split_functions(call(command)))
    elif chosen:
        texts = dict(split_functions(call([*command, "-fun", ",".join(map(str, chosen))])))
    report.disassembler_seconds += time.perf_counter() - started
    if not texts:
        raise ToolFailed("nvdisasm printed no code")
    return {name: text for name, text in texts.items() if name in wanted}


def rule_names() -> list[str]:
    return list(RULES)


__all__ = ["CorruptFile", "KernelVerdict", "Options", "Report", "lint_files", "rule_names"]
