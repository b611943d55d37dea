"""Files in, findings out: what the command line, the tests and the comparison with hardware call."""

from __future__ import annotations

import errno
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conformance.lint import cache as results_cache
from conformance.lint.cache import Cache
from conformance.lint.declarations import Chain, Declaration
from conformance.lint.findings import RULES, Finding, above_hint
from conformance.lint.images import Opened, open_file
from conformance.lint.judged import ALL, JudgedImage, KernelVerdict, keep
from conformance.lint.kernel_rules import KernelRules
from conformance.lint.launches import Launches
from conformance.lint.packed import Packed, Told, tell
from conformance.lint.pipeline import DEFECT, Outcome, Pipeline, Progress
from conformance.lint.ptx import chosen, source_of
from conformance.lint.sources import OLDEST, Unreadable
from conformance.lint.summary import ERASED_WAIT, ImageSummary
from conformance.lint.suppressions import Suppression, allowed_in_source
from conformance.pdlkit.demangle import demangled
from conformance.pdlkit.elf import CorruptFile
from conformance.pdlkit.exits import SetupImpossible

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE)


@dataclass
class Options:
    overlapping: re.Pattern[str] | None = None
    declarations: list[Declaration] = field(default_factory=list)
    architectures: frozenset[int] = frozenset()  # empty: all
    kernels: frozenset[str] = frozenset()  # mangled names; empty: all
    launches: Launches = field(default_factory=Launches)
    chains: list[Chain] = field(default_factory=list)
    suppressions: list[Suppression] = field(default_factory=list)
    baseline: frozenset[str] = frozenset()  # fingerprints
    cached: bool = False
    progress: bool = False
    needs: str = ALL  # of the findings; GROUPS and JSON may come from what an earlier run said

    @property
    def plain(self) -> bool:
        """Whether what is said of an image follows from the image alone."""
        return not (self.names_kernels or self.declarations or self.kernels or self.suppressions or self.baseline)

    def why_overlapping(self, kernel: str) -> str | None:
        """What says that this kernel is launched with overlap; None: nothing does."""
        pattern = self.overlapping
        if pattern is not None and (pattern.search(kernel) or pattern.search(demangled(kernel))):
            return "named overlapping"
        return self.launches.why_overlapping(kernel)

    def in_chain(self, kernel: str) -> bool:
        return any(c.kernels.search(kernel) or c.kernels.search(demangled(kernel)) for c in self.chains)

    @property
    def names_kernels(self) -> bool:
        return self.overlapping is not None or bool(self.chains) or bool(self.launches.overlapping)


@dataclass
class Report:
    verdicts: list[KernelVerdict] = field(default_factory=list)
    extra: list[Finding] = field(default_factory=list)  # of no kernel: unused declarations
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # for people, on stderr
    instructions: int = 0
    own_seconds: float = 0.0  # of one core, in the analysis
    named: int = 0  # kernels that are said to be launched with overlap
    unmatched: bool = False  # --overlapping or --launches names kernels, and none is there

    @property
    def findings(self) -> list[Finding]:
        """All at once; each_finding needs less memory."""
        return list(self.each_finding())

    def each_finding(self) -> Iterator[Finding]:
        """One kernel after the other."""
        for verdict in self.verdicts:
            yield from verdict.findings
        yield from self.extra

    def told(self) -> list[Told]:
        """The findings in groups."""
        return [t for v in self.verdicts for t in v.told] + tell(self.extra)

    @property
    def not_judged(self) -> list[KernelVerdict]:
        """Each kernel once, whatever it was compiled for."""
        judged = {v.kernel for v in self.verdicts if v.judged}
        rest = {v.kernel: v for v in self.verdicts if v.kernel not in judged}
        return list(rest.values())


def lint_files(files: Iterable[Path], options: Options) -> Report:
    """Analyse every file; one that cannot be read is noted and the others go on."""
    report = Report()
    cache = Cache(results_cache.folder() if options.cached else None)
    progress = Progress(options.progress)
    try:
        with _workplace() as folder:
            for file in files:
                first = len(report.verdicts)
                _lint_file(file, Path(folder), options, report, cache, progress)
                _settle_old_images(report, first)
    finally:
        progress.end()
        cache.close()
    _finish(report, options)
    return report


def _workplace() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="pdl-lint-", ignore_cleanup_errors=True)
    except OSError as error:
        raise SetupImpossible(f"lint needs a temporary folder ({error}); set TMPDIR to one that can be written") from None


def _lint_file(file: Path, workplace: Path, options: Options, report: Report, cache: Cache, progress: Progress) -> None:
    def named(kernel: str) -> bool:
        chosen = not options.kernels or kernel in options.kernels
        return chosen and (options.why_overlapping(kernel) is not None or options.in_chain(kernel))

    pipeline = Pipeline(named, options.kernels, workplace, cache, progress,
                        options.needs if options.cached and options.plain else ALL)
    try:
        opened = open_file(file, workplace, options.architectures, options.names_kernels)
        first = len(report.verdicts)
        broken = len(report.unreadable)
        for outcome in pipeline.run(opened.sources):
            _take(outcome, options, report, cache)
        modern = {v.kernel for v in report.verdicts[first:] if int(v.arch.removeprefix("sm_")) >= OLDEST}
        texts = pipeline.texts(opened.ptx, opened.problems)
        for outcome in pipeline.run(source_of(ptx, contents, file, workplace) for ptx, contents in chosen(texts, modern, named)):
            _take(outcome, options, report, cache)
        _note_rest(file, opened, options.architectures, report, first, broken)
    except (Unreadable, CorruptFile) as error:
        report.unreadable.append((str(file), str(error)))
    except MemoryError:
        report.unreadable.append((str(file), "there is not enough memory for it"))
    except OSError as error:
        _stop_if_full(error)
        report.unreadable.append((str(file), f"it cannot be read: {error}"))


def _note_rest(file: Path, opened: Opened, architectures: frozenset[int], report: Report, first: int, broken: int) -> None:
    """What of the file was not judged, and why."""
    for problem in opened.problems:
        report.unreadable.append((str(file), problem))
    nothing = len(report.verdicts) == first and len(report.unreadable) == broken
    if nothing and not opened.left_alone and not opened.ptx:
        report.unreadable.append((str(file), opened.without_code(architectures)))
    if opened.left_alone:
        report.notes.append(f"{file}: {opened.left_alone} images for GPUs without PDL were left alone")
    rest = sum(not v.judged for v in report.verdicts[first:])
    if opened.overlap_calls and rest:
        report.notes.append(f"{file}: calls {', '.join(sorted(set(opened.overlap_calls)))}, which can ask for overlap, and {rest} of its "
                            "kernels have no wait: --launches or --overlapping says which of them overlap")


def _stop_if_full(error: OSError) -> None:
    """Without room for what lint writes, the next file would fail as well, and none of them is to blame."""
    if error.errno in _FULL:
        raise SetupImpossible(f"lint cannot write below {tempfile.gettempdir()}: {error.strerror}; set TMPDIR") from None


def _take(outcome: Outcome, options: Options, report: Report, cache: Cache) -> None:
    """The findings of one image."""
    if outcome.judged is not None:
        report.verdicts += outcome.judged.verdicts
        report.instructions += outcome.judged.instructions
        report.own_seconds += outcome.judged.seconds
        return
    if outcome.summary is None:
        report.unreadable.append((outcome.source.file, outcome.problem or ""))
        return
    known, broken = len(report.verdicts), len(report.unreadable)
    try:
        _judge_image(outcome.source.file, outcome.source.inner, outcome.summary, options, report)
        _note_erased_waits(outcome.source.file, outcome.source.inner, outcome.summary, report, known)
        if outcome.key and outcome.summary.rows and not outcome.summary.erased_waits and len(report.unreadable) == broken:
            keep(cache, outcome.key, options.needs, JudgedImage(outcome.summary.instructions, outcome.summary.seconds,
                                                                report.verdicts[known:]))
    except Exception as error:  # noqa: BLE001 - as in the pipeline
        del report.verdicts[known:]
        report.unreadable.append((outcome.source.file, f"{DEFECT} ({type(error).__name__}: {error}); the file may be damaged"))


def _note_erased_waits(file: str, inner: str | None, summary: ImageSummary, report: Report, first: int) -> None:
    """The mark alone does not say which kernel lost its wait, so it is an error only for those that overlap without one."""
    if summary.erased_waits and not any(t.first.id == "erased-wait" for v in report.verdicts[first:] for t in v.told):
        report.notes.append(f"{file}: {inner + ': ' if inner else ''}it holds {ERASED_WAIT}: some of its code was compiled below "
                            "compute_90, where a wait is nothing; --overlapping or --launches says which of its kernels overlap")


def _judge_image(file: str, inner: str | None, summary: ImageSummary, options: Options, report: Report) -> None:
    report.instructions += summary.instructions
    report.own_seconds += summary.seconds
    arch = f"sm_{summary.sm}"
    for kernel in summary.kernels:
        if options.kernels and kernel not in options.kernels:
            continue
        why, name = options.why_overlapping(kernel), demangled(kernel)
        report.named += why is not None
        verdict = KernelVerdict(kernel, name, file, inner, arch, why is not None)
        report.verdicts.append(verdict)
        result = summary.result(kernel)
        if result is None and why is None:
            continue
        if result is None and summary.sm >= OLDEST:
            report.unreadable.append((file, f"{inner + ': ' if inner else ''}the kernel {name} has no code"))
            continue
        rules = KernelRules(summary, (file, inner, arch, kernel, name), why, options.declarations, options.chains)
        if result is not None:
            verdict.findings = Packed(rules.judge(result))
            verdict.waits, verdict.triggers, verdict.triggers_early = result.waits, result.triggers, bool(result.early_triggers)
            verdict.judged |= result.waits or bool(rules.chains)
        else:
            rules.add("no-device-half", f"machine code for {arch}, which cannot overlap; {why}")
            verdict.findings = rules.findings


def _settle_old_images(report: Report, first: int) -> None:
    """Code for a GPU that cannot overlap is an error only if the file has nothing better for this kernel."""
    verdicts = report.verdicts[first:]
    modern = {v.kernel for v in verdicts if int(v.arch.removeprefix("sm_")) >= OLDEST}
    for verdict in verdicts:
        if int(verdict.arch.removeprefix("sm_")) < OLDEST and verdict.kernel in modern:
            verdict.findings, verdict.judged = [], False


def _finish(report: Report, options: Options) -> None:
    """Suppressions, the baseline, and what of the user's own files matched nothing."""
    for verdict in report.verdicts:
        if options.suppressions or options.baseline or any(told.lined for told in verdict.told):
            findings = list(verdict.findings)
            _accept(findings, options)
            verdict.findings = Packed(findings)
    for declaration in options.declarations:
        if not declaration.used:
            what = ", ".join([f"parameter {p}" for p in sorted(declaration.parameters)]
                             + [f"variable {v}" for v in sorted(declaration.variables)])
            _unused(report, declaration.source, f"`{declaration.kernel.pattern}`, {what}: no early access matches it")
    for chain in options.chains:
        if not chain.used:
            _unused(report, chain.source, f"`{chain.kernels.pattern}`: no kernel matches it")
    for suppression in options.suppressions:
        if not suppression.used:
            _unused(report, suppression.source, f"{suppression.rule}, `{suppression.kernel.pattern}`: no finding matches it")
    present = {v.kernel for v in report.verdicts}
    report.unmatched = (options.overlapping is not None or bool(options.launches.overlapping)) and not report.named
    lost = sorted(k for k in options.launches.overlapping if k not in present)
    if lost:
        report.notes.append(f"{len(lost)} kernels that the launch log says are launched with overlap are in none of the files: "
                            + ", ".join(lost[:3]) + (", ..." if lost[3:] else ""))


def _accept(findings: list[Finding], options: Options) -> None:
    """What suppressions and the baseline say of them."""
    for finding in findings:
        for suppression in options.suppressions:
            if finding.suppressed is None and suppression.covers(finding):
                finding.suppressed = suppression.because
        if finding.suppressed is None and finding.severity != "hint":
            finding.suppressed = allowed_in_source(finding)
        finding.known = finding.fingerprint in options.baseline


def _unused(report: Report, source: str, message: str) -> None:
    report.extra.append(Finding("unused-declaration", "", "", source, "", message))


def rule_names() -> list[str]:
    return list(RULES)


__all__ = ["DEFECT", "CorruptFile", "KernelVerdict", "Options", "Report", "above_hint", "lint_files", "rule_names"]
