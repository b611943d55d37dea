"""Runs the README's two commands on new, minimal Debian machines, and writes down their output.

    python3 conformance dev fresh-machines --roots FOLDER --record fresh-machines.md [--toolkit ROOT] [--mirror ADDRESS] [--only WORD]...

Needs root, debootstrap and a network. A machine is a debootstrap root with python3, its venv package, git, cmake and a C++
compiler; each scenario runs in namespaces of its own, on a new copy of the last commit. `--only` picks scenarios by words of
their names, such as `bookworm` or `bare`. This machine's pip settings, resolver and certificates are lent to them. The record
shortens; the whole of what was said lies beside the roots.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

SUITES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
PACKAGES = "python3,python3-venv,git,cmake,g++,ca-certificates"
COMMANDS = ("python3 conformance run", "python3 conformance test")
TREE = "root/pdl"
LENT = ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
OPTIONAL = re.compile(r"PIP_[A-Z_]+|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY")


@dataclass(frozen=True)
class Scenario:
    """A new machine."""

    suite: str
    toolkit: bool
    network: bool

    @property
    def words(self) -> str:
        """One word per property, for --only."""
        return f"{self.suite} {'toolkit' if self.toolkit else 'bare'} {'online' if self.network else 'offline'}"

    @property
    def title(self) -> str:
        """The heading in the record."""
        return (f"{SUITES[self.suite]}, {'with' if self.toolkit else 'without'} a CUDA Toolkit, "
                f"{'with' if self.network else 'without'} network")


@dataclass(frozen=True)
class Said:
    """The output of one command, and how it ended."""

    command: str
    code: int
    seconds: float
    text: str


def make_root(suite: str, folder: Path, mirror: Sequence[str]) -> Path:
    """The debootstrap root, made once."""
    root = folder / suite
    if not (root / "usr/bin/cmake").exists():
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, str(root), *mirror], check=True)
    return root


def lay_tree(tree: Path, source: Path) -> None:
    """The last commit, as a clone would have it, and nothing that was built from it."""
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(source), "archive", "HEAD"], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)


def enter(root: Path, tree: Path, scenario: Scenario, toolkit: Path, command: str) -> list[str]:
    """The command line that runs a command on the machine; all mounts end with it."""
    mounts = [f"mount -t proc proc {root}/proc", f"mount --rbind /dev {root}/dev", f"mkdir -p {root}/{TREE}",
              f"mount --bind {tree} {root}/{TREE}", f"mount -t tmpfs tmpfs {root}/tmp"]
    for name in LENT:
        if scenario.network and Path(name).is_file():
            mounts.append(f"touch {root}{name} && mount --bind {name} {root}{name}")
    if scenario.toolkit:  # and make it known to the loader, as NVIDIA's Debian packages do
        mounts += [f"mkdir -p {root}/usr/local/cuda && mount --bind {toolkit} {root}/usr/local/cuda",
                   f"mount -t tmpfs tmpfs {root}/etc/ld.so.conf.d && echo /usr/local/cuda/lib64 > {root}/etc/ld.so.conf.d/cuda.conf",
                   f"cp {root}/etc/ld.so.cache {tree}.cache && mount --bind {tree}.cache {root}/etc/ld.so.cache",
                   f"chroot {root} /sbin/ldconfig -C /tmp/cache && cat {root}/tmp/cache > {root}/etc/ld.so.cache"]
    kept = [f"{name}={value}" for name, value in os.environ.items() if scenario.network and OPTIONAL.fullmatch(name)]
    plain = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb",
             f"XDG_CACHE_HOME=/{TREE}/build/cache-of-this-machine"]  # goes with the tree: the next machine is a new one
    inside = f'exec chroot {root} /usr/bin/env -i "$@" /bin/sh -c "cd /{TREE} && exec nice {command}"'
    spaces = ["--mount", "--pid", "--fork", "--kill-child", *([] if scenario.network else ["--net"])]
    return ["unshare", *spaces, "/bin/sh", "-ec", "; ".join([*mounts, inside]), "sh", *plain, *kept]


def clean(text: str) -> str:
    """Without addresses and colours, and without lines that only show progress."""
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
    text = re.sub(r"https?://\S+", "(address)", text)
    text = re.sub(r"host='[^']*'", "host='(address)'", text)
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in text.splitlines()]
    return "\n".join(line for line in lines if not re.match(r"\[ *[0-9]+/[0-9]+\] |\[ *[0-9]+%\] ", line))


def shorten(text: str, most: int = 44) -> str:
    """Head and tail of a long transcript, with the number of lines left out."""
    lines = text.strip().splitlines()
    if len(lines) <= most:
        return "\n".join(lines)
    half = most // 2
    return "\n".join([*lines[:half], f"    ... {len(lines) - 2 * half} lines ...", *lines[-half:]])


def right(scenario: Scenario, said: Said) -> bool:
    """Passed; or, without a network, ended with 69 and a sentence that names what is missing."""
    return said.code == 0 or (said.code == 69 and not scenario.network and said.text.strip() != "")


def play(scenario: Scenario, options: argparse.Namespace, root: Path) -> list[Said]:
    """Both commands on one machine; the second uses what the first built, as for a user."""
    tree = root.parent / "trees" / scenario.words.replace(" ", "-")
    lay_tree(tree, options.source)
    transcript: list[Said] = []
    for command in options.command or COMMANDS:
        started = time.monotonic()
        done = subprocess.run(enter(root, tree, scenario, options.toolkit, command), stdin=subprocess.DEVNULL, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        (root.parent / f"{scenario.words.replace(' ', '-')}-{len(transcript)}.log").write_text(done.stdout, encoding="utf-8")
        transcript.append(Said(command, done.returncode, time.monotonic() - started, clean(done.stdout)))
        print(f"{scenario.title}: {command}: exit {done.returncode}, {transcript[-1].seconds:.0f} s", flush=True)
    shutil.rmtree(tree)
    Path(f"{tree}.cache").unlink(missing_ok=True)
    return transcript


def section(scenario: Scenario, transcript: Sequence[Said]) -> str:
    """A Markdown section of the record, which a later run replaces."""
    parts = [f"## {scenario.title}\n"]
    for said in transcript:
        parts.append(f"```\n$ {said.command}\n{shorten(said.text)}\n[exit {said.code} after {said.seconds:.0f} s]\n```\n")
    return "\n".join(parts)


def record(path: Path, scenario: Scenario, text: str) -> None:
    """Put the section in its place: one per scenario, in a fixed order."""
    head = ("# Both README commands on new machines\n\nWritten by fresh_machines.py, never by hand. A machine is a new debootstrap "
            "root with python3, its\nvenv package, git, cmake and a C++ compiler; no NVIDIA hardware. 2 shared cores.\n")
    known = path.read_text(encoding="utf-8") if path.is_file() else head
    sections = {part.partition("\n")[0]: "## " + part.rstrip() + "\n" for part in re.split(r"^## ", known, flags=re.M)[1:]}
    sections[scenario.title] = text.rstrip() + "\n"
    order = [other.title for other in scenarios()]
    body = "\n".join(sections[title] for title in order if title in sections)
    waiting = "".join(f"- {title}\n" for title in order if title not in sections)
    path.write_text(f"{head}\n{body}" + (f"\n## Not recorded yet\n\n{waiting}" if waiting else ""), encoding="utf-8")


def scenarios() -> list[Scenario]:
    return [Scenario(*values) for values in product(SUITES, (True, False), (True, False))]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run the README's commands on new Debian machines.")
    parser.add_argument("--roots", type=Path, required=True, help="folder for the debootstrap roots")
    parser.add_argument("--record", type=Path, required=True, help="Markdown file for the transcripts")
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parents[2], help="the repository")
    parser.add_argument("--toolkit", type=Path, default=Path("/usr/local/cuda"), help="the toolkit that some machines have")
    parser.add_argument("--mirror", action="append", default=[], help="debootstrap's mirror")
    parser.add_argument("--only", action="append", default=[], help="word of a scenario's name; all given must match")
    parser.add_argument("--command", action="append", help="instead of the README's two")
    options = parser.parse_args(argv)
    wrong = 0
    for scenario in scenarios():
        if all(word in scenario.words.split() for word in options.only):
            transcript = play(scenario, options, make_root(scenario.suite, options.roots.resolve(), options.mirror))
            record(options.record, scenario, section(scenario, transcript))
            wrong += sum(not right(scenario, said) for said in transcript)
    return 1 if wrong else 0
