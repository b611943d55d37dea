"""Hardware that is there is never replaced by the model, and each GPU is judged by what it is itself."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.pdlkit import device_choice, machine
from conformance.pdlkit.exits import BadArguments


def driver(*ccs: int, error: str | None = None) -> machine.Driver:
    return machine.Driver(error, 13000, tuple(machine.Gpu(f"GPU of {cc}", cc, 132) for cc in ccs))


def choose(monkeypatch: pytest.MonkeyPatch, request: str, found: machine.Driver) -> device_choice.Choice:
    monkeypatch.setattr(device_choice, "nvidia_hardware", lambda: ["/dev/nvidia0"])
    monkeypatch.setattr(device_choice, "ask_driver", lambda: found)
    return device_choice.choose(request, 90, None)


def test_what_was_chosen_says_which_build_runs_it() -> None:
    built = {device: device_choice.Choice(device).build for device in ("cuda", "cuda:1", "model", "model:never-overlaps")}
    assert built == {"cuda": "cuda", "cuda:1": "cuda", "model": "model", "model:never-overlaps": "model"}


def test_auto_takes_the_hardware_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    found = choose(monkeypatch, "auto", driver(90))
    assert (found.device, found.on_model, found.architectures) == ("cuda", False, "90")


@pytest.mark.parametrize("ccs", [(), (90,)])
def test_hardware_that_cannot_be_used_is_broken(ccs: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    found = choose(monkeypatch, "auto", driver(*ccs, error="no driver"))
    assert found.broken and "no driver" in found.broken and not found.on_model


def test_each_gpu_is_judged_by_its_own_capability(monkeypatch: pytest.MonkeyPatch) -> None:
    both = driver(90, 80)
    assert choose(monkeypatch, "cuda:0", both).absent is None
    old = choose(monkeypatch, "cuda:1", both)
    assert old.absent and "8.0" in old.absent and not old.on_model
    with pytest.raises(BadArguments, match="offers 2 devices"):
        choose(monkeypatch, "cuda:2", both)


def test_a_named_model_is_the_model() -> None:
    assert device_choice.choose("model:shared", 90, None).on_model


@pytest.mark.parametrize(("vendor", "what", "is_gpu"), [
    ("0x10de", "0x030000", True), ("0x10de", "0x030200", True), ("0x10de", "0x040300", False), ("0x10de", "0x068000", False),
    ("0x8086", "0x030200", False)])
def test_which_devices_of_the_pci_bus_are_gpus(vendor: str, what: str, is_gpu: bool, tmp_path: Path) -> None:
    """GPUs of data centres are 3D controllers, 0x0302: one without a driver that went unseen would have `auto` judge the model instead."""
    (tmp_path / "vendor").write_text(f"{vendor}\n")
    (tmp_path / "class").write_text(f"{what}\n")
    assert machine._is_nvidia_gpu(tmp_path) is is_gpu


INTERPOSERS = ("CUDA_LAUNCH_BLOCKING", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_PRELOAD", "LD_AUDIT",
               "CUDA_DEVICE_WAITS_ON_EXCEPTION", "CUDA_ENABLE_COREDUMP_ON_EXCEPTION")


@pytest.mark.parametrize("name", INTERPOSERS)
def test_what_stands_before_a_device_is_named(name: str) -> None:
    """A run under any of these must not conform: each hides overlap or can."""
    assert list(machine.interposers({name: "1"})) == list(machine.interposers({name: "/lib/x.so"})) == [name]
    assert machine.interposers({name: ""}) == machine.interposers({name: "0"}) == machine.interposers({}) == {}


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_without_hardware_no_driver_is_asked(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_choice, "nvidia_hardware", list)
    monkeypatch.setattr(device_choice, "ask_driver", lambda: pytest.fail("a driver was asked"))
    assert "no NVIDIA hardware here" in str(device_choice.choose(device, 90, None).absent)


def test_a_harness_that_finds_no_device_beside_hardware_is_no_absence(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = SimpleNamespace(exit_code=77, stderr="", words=lambda: "exited with 77")
    monkeypatch.setattr(device_choice, "ask_probe", lambda harness, request: (ended, []))
    assert device_choice._ask_harness("cuda", Path("h"), ["the PCI bus has an NVIDIA GPU"]).broken
    assert device_choice._ask_harness("cuda", Path("h"), []).absent


@pytest.mark.parametrize("code", [1, 64, 69, 70, 71])
def test_a_probe_that_failed_is_no_absence_even_where_no_hardware_is_seen(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = SimpleNamespace(exit_code=code, stderr="", words=lambda: f"exited with {code}")
    monkeypatch.setattr(device_choice, "ask_probe", lambda harness, request: (ended, []))
    found = device_choice._ask_harness("cuda", Path("h"), [])
    assert found.broken and not found.absent


@pytest.mark.parametrize(("record", "words"), [
    ({"error": "cudaErrorNoDevice"}, "the device cannot be used: CUDA says cudaErrorNoDevice"),
    ({"error": "cudaErrorUnknown", "call": "cudaMalloc"}, "the device cannot be used: cudaMalloc gives cudaErrorUnknown"),
    ({"error": None}, "last words")])
def test_a_probe_that_failed_is_quoted(record: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = SimpleNamespace(exit_code=70, stderr="first\nlast words", words=lambda: "exited with 70")
    monkeypatch.setattr(device_choice, "ask_probe", lambda harness, request: (ended, [json.dumps(record), "no record"]))
    assert device_choice._ask_harness("cuda", Path("h"), []).broken == f"the harness's probe of cuda exited with 70: {words}"


@pytest.mark.parametrize("node", ["dev/nvhost-gpu", "dev/nvgpu", "dev/nvidia0", "proc/driver/nvidia/gpus/0000:01:00.0"])
def test_every_sign_of_hardware_counts_alone(node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that went unseen, such as Tegra's, would have `auto` judge the model instead."""
    monkeypatch.setattr(machine, "Path", lambda *parts: Path(f"{tmp_path}{Path(*parts)}"))
    assert machine.nvidia_hardware() == []
    (tmp_path / node).parent.mkdir(parents=True)
    (tmp_path / node).touch()
    assert len(machine.nvidia_hardware()) == 1


NVRM = "NVRM version: NVIDIA UNIX {}  Fri Nov  7 00:00:00 UTC 2025\nGCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n"


@pytest.mark.parametrize(("text", "version"), [
    (NVRM.format("x86_64 Kernel Module  580.159.04"), "580.159.04"), (NVRM.format("Open Kernel Module for x86_64  580.95.05"), "580.95.05"),
    (NVRM.format("x86_64 Kernel Module  590.48"), "590.48"), (NVRM.format("x86_64 Kernel Module"), None), ("", None), (None, None)])
def test_the_whole_version_of_the_driver_is_read(
    text: str | None, version: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waivers, soaks and the public record tell drivers of one branch apart."""
    file = tmp_path / "version"
    if text is not None:
        file.write_text(text)
    monkeypatch.setattr(machine, "Path", lambda _place: file)
    assert machine.driver_version() == version


def answering(patch: pytest.MonkeyPatch, text: str, code: int | None = 0) -> machine.Driver:
    """What ask_driver makes of a query that prints this and ends so."""
    def answers(argv: list[str], watch: machine._QueryWatch, stopper: object) -> SimpleNamespace:
        watch.line(text)
        return SimpleNamespace(exit_code=code, words=lambda: "ended so")

    patch.setattr(machine, "run_child", answers)
    return machine.ask_driver()


@pytest.mark.parametrize(("text", "error"), [
    ('{"driver": 13000, "devices": []}', "the driver offers no device"), ('{"error": "cuInit gives 999"}', "cuInit gives 999"),
    ("{", "the driver's answer cannot be read"), ("", "the driver's answer cannot be read")])
def test_a_driver_without_a_usable_device_is_an_error(text: str, error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answering(monkeypatch, text)
    assert (found.error, found.gpus) == (error, ())


@pytest.mark.parametrize(("code", "usable"), [(0, True), (1, False), (None, False)])
def test_an_answer_of_a_query_that_failed_is_none(code: int | None, usable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answering(monkeypatch, '{"driver": 13000, "devices": [{"name": "GPU", "cc": 90, "sms": 132}]}', code)
    assert (found.error is None, len(found.gpus)) == (usable, int(usable))
