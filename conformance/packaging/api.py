"""The public names and layouts of the headers, recorded in api.txt; says when they change, and which version that requires.

    python3 conformance dev api [--record] [--released] [--cuda ROOT] [--headers FOLDER]

Without --record it compares: 0 nothing changed, 1 something did. Recording writes api.txt; once a version is recorded as
released, a later change is recorded only under a version that semantic versioning allows for it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.places import ROOT

RECORD = Path(__file__).with_name("api.txt")
DIFFERS = 1
_STRUCT = re.compile(r"typedef struct (pdl_\w+) \{([^{}]*)\} \1;")
_DEPRECATED = r"(?:__attribute__\(\(deprecated\([^)]*\)\)\) )?"
_HOST_FUNCTION = re.compile(rf"((?:template <[^{{}};]*?> )?){_DEPRECATED}(?:PDL_PUBLIC|static inline) ([^{{}};]*?) ?;")
_DEVICE_FUNCTION = re.compile(r"((?:template <[^{};]*?> )?)PDL_DEVICE_ ([^{};]*?) ?\{")


def _preprocess(headers: Path, includes: Path, language: str, *flags: str) -> str:
    argv = ["g++" if language == "c++" else "gcc", "-E", "-P", "-x", language, *flags, "-I", str(headers), "-isystem", str(includes), "-"]
    done = subprocess.run(argv, input="#include <pdl.h>\n", capture_output=True, text=True, check=True)
    return done.stdout


def _public(name: str) -> bool:
    return not re.match(r"(?i)pdl_impl_", name)


def _functions(text: str, pattern: re.Pattern[str], language: str) -> list[str]:
    found = [head + rest for head, rest in pattern.findall(re.sub(r"\s+", " ", text))]
    return [f"{language} {words}" for words in found if not re.search(r"\bpdl_impl_\w+ ?\(", words)]


def _macros(headers: Path, includes: Path, language: str) -> list[str]:
    text = _preprocess(headers, includes, language, "-dM")
    found = re.findall(r"^#define (PDL_\w+(?:\([^)]*\))?)", text, re.M)
    return [f"{language} macro {name}" for name in found if _public(name)]


def _fields(body: str) -> list[tuple[str, str]]:
    """(name, declaration) of each member, in order."""
    found = []
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        pointer = re.match(r".*\(\*(\w+)\)\(.*\)$", declaration)
        if pointer is not None:  # to a function
            found.append((pointer[1], declaration))
            continue
        first, *others = (part.strip() for part in declaration.split(","))
        kind = re.match(r"(.*?)(\**\w+(?:\[\w+\])*)$", first)
        if kind is None:
            raise ValueError(f"this member cannot be read: {declaration}")
        for declarator in (kind[2], *others):
            name = re.search(r"\w+", declarator)
            assert name is not None
            found.append((name[0], f"{kind[1]}{declarator}"))
    return found


def _ask_compiler(text: str, headers: Path, includes: Path, work: Path) -> list[str]:
    """The values of all constants, and of each struct its size and its members' offsets and sizes, as a compiled program prints them."""
    flat = re.sub(r"\s+", " ", text)
    lines = []
    for body in re.findall(r"enum \w* ?(?:: unsigned )?\{([^{}]*)\}", flat):
        for name in re.findall(r"\b(PDL_\w+)", body):
            if _public(name):
                lines.append(f'printf("constant {name} = %d\\n", (int){name});')
    for name, body in _STRUCT.findall(flat):
        if _public(name):
            lines.append(f'printf("struct {name}, %u bytes\\n", (unsigned)sizeof({name}));')
            for member, declaration in _fields(body):
                lines.append(f'printf("    at %3u, %2u bytes: {declaration}\\n", (unsigned)offsetof({name}, {member}), '
                             f"(unsigned)sizeof((({name} *)0)->{member}));")
    source, program = work / "describe.c", work / "describe"
    source.write_text('#include <pdl.h>\n#include <stdio.h>\nint main(void)\n{\n    ' + "\n    ".join(lines) + "\n    return 0;\n}\n")
    subprocess.run(["gcc", "-std=c99", "-O1", "-I", str(headers), "-isystem", str(includes), str(source), "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()


def describe(headers: Path, includes: Path, work: Path) -> list[str]:
    """One line per name that a user may write, with all that a program or a binary may rely on."""
    marked = ["-DPDL_API=PDL_PUBLIC", "-DPDL_NODISCARD="]
    in_c = _preprocess(headers, includes, "c", *marked, "-DPDL_DECLARE_ONLY")
    in_cxx = _preprocess(headers, includes, "c++", *marked)
    functions = _functions(in_c, _HOST_FUNCTION, "c")
    both = {line.removeprefix("c ") for line in functions}
    functions += [line for line in _functions(in_cxx, _HOST_FUNCTION, "c++") if line.removeprefix("c++ ") not in both]
    macros = _macros(headers, includes, "c")
    macros += [line for line in _macros(headers, includes, "c++") if line.replace("c++ ", "c ", 1) not in macros]
    device = re.sub(r"/\*.*?\*/", " ", (headers / "pdl_device.cuh").read_text(encoding="utf-8"), flags=re.S)
    device_macros = [f"device macro {name}" for name in sorted(set(re.findall(r"^#define (PDL_\w+)", device, re.M)))]
    device_lines = _functions(re.sub(r"^#.*$", "", device, flags=re.M), _DEVICE_FUNCTION, "device")
    return [*sorted(macros), *device_macros, *functions, *device_lines, *_ask_compiler(in_c, headers, includes, work)]


def version(headers: Path) -> tuple[int, ...]:
    """The version in pdl.h."""
    text = (headers / "pdl.h").read_text(encoding="utf-8")
    return tuple(int(part) for part in re.findall(r"^#define PDL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.M))


def recorded() -> tuple[tuple[int, ...], bool, list[str]]:
    """Version, whether it is released, and the lines of the record."""
    first, *lines = RECORD.read_text(encoding="utf-8").splitlines()
    words = re.fullmatch(r"version ([0-9.]+), (released|not released)", first)
    if words is None:
        raise SystemExit(f"{RECORD.name} does not begin with its version")
    return tuple(map(int, words[1].split("."))), words[2] == "released", lines


def smallest_version(old: tuple[int, ...], breaks: bool) -> tuple[int, ...]:
    """The first version that may carry the change. Before 1.0 a minor version may break."""
    major, minor, _ = old
    return (major + 1, 0, 0) if breaks and major > 0 else (major, minor + 1, 0)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare the headers' public names and layouts with the record.")
    parser.add_argument("--record", action="store_true", help="write api.txt")
    parser.add_argument("--released", action="store_true", help="with --record: this version is released")
    parser.add_argument("--headers", type=Path, default=ROOT, help="folder of pdl.h and pdl_device.cuh")
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda"), help="root of a CUDA Toolkit")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as work:
        found = describe(options.headers, options.cuda / "include", Path(work))
    now = version(options.headers)
    old, released, lines = recorded() if RECORD.is_file() else (now, False, [])
    gone, added = [line for line in lines if line not in found], [line for line in found if line not in lines]
    for sign, which in (("-", gone), ("+", added)):
        print("".join(f"{sign} {line}\n" for line in which), end="")
    changed = found != lines
    needed = smallest_version(old, bool(gone) or sorted(found) == sorted(lines)) if changed and released else old
    if now < needed:
        print(f"{'names or layouts are gone or changed' if gone else 'names are new'} since {'.'.join(map(str, old))}: "
              f"pdl.h must become {'.'.join(map(str, needed))}", file=sys.stderr)
        return DIFFERS
    if options.record:
        state = "released" if options.released else "not released"
        RECORD.write_text("\n".join([f"version {'.'.join(map(str, now))}, {state}", *found]) + "\n", encoding="utf-8")
        return 0
    if changed:
        print(f"the headers are not what {RECORD.name} says; if that is meant: python3 conformance dev api --record, and a line "
              "in CHANGELOG.md", file=sys.stderr)
    return DIFFERS if changed else 0
