"""What lint has to remember of an image to judge its kernels: small enough to be cached, while the image itself is forgotten."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from conformance.lint.analyser import Question, analyse
from conformance.lint.disassembly import disassemble, sections_wanted
from conformance.lint.results import KernelResult, kernel_of
from conformance.lint.sources import OLDEST, Image, Unreadable
from conformance.lint.words import learn
from conformance.pdlkit.cuda_programs import ToolFailed
from conformance.pdlkit.elf import Cubin, KernelInfo, Parameter

_CHUNK = 4 << 20  # bytes of code that are disassembled at once, in about 50 times as much memory
ERASED_WAIT = "pdl_wait_erased"  # part of the name of a symbol that pdl_device.cuh leaves where a wait compiles to nothing


@dataclass
class ImageSummary:
    """One image; `rows` are what the analysis wrote of the kernels that were analysed."""

    sm: int
    virtual_sm: int
    kernels: list[str]
    digest: str = ""
    erased_waits: bool = False  # some code in it was compiled for a GPU without PDL, and lost its waits
    initialised_symbols: frozenset[str] = frozenset()
    infos: dict[str, KernelInfo] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)
    instructions: int = 0
    seconds: float = 0.0  # of one core, in the analysis
    results: dict[str, KernelResult] = field(default_factory=dict)  # of rows that have been read already

    def kernel_info(self, kernel: str) -> KernelInfo:
        """Of a kernel that was analysed; an empty one of any other."""
        return self.infos.get(kernel, KernelInfo())

    def result(self, kernel: str) -> KernelResult | None:
        """None if it was not analysed."""
        if kernel in self.results:
            return self.results[kernel]
        row = self.rows.get(kernel)
        return None if row is None else kernel_of(json.loads(row))

    def as_json(self) -> dict[str, Any]:
        row = {**asdict(replace(self, results={})), "initialised_symbols": sorted(self.initialised_symbols)}
        del row["results"]
        return row

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> ImageSummary:
        """Any LookupError, TypeError or ValueError: it is of another version."""
        infos = {name: KernelInfo([Parameter(**p) for p in info.pop("parameters")], **info) for name, info in row.pop("infos").items()}
        return cls(**{**row, "initialised_symbols": frozenset(row["initialised_symbols"])}, infos=infos)


def has_erased_waits(cubin: Cubin) -> bool:
    """Whether the image can run on a GPU with PDL, and a wait in its code compiled to nothing."""
    table = cubin.section(".symtab")
    if cubin.sm < OLDEST or table is None or table.link >= len(cubin.sections):
        return False
    names = cubin.bytes_of(cubin.sections[table.link])  # most images are not read any further
    return ERASED_WAIT.encode() in names and any(ERASED_WAIT in symbol.name for symbol in cubin.symbols)


def summarise(image: Image, named: set[str], chosen: frozenset[str], workplace: Any) -> ImageSummary:
    """Analyses the kernels that wait, trigger or are named; `chosen`: only these, unless it is empty."""
    cubin = image.cubin
    kernels = [k for k in cubin.kernels if not chosen or k in chosen]
    summary = ImageSummary(cubin.sm, cubin.virtual_sm, kernels)
    wanted = sections_wanted(cubin, named & set(kernels)) - (set(cubin.kernels) - set(kernels))
    if not wanted:
        summary.infos = {k: cubin.kernel_info(k) for k in kernels if k in named}
        return summary
    summary.initialised_symbols = cubin.initialised_symbols
    parts = _chunks(cubin, wanted)
    if len(parts) > 1:
        learn(cubin, wanted, workplace)
    for part in parts:
        _analyse(image, [k for k in kernels if k in part], part, summary, workplace)
    return summary


def _chunks(cubin: Cubin, wanted: set[str]) -> list[set[str]]:
    """Kernels that are disassembled together, each time with all device functions, which any of them may call."""
    sizes = {s.name.removeprefix(".text."): s.size for s in cubin.sections if s.name.startswith(".text.")}
    kernels = sorted(wanted & set(cubin.kernels))
    others = wanted - set(kernels)
    chunks: list[set[str]] = [set(others)]
    filled = 0
    for kernel in kernels:
        if filled and filled + sizes.get(kernel, 0) > _CHUNK:
            chunks.append(set(others))
            filled = 0
        chunks[-1].add(kernel)
        filled += sizes.get(kernel, 0)
    return chunks


def _analyse(image: Image, kernels: list[str], wanted: set[str], summary: ImageSummary, workplace: Any) -> None:
    cubin = image.cubin
    try:
        parts = disassemble(image, wanted, workplace)
    except ToolFailed as error:
        raise Unreadable(f"{image.inner or 'the cubin'} cannot be disassembled: {error}") from None
    answer = analyse(Question.of(cubin, (k for k in kernels if k in parts)), parts.values())
    _demand_all(cubin, wanted, set(parts), answer.instructions)
    summary.instructions += answer.instructions
    summary.seconds += answer.seconds
    summary.rows.update({k: row for k, row in answer.rows.items() if k in answer.kernels})
    summary.results.update(answer.kernels)
    summary.infos.update({k: cubin.kernel_info(k) for k in kernels})


def _demand_all(cubin: Cubin, wanted: set[str], printed: set[str], instructions: int) -> None:
    """What the disassembler left out, or what lint could not read of it, would be skipped silently."""
    sizes = {s.name.removeprefix(".text."): s.size // 16 for s in cubin.sections if s.name.startswith(".text.")}
    missing = sorted(name for name in wanted - printed if sizes.get(name))
    if missing:
        raise Unreadable(f"nvdisasm printed nothing of {missing[0]}" + (f" and {len(missing) - 1} others" if missing[1:] else ""))
    there = sum(sizes[name] for name in printed if name in sizes)
    if instructions < there:
        raise Unreadable(f"of {there} instructions that nvdisasm should have printed lint can read {instructions}")
