"""Writes cases.h, axes.h and variants.cmake from rules.toml, so that C and CMake never restate a rule.

    python3 conformance dev generate-cases --rules conformance/rules.toml --out DIR

Same input, same bytes; a file whose bytes would not change is left alone, so that nothing is rebuilt for it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.pdlkit.axes import axes_header
from conformance.pdlkit.exits import BAD_ARGUMENTS
from conformance.pdlkit.rules import Case, RuleBook, RulesError, load

_ALLOWS = {"wrong": "CASE_ALLOWS_WRONG", "early_start": "CASE_ALLOWS_EARLY"}


def c_string(text: str) -> str:
    """A C literal; octal escapes always have three digits, so that no following digit joins them."""
    out = []
    for byte in text.encode("utf-8"):
        char = chr(byte)
        if char in '"\\':
            out.append("\\" + char)
        elif char == "?":
            out.append("\\?")  # no trigraph
        elif 32 <= byte < 127:
            out.append(char)
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def _name_lists(book: RuleBook) -> dict[tuple[str, ...], str]:
    lists: dict[tuple[str, ...], str] = {}
    for case in book.cases:
        for names in (case.mutants, case.controls):
            lists.setdefault(names, f"kit_names_{len(lists)}")
    return lists


def _case_row(case: Case, lists: dict[tuple[str, ...], str]) -> str:
    texts = (case.name, case.rule, case.rule_class, case.kind, case.family, case.pair, case.window, case.path)
    numbers = (case.core, case.proving, case.broken_waits, case.gpu_only, case.min_cc, case.min_toolkit)
    trials = ", ".join(f"{count}ull" for count in case.trials)
    allowed = " | ".join(_ALLOWS[outcome] for outcome in case.allowed) or "0"
    return (
        "    { " + ", ".join(c_string(text) for text in texts) + ",\n      "
        + ", ".join(str(int(number)) for number in numbers)
        + f", {{ {trials} }}, {lists[case.mutants]}, {lists[case.controls]}, {allowed} }},\n"
    )


def cases_header(book: RuleBook) -> str:
    """The text of cases.h."""
    lists = _name_lists(book)
    out = [
        "/* Made from rules.toml by generate_cases.py; edit that file instead. */\n",
        "#ifndef KIT_CASES_H\n#define KIT_CASES_H\n\n",
        f"#define KIT_SUITE {c_string(book.suite)}\n",
        f"#define KIT_RULES_HASH {c_string(book.digest)}\n",
        f"#define KIT_TAG_COUNT {len(book.tags)}\n",
        f"#define KIT_CASE_COUNT {len(book.cases)}\n\n",
        "/* family, tag, symbol suffix */\n#define KIT_IMAGES(X)",
    ]
    for family, tag, _ in book.images():
        out.append(f" \\\n    X({family}, {tag}, {family}_{tag.replace('-', '_')})")
    out.append("\n\nstatic const struct tag_info kit_tags[] = {\n")
    for info in book.tags.values():
        reason = c_string(info.equivalent_candidate) if info.equivalent_candidate else "NULL"
        out.append(f"    {{ {c_string(info.tag)}, {c_string(info.kind)}, {c_string(info.text)}, {reason} }},\n")
    if not book.tags:
        out.append("    { NULL, NULL, NULL, NULL },\n")  # C has no empty array
    out.append("};\n\n")
    for names, symbol in lists.items():
        items = "".join(c_string(name) + ", " for name in names)
        out.append(f"static const char *const {symbol}[] = {{ {items}NULL }};\n")
    out.append("\nstatic const struct case_info kit_cases[] = {\n")
    out.extend(_case_row(case, lists) for case in book.cases)
    out.append("};\n\n#endif\n")
    return "".join(out)


def variants_cmake(book: RuleBook) -> str:
    """The text of variants.cmake: one `family|tag|flags` per image, several flags separated by one space."""
    rows = "".join(f'\n    "{family}|{tag}|{" ".join(flags)}"' for family, tag, flags in book.images())
    cases = "".join(f'\n    "{case.family}|{case.name}"' for case in book.cases)
    return (
        "# Made from rules.toml by generate_cases.py; edit that file instead.\n"
        "# family|tag|values of nvcc -gencode, separated by spaces (none: the build's own architectures)\n"
        f"set(KIT_IMAGES{rows})\n"
        "# every case, family|name\n"
        f"set(KIT_CASES{cases})\n"
    )


def write_if_changed(path: Path, text: str) -> bool:
    """Write the file unless it already holds this text; says whether it was written."""
    data = text.encode("utf-8")
    if path.is_file() and path.read_bytes() == data:
        return False
    path.write_bytes(data)
    return True


def main(argv: list[str] | None = None) -> int:
    """Command line; 0 done, 1 a slip in the rules, 64 bad arguments."""
    parser = argparse.ArgumentParser(description="write cases.h and variants.cmake from the rule book")
    parser.add_argument("--rules", type=Path, required=True, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else 0
    try:
        book = load(options.rules)
    except RulesError as error:
        print(f"generate_cases: {error}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    write_if_changed(options.out / "cases.h", cases_header(book))
    write_if_changed(options.out / "axes.h", axes_header(book.axes))
    write_if_changed(options.out / "variants.cmake", variants_cmake(book))
    return 0
