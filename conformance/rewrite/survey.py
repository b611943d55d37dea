"""Rewrites the machine code of whole libraries and compares all of it, disassembled, before and after.

    python3 -m conformance.rewrite.survey --output record.json FILE...

Every image for sm_90 and newer is rewritten with each plan. All bytes of its code are compared; what changed and what was
added is disassembled again by nvdisasm and checked, and every n-th image is listed as a whole, before and after. The
record holds counts: kernels, what was refused and why, and what differed. It holds no code and no kernel names.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from conformance.pdlkit.cuda_programs import tool
from conformance.rewrite import check, library

PLANS = {"trigger, wait and hold at entry": "7 15000 5000 7", "hold after waits and triggers and before exits": "56 4000 0 1",
         "record times": "128 0 0 0", "record times on the stack": "4224 0 0 0"}
RECORDING = (2, 3)  # the numbers of the plans that record times


def _rewrite(tool: Path, image: Path, out: Path, numbers: str, folder: Path) -> tuple[list[dict[str, Any]], str]:
    """What the rewriter says of each kernel, and of the image as a whole."""
    plan = folder / "plan"
    plan.write_text(f"* {numbers}\n")
    done = subprocess.run([str(tool), str(image), str(out), "--plan", str(plan)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2):
        raise RuntimeError(f"{image.name}: {done.stderr.strip()}")
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    return outcomes, done.stderr.strip().rpartition(": ")[2]


_AT_ONCE = 4 << 20  # bytes of added code


class Survey:
    """What has been seen so far, by architecture."""

    def __init__(self, tool: Path, nvdisasm: Path, every: int) -> None:
        self.tool, self.nvdisasm, self.every = tool, nvdisasm, every
        self.kernels: collections.Counter[str] = collections.Counter()
        self.compared: collections.Counter[str] = collections.Counter()
        self.refused: collections.Counter[str] = collections.Counter()
        self.displaced = self.differing = self.bytes = self.listed = self.images = self.unreadable = 0
        self.examples: list[str] = []
        self.waiting: dict[str, list[check.Change]] = collections.defaultdict(list)
        self.files: dict[str, int] = {}

    def file(self, path: Path, folder: Path, most: int) -> None:
        """All images of one file."""
        images = folder / "images"
        images.mkdir(exist_ok=True)
        subprocess.run([str(self.tool), "--unpack", str(path), str(images)], check=False, capture_output=True)
        before = sum(self.kernels.values())
        for image in sorted(images.iterdir()):
            if sum(self.kernels.values()) - before < most:
                self.image(image, folder, path.name)
            image.unlink()
        self.flush(folder)
        self.files[path.name] = sum(self.kernels.values()) - before

    def image(self, image: Path, folder: Path, origin: str) -> None:
        """One image with every plan."""
        arch, place = image.name.split(".")[1], f"{origin}: {image.name}"
        out, original = folder / "out.cubin", image.read_bytes()
        self.images += 1
        whole = self.images % self.every == 0
        listing = self._listing(image, place) if whole else {}
        for number, numbers in enumerate(PLANS.values()):
            outcomes, trouble = _rewrite(self.tool, image, out, numbers, folder)
            if trouble:
                self.refused[f"{arch}: whole image: {trouble}"] += 1
            for outcome in outcomes:
                if number == 0:
                    self.kernels[arch] += 1
                    self.compared[arch] += bool(outcome.get("rewritten"))
                if outcome.get("refusal"):
                    self.refused[f"{arch}: {outcome['refusal']}"] += 1
            recording = {str(o["kernel"]): o for o in outcomes} if number in RECORDING else {}
            self._compare(arch, place, original, out, recording, folder)
            if listing:
                self._compare_listings(place, listing, self._listing(out, place))

    def _listing(self, image: Path, place: str) -> dict[str, list[str]]:
        try:
            return check.disassemble(self.nvdisasm, image)
        except check.Unreadable as error:
            self.unreadable += 1
            self.examples.append(f"{place}: {error}")
            return {}

    def _note(self, place: str, wrong: list[str]) -> None:
        self.differing += len(wrong)
        if wrong and len(self.examples) < 50:
            self.examples.append(f"{place}: {wrong[0]}")

    def _compare(self, arch: str, place: str, original: bytes, out: Path, recording: dict[str, dict[str, Any]],
                 folder: Path) -> None:
        found = check.changes(original, out.read_bytes())
        if isinstance(found, str):
            return self._note(place, [found])
        for change in found:
            if (said := recording.get(change.section)) is not None:
                change.recording = (said["registers_before"], said["registers"])
                change.frame = said["frame"] if said["spilled"] else None
        self.displaced += sum(len(change.places) for change in found)
        self.bytes += sum(change.size for change in found)
        waiting = self.waiting[arch]
        waiting += found
        if sum(len(change.appended) for change in waiting) > _AT_ONCE:
            self.flush(folder, arch)

    def flush(self, folder: Path, *architectures: str) -> None:
        """Disassemble and check what has been gathered: starting the disassembler takes longer than listing a kernel."""
        for arch in architectures or tuple(self.waiting):
            found = self.waiting.pop(arch, [])
            try:
                self._note(arch, check.examine(self.nvdisasm, arch, found, folder) if found else [])
            except check.Unreadable as error:
                self._note(arch, [str(error)])

    def _compare_listings(self, place: str, before: dict[str, list[str]], after: dict[str, list[str]]) -> None:
        for name, code in before.items():
            self._note(place, check.differences(code, after.get(name, [])))
            self.listed += 1

    def record(self, seconds: float) -> dict[str, object]:
        """The counts, for the result file."""
        return {"schema": "pdl-rewrite-survey/1", "plans": PLANS, "files": self.files, "images": self.images,
                "kernels": dict(sorted(self.kernels.items())), "rewritten": dict(sorted(self.compared.items())),
                "all": sum(self.kernels.values()), "refused": dict(sorted(self.refused.items())),
                "code_bytes_compared": self.bytes, "instructions_displaced": self.displaced,
                "code_sections_listed_whole": self.listed, "differences": self.differing, "images_unreadable": self.unreadable,
                "seconds": round(seconds)}


def main() -> int:
    """0 if only the intended changes were found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--most", type=int, default=1 << 30, help="kernels of one file")
    parser.add_argument("--every", type=int, default=50, help="list every so manieth image as a whole (default %(default)s)")
    given = parser.parse_args()
    survey, began = Survey(library.tool(), tool("nvdisasm"), given.every), time.monotonic()
    for path in given.files:
        with tempfile.TemporaryDirectory() as folder:
            survey.file(path, Path(folder), given.most)
        given.output.write_text(json.dumps(survey.record(time.monotonic() - began), indent=1) + "\n")
        print(path.name, survey.files[path.name], "differing", survey.differing, flush=True)
    for line in survey.examples:
        print(line, file=sys.stderr)
    return 1 if survey.differing or survey.unreadable else 0


if __name__ == "__main__":
    sys.exit(main())
