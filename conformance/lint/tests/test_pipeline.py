"""What is read, disassembled and kept: only what matters, and nothing of another version."""

from __future__ import annotations

import struct
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.lint import analyser, disassembly, pipeline, words
from conformance.lint.cache import Cache
from conformance.lint.containers import Damaged, Entry, Mapped, containers, entries
from conformance.lint.judged import ALL, GROUPS, JSON
from conformance.lint.ptx import Contents, Ptx, chosen, contents_of
from conformance.lint.scan import SCANNED, may_wait_or_trigger
from conformance.lint.sources import load_cubin
from conformance.lint.summary import ImageSummary
from conformance.rewrite.tests.images import EXIT, WAIT, Kernel, container, cubin, entry


def test_results_of_another_analysis_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prebuilt analysis has the same name in every version, so its bytes decide."""
    versions = set()
    for number in range(2):
        program = tmp_path / str(number) / "pdl-lint-analysis"
        program.parent.mkdir()
        program.write_bytes(bytes([number]))
        monkeypatch.setattr(analyser, "program", lambda program=program: program)
        pipeline._version.cache_clear()
        versions |= {pipeline._version(False), pipeline._version(False)}
    pipeline._version.cache_clear()
    assert len(versions) == 2


def test_images_after_a_large_one_are_analysed_meanwhile(tmp_path: Path) -> None:
    """The first one goes on until the thirtieth is done; the results keep their order."""
    done = Event()
    images = pipeline.Pipeline(lambda kernel: False, frozenset(), tmp_path, Cache(None), pipeline.Progress(False))
    images.jobs = 2

    def analysed(number: int) -> tuple[int, bool]:
        if number == 30:
            done.set()
        return number, number > 0 or done.wait(60)

    assert list(images._each(lambda number: None, analysed, range(60))) == [(number, True) for number in range(60)]


@pytest.mark.parametrize("sm", [*sorted(SCANNED), 70, 89, 91, 106, 130])
def test_an_image_may_wait_whatever_it_holds_unless_its_opcodes_are_known(sm: int) -> None:
    assert may_wait_or_trigger(bytes(64), sm) == (sm not in SCANNED)
    assert may_wait_or_trigger(bytes(16) + struct.pack("<QQ", *WAIT) + bytes(32), sm)


def test_only_wanted_functions_are_disassembled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when they are most of the image, but not when they are nearly all of it."""
    calls: list[list[str]] = []

    def listing(command: list[str], **_: object) -> bytes:
        calls.append(command)
        return b'\t.section\t.text.k0,"ax",@progbits\n'

    monkeypatch.setattr(disassembly, "output_of", listing)
    monkeypatch.setattr(words, "listings", lambda *_: {})
    (tmp_path / "k.cubin").write_bytes(cubin([Kernel(f"k{n}", [WAIT, EXIT]) for n in range(20)]))
    image = load_cubin(tmp_path / "k.cubin", None, tmp_path / "k.cubin")
    for wanted in (1, 15, 19):
        disassembly.disassemble(image, {f"k{n}" for n in range(wanted)})
    assert [len(command[command.index("-fun") + 1].split(",")) if "-fun" in command else 0 for command in calls] == [1, 15, 0]


def _entries(path: Path, problems: list[str]) -> list[Entry]:
    mapped = Mapped(path)
    return [one for first, last in containers(mapped, 0, len(mapped.data), problems) for one in entries(mapped, first, last, problems)]


def test_one_reader_says_what_is_damaged(tmp_path: Path) -> None:
    good = container(entry(2, 90, b"machine code"), entry(1, 80, b".version 8.0"))
    lying = container(entry(2, 90, b"x" * 64, 0x8011, 1 << 40))  # compressed, and larger than anything that 64 bytes can hold
    cut = good[:-8]
    spoiled = good[:4] + b"\xff" + good[5:]
    path = tmp_path / "all"
    path.write_bytes(b"before" + good + spoiled + lying + cut)
    problems: list[str] = []
    found = _entries(path, problems)
    assert [(one.kind, one.sm) for one in found] == [(2, 90), (1, 80), (2, 90)]
    assert bytes(found[0].contents()).rstrip(b"\0") == b"machine code" and found[0].digest() != found[1].digest()
    with pytest.raises(Damaged, match="sizes cannot be right"):
        found[2].contents()
    assert len(problems) == 2 and "its header is damaged" in problems[0] and "ends inside the container" in problems[1]


def test_of_ptx_only_what_a_driver_would_take_is_chosen(tmp_path: Path) -> None:
    text = b".version 8.0\n// .target sm_50\n.target %s\n.visible .entry %s()\n{ %s }\n"
    newer, older = contents_of(text % (b"sm_100", b"k", b"griddepcontrol.wait;")), contents_of(text % (b"sm_90", b"k", b""))
    assert newer == Contents(100, frozenset({"k"}), True) and older == Contents(90, frozenset({"k"}), False)
    assert Contents.from_json(newer.as_json()) == newer
    path = tmp_path / "k.fatbin"
    path.write_bytes(container(entry(1, 90, b"old"), entry(1, 100, b"new")))
    both = [Ptx(str(number), one) for number, one in enumerate(_entries(path, []))]
    pairs = list(zip(both, (older, newer), strict=True))
    assert [ptx.inner for ptx, _ in chosen(pairs, set(), lambda name: False)] == ["1"]
    assert list(chosen(pairs, {"k"}, lambda name: True)) == []  # machine code beside it is judged
    assert [ptx.inner for ptx, _ in chosen(pairs[:1], set(), lambda name: name == "k")] == ["0"]
    assert list(chosen(pairs[:1], set(), lambda name: False)) == []


def images_of(workplace: Path, *, named: str = "", chosen: frozenset[str] = frozenset(), needs: str = ALL) -> pipeline.Pipeline:
    return pipeline.Pipeline(lambda kernel: kernel == named, chosen, workplace, Cache(workplace), pipeline.Progress(False), needs)


@pytest.mark.parametrize(("sm", "named", "rows", "lacks"), [
    (90, "k", {}, True), (90, "k", {"k": "{}"}, False), (90, "k", {"z": "{}"}, True), (90, "", {}, False), (90, "z", {"k": "{}"}, True),
    (80, "k", {}, False), (120, "k", {}, True)])
def test_a_kernel_that_is_named_now_is_analysed_if_it_was_not_then(sm: int, named: str, rows: dict[str, str], lacks: bool,
                                                                   tmp_path: Path) -> None:
    """Below sm_90 nothing is analysed: such code cannot overlap."""
    assert images_of(tmp_path, named=named)._lacks(ImageSummary(sm, sm, ["k", "z"], rows=rows)) is lacks


def test_an_analysis_of_chosen_kernels_is_no_analysis_of_the_image(tmp_path: Path) -> None:
    """It is neither kept for other runs nor taken from what they kept."""
    tmp_path.chmod(0o700)
    whole = images_of(tmp_path)
    whole.cache.put("key", ImageSummary(90, 90, ["k"], rows={"k": "{}"}).as_json())
    assert whole._kept("key") == ImageSummary(90, 90, ["k"], rows={"k": "{}"}) and whole._kept("other") is None
    whole.cache.put("odd", {"sm": 90})
    assert whole._kept("odd") is None
    some = images_of(tmp_path, chosen=frozenset({"k"}))
    some.cache = whole.cache
    assert some._kept("key") is None


def test_what_was_judged_is_known_by_the_image_and_by_what_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def key(digest: str, needs: str) -> str:
        source: Any = SimpleNamespace(digest=digest, assembled=False)
        return images_of(tmp_path, needs=needs)._key_of_judging(source)

    monkeypatch.setattr(pipeline, "_version", lambda assembled: f"analysis {assembled}")
    assert key("1", ALL) == "", "who reads all of the findings takes none that were kept"
    keys = [key(digest, needs) for digest in "12" for needs in (GROUPS, JSON)]
    monkeypatch.setattr(pipeline, "_version_of_judging", lambda: "other")
    assert keys[0] == keys[1] != keys[2] == keys[3] and key("1", GROUPS) not in ("", *keys)


def test_each_text_of_ptx_is_kept_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "k.fatbin"
    path.write_bytes(container(entry(1, 90, b"old"), entry(1, 100, b"new"), entry(1, 100, b"old")))
    keys = [pipeline._key_of(Ptx("inner", one)) for one in _entries(path, [])]
    assert len(set(keys)) == len({one.digest() for one in _entries(path, [])}) > 1 and all(keys)


@pytest.mark.parametrize("mode", [0o700, 0o701, 0o710, 0o702, 0o777])
def test_nothing_is_taken_from_where_others_could_write(mode: int, tmp_path: Path) -> None:
    """Or read what they put there: answers in it would be believed."""
    place = tmp_path / "lint"
    place.mkdir()
    place.chmod(mode)
    first = Cache(place)
    first.put("key", [1])
    first.close()
    again = Cache(place)
    assert again.get("key") == ([1] if mode == 0o700 else None) and again.get("other") is None
    again.close()
    assert again.get("key") is None
