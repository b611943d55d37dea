"""The rule book's loader refuses every slip by name, and what is generated from it is C and stable."""

from __future__ import annotations

import copy
import hashlib
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.pdlkit import places
from conformance.pdlkit.generate_cases import c_string, cases_header, main, variants_cmake
from conformance.pdlkit.rules import RulesError, load, parse

GOOD: dict[str, Any] = {
    "suite": "0.1.0",
    "mutant": [
        {"tag": "nowait", "kind": "kernel", "text": "never waits", "source": ["B01"]},
        {"tag": "erased-ptx", "kind": "image", "text": "old image", "source": [], "flags": ["arch=compute_80,code=compute_80"]},
        {"tag": "attron", "kind": "control", "text": "with it", "source": []},
        {"tag": "hostbug", "kind": "host", "text": "wrong edge", "source": [], "equivalent_candidate": "same here"},
    ],
    "rule": [
        {
            "id": "WAIT-01", "class": "documented", "kind": "visibility", "core": True, "text": "It waits.",
            "source": "PTX", "needs": {"cc": 90, "toolkit": "12.3"},
            "case": [{
                "family": "wait", "pair": "store", "windows": {"widened": "proving", "natural": "observing"},
                "paths": ["captured", "stream"], "mutants": ["nowait", "erased-ptx", "hostbug"], "controls": ["attron"],
                "broken_waits": True, "trials": {"smoke": 1, "quick": 2, "full": 3, "soak": 4},
            }],
        },
        {"id": "FWD-09", "class": "derived", "kind": "api", "text": "t", "source": "s", "untestable": "nobody can see it"},
    ],
}


def to_toml(value: Any) -> str:
    """Enough TOML for these tables: everything inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {to_toml(item)}' for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(to_toml(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def text_of(data: dict[str, Any]) -> bytes:
    return "\n".join(f"{key} = {to_toml(value)}" for key, value in data.items()).encode()


def changed(path: str, value: Any = ...) -> dict[str, Any]:
    """GOOD with one place set, or removed."""
    data = copy.deepcopy(GOOD)
    *parents, last = path.split("/")
    place: Any = data
    for part in parents:
        place = place[int(part)] if part.isdigit() else place[part]
    if value is ...:
        del place[last]
    elif isinstance(place, list):
        place.append(value)
    else:
        place[last] = value
    return data


CASE = "rule/0/case/0/"


def without_power(**rule: Any) -> dict[str, Any]:
    """GOOD with a rule that proves without mutant, control or broken wait, changed like this."""
    case = {key: value for key, value in GOOD["rule"][0]["case"][0].items() if key not in ("mutants", "controls", "broken_waits")}
    return {**GOOD, "rule": [{**GOOD["rule"][0], "case": [case], **rule}]}


def second_control() -> dict[str, Any]:
    """GOOD with a case of two controls."""
    data = changed("mutant/-", {**GOOD["mutant"][2], "tag": "attrtwo"})
    data["rule"][0]["case"][0]["controls"] = ["attron", "attrtwo"]
    return data


def derived(**case: Any) -> dict[str, Any]:
    """GOOD with a derived rule whose case is changed like this."""
    data = changed("rule/0/class", "derived")
    data["rule"][0]["case"][0].update(case)
    return data


def observing(**planted: Any) -> dict[str, Any]:
    """GOOD with a case that only observes and has these planted bugs, and no others."""
    data = changed("rule/0/core", False)
    case = data["rule"][0]["case"][0]
    for key in ("mutants", "controls", "broken_waits"):
        del case[key]
    case |= {"windows": {"natural": "observing"}, **planted}
    return data


SLIPS = [
    (changed("suite"), "`suite` is missing"),
    (changed("suite", "one"), "write a version"),
    (changed("mutants", []), "unknown key `mutants`"),
    (changed("mutant/0/tag", "no wait"), "rename it"),
    (changed("mutant/0/tag", "base"), "reserved"),
    (changed("mutant/0/kind", "odd"), "nobody knows"),
    (changed("mutant/0/flags", ["arch=compute_80,code=sm_90"]), "only for kind image"),
    (changed("mutant/1/flags"), "kind image needs `flags`"),
    (changed("mutant/1/flags", ["-O3 ; rm"]), "no -gencode value"),
    (changed("mutant/0/colour", "red"), "unknown key `colour`"),
    (changed("mutant/-", GOOD["mutant"][0]), "declared twice"),
    (changed("rule", []), "states no rule"),
    (changed("rule/0/id", "wait-1"), "an id is capital letters"),
    (changed("rule/0/id"), "`id` is missing"),
    (changed("rule/0/class", "guessed"), "nobody knows"),
    (changed("rule/0/class", "measured"), "a measured rule only observes"),
    ({**observing(), "rule": [{**observing()["rule"][0], "class": "measured", "core": True}]}, "is core and measured"),
    (changed("rule/0/kind", "speed"), "nobody knows"),
    (changed("rule/0/core", "yes"), "must be true or false"),
    (changed("rule/0/text", " "), "is empty"),
    (changed("rule/0/needs", {"cc": 9000}), "ten times the major"),
    (changed("rule/0/needs", {"toolkit": "12"}), "major.minor"),
    (changed("rule/0/needs", {"gpu": "H200"}), "unknown key `gpu`"),
    (changed("rule/0/untestable", "hm"), "is called untestable and has cases"),
    (changed("rule/1/untestable"), "has no case"),
    (changed("rule/1/core", True), "no case proves it"),
    (changed("rule/-", GOOD["rule"][1]), "stated twice"),
    (changed("rule/0/case/-", GOOD["rule"][0]["case"][0]), "twice; give one of them another pair"),
    (changed(CASE + "family", "a-b"), "becomes a C name"),
    (changed(CASE + "windows", {}), "`windows` is empty"),
    (changed(CASE + "windows", {"wide": "proving"}), "nobody knows"),
    (changed(CASE + "windows", {"widened": "maybe"}), "nobody knows"),
    (changed(CASE + "windows", {"natural": "observing"}), "no proving window"),
    (changed(CASE + "paths", []), "`paths` is empty"),
    (changed(CASE + "paths", ["stream", "stream"]), "`paths` names `stream` twice; name it once"),
    (observing(mutants=["nowait"]), "has mutants but no proving window"),
    (observing(controls=["attron"]), "has controls but no proving window"),
    (observing(broken_waits=True), "has broken_waits but no proving window"),
    (changed("rule/0/needs", {"cc": True}), "`cc` must be a whole number, not True"),
    (changed(CASE + "trials", {"smoke": True, "quick": 2, "full": 3, "soak": 4}), "`smoke` must be a whole number, not True"),
    (changed(CASE + "paths", ["tube"]), "nobody knows"),
    (changed(CASE + "mutants", ["ghost"]), "no [[mutant]] declares"),
    (changed(CASE + "mutants", ["attron"]), "list it under `controls`"),
    (changed(CASE + "controls", ["nowait"]), "list it under `mutants`"),
    (changed(CASE + "mutants", [1]), "must list words"),
    (changed(CASE + "trials", {"smoke": 1, "quick": 2, "full": 3}), "`soak` is missing"),
    (changed(CASE + "trials", {"smoke": 0, "quick": 2, "full": 3, "soak": 4}), "proves nothing"),
    (changed(CASE + "trials", {"smoke": 9, "quick": 2, "full": 3, "soak": 4}), "must not run fewer"),
    (changed(CASE + "trials", {"smoke": 1, "quick": 3, "full": 2, "soak": 4}), "must not run fewer"),
    (changed(CASE + "trials", {"smoke": 1, "quick": 2, "full": 4, "soak": 3}), "must not run fewer"),
    (changed(CASE + "trials"), "`trials` is missing"),
    (changed(CASE + "allowed", ["wrong"]), "is for measured rules"),
    (changed(CASE + "allowed", ["luck"]), "nobody knows"),
    (changed(CASE + "interesting", ["luck"]), "nobody knows"),
    (changed(CASE + "serial", {"tube": "x"}), "nobody knows"),
    (changed(CASE + "serial", {"stream": " "}), "must say why"),
    (changed("rule/0/no_device", ""), "is empty"),
    (changed(CASE + "retries", 3), "unknown key `retries`"),
    (without_power(), "proves without mutant"),
    (without_power(core=False), "proves without mutant"),
    (without_power(no_device="no device shows it"), "proves without mutant"),
    (without_power(note=" "), "is empty"),
    (second_control(), "has 2 controls"),
    (derived(allowed=["wrong"]), "what a derived rule's trials show is forbidden or required"),
]


def test_the_good_book_loads() -> None:
    book = parse(text_of(GOOD))
    assert [case.name for case in book.cases] == [
        "WAIT-01.store.widened.captured", "WAIT-01.store.widened.stream",
        "WAIT-01.store.natural.captured", "WAIT-01.store.natural.stream"]
    assert book.images() == [
        ("wait", "base", ()), ("wait", "brokenwait", ()), ("wait", "erased-ptx", ("arch=compute_80,code=compute_80",)),
        ("wait", "hostbug", ()), ("wait", "nowait", ())]


def test_a_rule_may_prove_without_power_if_its_note_says_why() -> None:
    assert [rule.note for rule in parse(text_of(without_power(note="nothing can be planted"))).rules] == ["nothing can be planted"]


def test_a_case_says_what_its_trials_may_show() -> None:
    data = changed("rule/0/class", "measured")
    data["rule"][0]["core"] = False
    case = data["rule"][0]["case"][0]
    for key in ("mutants", "controls", "broken_waits"):
        del case[key]
    case |= {"windows": {"widened": "observing"}, "allowed": ["wrong"], "serial": {"stream": "in order"}}
    captured, stream = parse(text_of(data)).cases
    assert captured.allowed == stream.allowed == ("wrong",) and captured.interesting == ("overlap",)
    assert captured.serial is None and stream.serial == "in order"
    case["interesting"] = []
    assert parse(text_of(data)).cases[0].interesting == ()


def test_only_proving_cases_carry_mutants() -> None:
    for case in parse(text_of(GOOD)).cases:
        assert bool(case.mutants) == bool(case.controls) == case.broken_waits == case.proving


@pytest.mark.parametrize(("data", "sentence"), SLIPS, ids=[slip[1][:40] for slip in SLIPS])
def test_a_slip_is_refused_with_its_sentence(data: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RulesError) as caught:
        parse(text_of(data))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("text", [b"\xff\xfe", b"suite = ", b"[[rule]\n"])
def test_what_is_no_toml_is_refused(text: bytes) -> None:
    with pytest.raises(RulesError, match="no TOML"):
        parse(text)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match=r"gone\.toml cannot be read"):
        load(tmp_path / "gone.toml")


def _places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [p for key, item in items for p in [(*path, key), *_places_in(item, (*path, key))]]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_places_in(GOOD)), st.sampled_from([None, 0, -1, 7, True, "", "x", [], {}, ["x"], {"x": 1}]))
def test_any_single_change_loads_or_is_refused_by_name(path: tuple[Any, ...], value: Any) -> None:
    data = copy.deepcopy(GOOD)
    place: Any = data
    for part in path[:-1]:
        place = place[part]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    try:
        book = parse(text_of(data))
    except RulesError as error:
        assert str(error)
    else:
        assert cases_header(book) and variants_cmake(book)


@given(st.text(max_size=40))
def test_a_c_string_holds_exactly_the_text(text: str) -> None:
    literal = c_string(text)
    assert literal.isascii() and "\n" not in literal and "??" not in literal
    if shutil.which("cc") is None:  # the shape above is all that can be checked then
        return
    inner = literal[1:-1]
    decoded, i = bytearray(), 0
    while i < len(inner):
        if inner[i] != "\\":
            decoded.append(ord(inner[i]))
            i += 1
        elif inner[i + 1] in '"\\?':
            decoded.append(ord(inner[i + 1]))
            i += 2
        else:
            decoded.append(int(inner[i + 1:i + 4], 8))
            i += 4
    assert bytes(decoded) == text.encode()


DECLARATIONS = """
#include <stddef.h>
struct tag_info { const char *tag, *kind, *text, *equivalent; };
struct case_info {
    const char *name, *rule, *rule_class, *kind, *family, *pair, *window, *path;
    int core, proving, broken_waits, gpu_only, min_cc, min_toolkit;
    unsigned long long trials[4];
    const char *const *mutants, *const *controls;
    unsigned allowed;
};
enum { CASE_ALLOWS_WRONG = 1, CASE_ALLOWS_EARLY = 2 };
#include "cases.h"
#define ONE(family, tag, symbol) +1
_Static_assert(sizeof(kit_cases) / sizeof(kit_cases[0]) == KIT_CASE_COUNT, "cases");
_Static_assert(sizeof(kit_tags) / sizeof(kit_tags[0]) == KIT_TAG_COUNT, "tags");
int main(void) { return 0 KIT_IMAGES(ONE); }
"""
TELLS = DECLARATIONS.replace("int main(void) { return 0 KIT_IMAGES(ONE); }", """
#include <stdio.h>
static void names(const char *const *name) { for (; *name; name++) printf("%s,", *name); printf("|"); }
int main(void)
{
    for (int i = 0; i < KIT_CASE_COUNT; i++) {
        const struct case_info *c = &kit_cases[i];
        printf("%s|%s|%s|%s|%s|%s|%s|%s|%d|%d|%d|%d|%d|%d|", c->name, c->rule, c->rule_class, c->kind, c->family, c->pair, c->window,
               c->path, c->core, c->proving, c->broken_waits, c->gpu_only, c->min_cc, c->min_toolkit);
        for (int p = 0; p < 4; p++) printf("%llu,", c->trials[p]);
        printf("|");
        names(c->mutants);
        names(c->controls);
        printf("%u\\n", c->allowed);
    }
    for (int i = 0; i < KIT_TAG_COUNT; i++)
        printf("%s|%s|%s|%s\\n", kit_tags[i].tag, kit_tags[i].kind, kit_tags[i].text,
               kit_tags[i].equivalent ? kit_tags[i].equivalent : "NULL");
    printf("%s %s\\n", KIT_SUITE, KIT_RULES_HASH);
}
""")


def lines_of(book_text: bytes) -> list[str]:
    """What the C tables have to say, from the TOML itself."""
    data, found = tomllib.loads(book_text.decode()), []
    kinds = {tag["tag"]: tag for tag in data["mutant"]}
    for rule in data["rule"]:
        major, minor = map(int, rule.get("needs", {}).get("toolkit", "12.3").split("."))
        for case in rule.get("case", []):
            trials = case.get("trials", {})
            for window, role in case["windows"].items():
                proves = role == "proving"
                for path in case["paths"]:
                    texts = [f"{rule['id']}.{case['pair']}.{window}.{path}", rule["id"], rule["class"], rule["kind"], case["family"],
                             case["pair"], window, path]
                    numbers = [rule.get("core", False), proves, proves and case.get("broken_waits", False), case.get("gpu_only", False),
                               rule.get("needs", {}).get("cc", 90), major * 1000 + minor * 10]
                    lists = ["".join(f"{name}," for name in case.get(key, []) if proves) for key in ("mutants", "controls")]
                    allowed = sum({"wrong": 1, "early_start": 2}[name] for name in case.get("allowed", []))
                    counts = "".join(f"{trials.get(profile, 0)}," for profile in ("smoke", "quick", "full", "soak"))
                    found.append("|".join([*texts, *(str(int(n)) for n in numbers), counts, *lists, str(allowed)]))
    found += [f"{tag['tag']}|{tag['kind']}|{tag['text']}|{tag.get('equivalent_candidate', 'NULL')}" for tag in kinds.values()]
    return [*found, f"{data['suite']} {hashlib.sha256(book_text).hexdigest()[:16]}"]


@pytest.mark.parametrize("book_text", [text_of(GOOD), places.RULES.read_bytes()], ids=["sample", "rules.toml"])
def test_the_tables_say_what_the_rules_say(book_text: bytes, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_bytes(book_text)
    assert main(["--rules", str(tmp_path / "rules.toml"), "--out", str(tmp_path)]) == 0
    (tmp_path / "tell.c").write_text(TELLS)
    subprocess.run(["cc", "-std=c11", "-o", "tell", "tell.c"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "tell"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == lines_of(book_text)
    cmake = (tmp_path / "variants.cmake").read_text()
    book = parse(book_text)
    assert [f'"{case.family}|{case.name}"' in cmake for case in book.cases] == [True] * len(book.cases)
    assert [f'"{family}|{tag}|{" ".join(flags)}"' in cmake for family, tag, flags in book.images()] == [True] * len(book.images())


@pytest.mark.parametrize("book_text", [text_of(GOOD), places.RULES.read_bytes()], ids=["sample", "rules.toml"])
def test_the_generated_header_is_clean_c(book_text: bytes, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_bytes(book_text)
    assert main(["--rules", str(tmp_path / "rules.toml"), "--out", str(tmp_path)]) == 0
    (tmp_path / "check.c").write_text(DECLARATIONS)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(["cc", *flags, "-o", "check", "check.c"], cwd=tmp_path, check=True)
    images = subprocess.run([tmp_path / "check"]).returncode
    assert images == len(parse(book_text).images())


def test_same_rules_same_bytes_and_no_needless_write(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_bytes(text_of(GOOD))
    argv = ["--rules", str(tmp_path / "rules.toml"), "--out", str(tmp_path / "out")]
    assert main(argv) == 0
    header = tmp_path / "out" / "cases.h"
    before, stamp = header.read_bytes(), header.stat().st_mtime_ns
    assert main(argv) == 0
    assert header.read_bytes() == before and header.stat().st_mtime_ns == stamp


def test_the_generator_says_which_slip_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rules.toml").write_bytes(text_of(changed("rule/0/class", "guessed")))
    assert main(["--rules", str(tmp_path / "rules.toml"), "--out", str(tmp_path)]) == 1
    assert "rule `WAIT-01`" in capsys.readouterr().err
    assert main(["--rules"]) == 64


def test_the_project_s_own_rules_load_and_name_existing_kernels() -> None:
    book = load(places.RULES)
    assert tomllib.loads(places.RULES.read_text())["suite"] == book.suite
    for family in book.families:
        assert (places.KERNELS / f"{family}.cu").is_file()
