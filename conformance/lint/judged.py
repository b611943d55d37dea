"""What lint said of an image, kept by the image's hash: a second run need neither analyse it nor judge it again.

Kept only where the findings follow from the image alone: without declarations, named kernels, suppressions, a baseline and lines of
sources, whose comments may change. What is kept are the groups of the findings and, after a run with --json, their JSON.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from conformance.lint.cache import Cache
from conformance.lint.findings import HINT, Finding
from conformance.lint.json_text import Written, pretty
from conformance.lint.packed import Grouped, Told, finding_of, row_of, told_of

ALL, GROUPS, JSON = "all", "groups", "json"  # what a run needs of the findings
_FILE, _IMAGE = "\x01", "\x02"  # in place of names: the next file may hold the same image
_BETWEEN = ",\n  "  # elements of the array of findings


class Said(Grouped):
    """The findings of a kernel of which only the groups are known; `text`: the JSON, packed, of those of the whole image, with its first
    kernel, else empty."""

    def __init__(self, told: list[Told], text: bytes = b"") -> None:
        self.told, self._text = told, text

    def __len__(self) -> int:
        return sum(one.count for one in self.told)

    def __getitem__(self, index: Any) -> NoReturn:
        raise NotImplementedError("only the groups of these findings were kept")

    def written(self, file: str, image: str | None) -> Iterator[Written]:
        """The JSON of the findings above hint."""
        if self._text:
            text = zlib.decompress(self._text).decode()
            yield Written(text.replace(pretty(_IMAGE, ""), pretty(image, "")).replace(pretty(_FILE, "")[1:-1], pretty(file, "")[1:-1]))


@dataclass
class KernelVerdict:
    """What lint says of one kernel of one image."""

    kernel: str
    demangled: str
    file: str
    image: str | None
    arch: str
    judged: bool  # False: it has no wait and nothing says that it overlaps, so nothing follows from its code
    waits: bool = False  # its code, or code that it calls in the same file, has a wait
    triggers: bool = False  # the same for a trigger
    triggers_early: bool = False  # some thread can reach a trigger before it has waited
    findings: Sequence[Finding] = ()

    @property
    def told(self) -> list[Told]:
        """The findings in groups."""
        return told_of(self.findings)

    @property
    def clean(self) -> bool:
        return not any(t.first.counts for t in self.told)


@dataclass
class JudgedImage:
    """What is kept of an image."""

    instructions: int
    seconds: float
    verdicts: list[KernelVerdict]


def keep(cache: Cache, key: str, needs: str, image: JudgedImage) -> None:
    """Writes it down; its verdicts then know no more than what a second run will."""
    verdicts = image.verdicts
    if any(told.lined for verdict in verdicts for told in verdict.told):
        return
    text = _packed(verdicts) if needs == JSON else b""
    if text is None:
        return
    rows = [(v.kernel, v.demangled, v.arch, v.judged, v.waits, v.triggers, v.triggers_early, [(row_of(t.first), t.count) for t in v.told])
            for v in verdicts]
    cache.put(f"judged {key}", [image.instructions, image.seconds, rows])
    if needs == JSON:
        cache.put_packed(f"written {key}", text)
    for number, verdict in enumerate(verdicts):
        verdict.findings = Said(verdict.told, text if number == 0 else b"")


def _packed(verdicts: Iterable[KernelVerdict]) -> bytes | None:
    """The JSON of the findings above hint; None if names in it look like those that stand for other names."""
    packer, parts, number = zlib.compressobj(1), [], 0
    for verdict in verdicts:
        for finding in verdict.findings:
            if finding.severity == HINT:
                continue
            finding.file, finding.image = _FILE, _IMAGE
            text = pretty(finding.as_json(), "\n  ")
            if text.count("\\u0001") != 2 or text.count("\\u0002") != 1:  # "file" and "where"; "image"
                return None
            parts.append(packer.compress((_BETWEEN if number else "").encode() + text.encode()))
            number += 1
    return b"".join([*parts, packer.flush()]) if number else b""


def kept(cache: Cache, key: str, needs: str, file: str, image: str | None) -> JudgedImage | None:
    """What an earlier run said of this image; None if it is not known, or not all of what this run needs."""
    row = cache.get(f"judged {key}")
    text = cache.get_packed(f"written {key}") if needs == JSON else b""
    if row is None or text is None:
        return None
    try:
        instructions, seconds, rows = row
        verdicts: list[KernelVerdict] = []
        for kernel, name, arch, judged, waits, triggers, early, told in rows:
            groups = [Told(finding_of(first, (kernel, name, file, arch, image)), count) for first, count in told]
            verdicts.append(KernelVerdict(kernel, name, file, image, arch, judged, waits, triggers, early,
                                          Said(groups, b"" if verdicts else text)))
        return JudgedImage(int(instructions), float(seconds), verdicts)
    except (LookupError, TypeError, ValueError):
        return None
