"""A report as one HTML file: what the run says first, then each rule, the planted bugs, the contested claims, and how it was run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from conformance.pdlkit.display import launches, texts, thousands, triage, verdict_line
from conformance.reports import content
from conformance.reports.content import Report, bound_words, ns_words
from conformance.reports.frame import badge, bullets, document, facts, table, tone
from conformance.reports.markup import Child, Markup, element, joined
from conformance.reports.page_cases import case_details
from conformance.reports.pictures import counted

_MOST_TILES = 1200
_MOST_BROKEN, _MOST_REASONS = 12, 3
_FAILED = ("FAIL", "HANG", "CRASH", "DEVICE_LOST")


def write_page(report: Report) -> str:
    """The page of a report."""
    makers = (_capabilities, _overview, _what_failed, _rules, _mutants, _other_drivers, _overlap, _contested, _paths, _run, _others)
    sections = [make(report) for make in makers]
    return document(f"{verdict_line(report)}: {_device(report)}", _top(report), _contents(sections), sections)


def _device(report: Report) -> str:
    if report["device"]["kind"] == "model":
        return "the model, no GPU"
    return " ".join(str(part) for part in (report["device"].get("name", "GPU"), report["driver"].get("version")) if part)


_SECTIONS = (
    ("capabilities", "Verdict per capability"),
    ("overview", "All rules at a glance"),
    ("said", "What the run says"),
    ("rules", "Rules"),
    ("planted", "Planted bugs"),
    ("drivers", "Other drivers and GPUs"),
    ("overlap", "Overlap"),
    ("contested", "Contested claims"),
    ("paths", "Streams and captured graphs that differ"),
    ("run", "How it was run"),
    ("others", "Also in the report"),
)


def _section(name: str, *body: Child) -> Markup:
    """A part of the page, with the heading and the address that the list of contents leads to."""
    return element("section", element("h2", dict(_SECTIONS)[name]), body, id=f"part-{name}")


def _contents(sections: Iterable[Markup | None]) -> Markup:
    """Links to the parts that this page has."""
    present = "".join(section or "" for section in sections)
    links = [element("a", title, href=f"#part-{name}") for name, title in _SECTIONS if f'id="part-{name}"' in present]
    return element("nav", links, aria_label="Parts of this page")


def _broken(report: Report) -> Markup | None:
    """The rules that decided against the device, in the words of the rule book."""
    bad = [rule for rule in report["rules"] if rule["class"] != "measured" and rule["status"] in _FAILED]
    waived = {entry.get("rule") for entry in report.get("waived") or []}
    lines = [
        joined(
            (
                badge(rule["status"] + (", waived" if rule["id"] in waived else "")),
                " ",
                element("a", rule["id"], href=f"#{rule['id']}"),
                f": {rule['text']}",
            )
        )
        for rule in bad[:_MOST_BROKEN]
    ]
    if len(bad) > _MOST_BROKEN:
        lines.append(joined((f"and {thousands(len(bad) - _MOST_BROKEN)} more rules",)))
    return element("ul", [element("li", line) for line in lines], class_="broken") if lines else None


def _why(report: Report) -> Markup | None:
    """Why nothing was judged or proven, where no rule decided against the device."""
    lines = [str(text) for text in (*report["problems"], *report["reasons"])]
    return bullets(list(dict.fromkeys(lines))[:_MOST_REASONS]) if lines else None


def _device_words(report: Report) -> str:
    """`NVIDIA H200, compute capability 9.0, 132 SMs`, or the model and what is broken in it."""
    device = report["device"]
    if device["kind"] == "model":
        name = report["run"]["device"].partition(":")[2]
        return "the model, no GPU" + (f": broken device {name}" if name else "")
    cc = device.get("cc")
    parts = [str(device.get("name", "unknown")), f"compute capability {cc // 10}.{cc % 10}" if isinstance(cc, int) else None]
    return ", ".join(filter(None, [*parts, f"{device['sms']} SMs" if "sms" in device else None]))


def _top(report: Report) -> Markup:
    score, run = report["mutation_score"], report["run"]
    counted = content.status_words(report)
    rows: list[tuple[str, Child]] = [
        ("device", _device_words(report)),
        ("driver", report["driver"].get("version")),
        ("CUDA Toolkit", report["toolchain"].get("nvcc")),
        ("profile", f"{run['profile']}, seed {run['seed']}, suite {report['suite']['version']}"),
        ("started", f"{run['started']}, took {run['wall_s']:,.1f} s"),
        ("cases", f"{thousands(len(report['tests']))}, of these {counted}" if report["tests"] else "none"),
        ("planted bugs", f"{score['killed']} of {score['applicable']} that apply were found"),
        ("judged by", texts(report) if report["verdict"] == "CONFORMS" else None),
        ("only", " ".join(report["run"]["only"])),
        ("exit code", report["exit"]),
    ]
    model = (
        element(
            "p",
            "The model is a virtual device that follows the rule book. This run shows the kit at work; it is no evidence "
            "about hardware.",
        )
        if report["device"]["kind"] == "model"
        else None
    )
    return element(
        "header",
        element("h1", "PDL conformance: ", badge(verdict_line(report), big=True)),
        element("p", content.verdict_words(report)),
        _broken(report) or _why(report),
        model,
        facts(rows),
        class_="verdict",
    )


def _what_failed(report: Report) -> Markup | None:
    parts: list[Child] = []
    for name, title in (("problems", "Contradictions"), ("reasons", "Why this verdict"), ("findings", "Findings in measured rules")):
        if report[name]:
            parts += [element("h3", title), _long_list(list(report[name]))]
    if report.get("waived"):
        parts += [element("h3", "Waived"), bullets(content.waived_rows(report))]
    if lines := triage(report):
        parts += [element("h3", "What changed when a failing trial was varied"), _long_list(lines)]
    if report.get("waivers_idle"):
        parts += [element("h3", "Waivers that were not needed"), bullets(list(report["waivers_idle"]))]
    if lines := content.notes(report):
        parts += [element("h3", "What this run does not prove"), _long_list(lines)]
    return _section("said", parts) if parts else None


def _long_list(lines: list[str]) -> Markup:
    """The first lines open, the others one click away."""
    first, rest = lines[:8], lines[8:]
    if not rest:
        return bullets(first)
    more = element("details", element("summary", f"{thousands(len(rest))} more"), element("div", bullets(rest), class_="inside"))
    return joined((bullets(first), more))


def _capabilities(report: Report) -> Markup | None:
    rows: list[list[Child]] = [[name, badge(verdict), detail] for name, verdict, detail in content.capability_rows(report)]
    if not rows:
        return None
    return _section("capabilities", table("Capabilities", ["capability", "verdict", "rules"], rows))


def _tile_tone(rule: Mapping[str, Any]) -> str:
    return "none" if rule["class"] == "measured" and rule["status"] == "INCONCLUSIVE" else tone(rule["status"])


def _overview(report: Report) -> Markup | None:
    """Every rule as a tile, so that the whole run is seen at once."""
    if not report["rules"] or len(report["rules"]) > _MOST_TILES:
        return None
    groups = []
    for name, rules in content.rules_by_class(report).items():
        tiles = [
            element(
                "li",
                element(
                    "a",
                    element("span", rule["id"], class_=f"badge {_tile_tone(rule)}"),
                    href=f"#{rule['id']}",
                    title=f"{rule['status']}: {rule['text']}",
                ),
            )
            for rule in rules
        ]
        groups += [element("h3", f"{name} rules"), element("ul", tiles, class_="tiles")]
    key = joined(
        (badge(name), f" {meaning}. ")
        for name, meaning in content.STATUSES.items()
        if any(rule["status"] == name for rule in report["rules"])
    )
    measured = any(rule["class"] == "measured" for rule in report["rules"])
    return _section("overview", groups, element("p", key, content.MEASURED_WORDS if measured else None, class_="soft"))


def _rules(report: Report) -> Markup | None:
    if not report["rules"]:
        return None
    cases = content.tests_of(report)
    groups: list[Child] = []
    for name, rules in content.rules_by_class(report).items():
        groups += [
            element("h3", f"{name} rules ({thousands(len(rules))})"),
            element("p", content.CLASSES[name], class_="soft"),
            [_rule(rule, cases[rule["id"]], report) for rule in rules],
        ]
    terms = facts([(name, meaning) for name, meaning in content.TERMS.items()])
    words = element("details", element("summary", "What the numbers mean"), element("div", terms, class_="inside"))
    return _section("rules", _pooled(report), words, groups)


def _pooled(report: Report) -> Markup | None:
    """Both bounds over all visibility rules, and which combinations of launch features ran."""
    entry, lines = report.get("pooled") or {}, []
    if entry.get("bound95") is not None:
        lines.append(
            f"All visibility rules together: {thousands(entry['exercised'])} exercised trials, bound {bound_words(entry['bound95'])}; "
            f"{thousands(entry['shapes'])} shapes, bound {bound_words(entry['shape_bound95'])}."
        )
    axes = report.get("axes") or {}
    lines += [f"{line[:1].upper()}{line[1:]}." for line in (launches(report) if axes else [])]
    excluded = [f"not together: {text}" for text in axes.get("excluded", [])]
    more = element("details", element("summary", "Features that are not combined"), element("div", bullets(excluded), class_="inside"))
    return joined(([element("p", line) for line in lines], more if excluded else None)) if lines else None


def _rule(rule: Mapping[str, Any], cases: list[Mapping[str, Any]], report: Report) -> Markup:
    shapes = content.shape_bound(rule)
    summary = element(
        "summary",
        badge(rule["status"]),
        " ",
        element("strong", rule["id"]),
        " ",
        rule["text"],
        element("span", _rule_line(rule, cases), class_="facts-line"),
    )
    rows: list[tuple[str, Child]] = [
        ("source", rule["source"]),
        ("asks", content.KINDS[rule["kind"]]),
        ("core", "yes" if rule["core"] else None),
        ("exercised", thousands(rule["exercised"]) if rule["exercised"] else None),
        ("bound (schedules)", bound_words(rule["bound95"]) if rule["bound95"] is not None else None),
        ("bound (shapes)", bound_words(shapes) if shapes is not None else None),
        ("schedules", thousands(rule["schedules"]) if rule["schedules"] else None),
        ("shapes", thousands(rule["shapes"]) if rule.get("shapes") else None),
        ("resolution", ns_words(rule["resolution_ns"]) if rule["resolution_ns"] is not None else None),
        ("mutants", f"{rule['killed']} of {rule['applicable']} found" if rule["applicable"] else "none"),
        ("broken waits", f"{rule['broken_waits_killed']} found" if rule["broken_waits_killed"] else None),
        ("SM pairs", f"{thousands(rule['sm_pairs'])} of {thousands(rule['sm_pairs_possible'])}" if rule["sm_pairs_possible"] else None),
    ]
    inside = [facts(rows), case_details(rule["id"], cases, report)]
    return element(
        "details",
        summary,
        element("div", inside, class_="inside"),
        id=rule["id"],
        open="" if rule["status"] in ("FAIL", "HANG") and len(report["rules"]) < 20 else None,
    )


def _rule_line(rule: Mapping[str, Any], cases: list[Mapping[str, Any]]) -> str:
    """The rule in numbers: how many cases did not pass, or what the trials show."""
    shapes = content.shape_bound(rule)
    bad = sum(case["status"] not in ("PASS", "INCONCLUSIVE", "NOT_SUPPORTED") for case in cases)
    parts = [f"{bad} of {len(cases)} cases went wrong"] if bad else []
    if rule["kind"] == "api":
        parts.append(f"{len(cases)} case{'s' if len(cases) != 1 else ''} of calls and answers, no trials")
    elif rule["exercised"] or not bad:
        parts.append(f"{thousands(rule['exercised'])} exercised trials")
    parts += [f"bound {bound_words(rule['bound95'])}"] if rule["bound95"] is not None else []
    parts += [f"for shapes {bound_words(shapes)}"] if shapes is not None else []
    parts += [f"{rule['killed']} of {rule['applicable']} mutants found"] if rule["applicable"] else ["no mutant"]
    return ", ".join(parts)


def _mutants(report: Report) -> Markup | None:
    found = content.mutants(report)
    if not found:
        return None
    rows: list[list[Child]] = []
    for row in found:
        said = ", ".join(f"{count} {status}" for status, count in row.statuses.items())
        rows.append(
            [
                row.tag,
                row.kind.replace("_", " "),
                said,
                counted(row.kills, row.trials),
                ", ".join(row.rules),
            ]
        )
    score = report["mutation_score"]
    words = [element("p", f"{score['killed']} of {score['applicable']} planted bugs that apply here were found.")]
    for name, title in (("survived", "Survived"), ("equivalent", "Equivalent on this device"), ("not_applicable", "Not applicable")):
        if score[name]:
            words += [element("h3", title), _long_list(list(score[name]))]
    head = ["tag", "kind", "cases", "trials that showed it", "rules"]
    return _section("planted", words, table("Planted bugs, controls and broken waits", head, rows))


def _other_drivers(report: Report) -> Markup | None:
    """Whether a failure is new: what the recorded runs on other drivers and GPUs said of the rules that differ or failed."""
    others = report.get("other_drivers") or []
    if not others:
        return None
    differing: list[list[Child]] = []
    for rule in report["rules"]:
        said = [rule["status"], *(other["rules"].get(rule["id"]) for other in others)]
        if rule["class"] != "measured" and (len(set(said) - {None}) > 1 or any(status in _FAILED for status in said)):
            link = element("a", rule["id"], href=f"#{rule['id']}")
            differing.append([link, *(badge(status) if status else "not asked" for status in said)])
    names = [f"{other['gpu']}, driver {other['driver']}, CUDA {other['toolkit']}" for other in others]
    runs = [f"{name}: {other['verdict']}, run on {other['started'][:10]}" for name, other in zip(names, others, strict=True)]
    same: Child = element("p", "Every rule that decides a verdict has the same result there.")
    return _section(
        "drivers",
        element("p", "The last recorded run of each, as this kit knew it when this report was made."),
        bullets(runs),
        table("Rules that differ, or that failed somewhere", ["rule", "this run", *names], differing) if differing else same,
    )


def _overlap(report: Report) -> Markup | None:
    """Did the two kernels run at the same time? Per rule, from the cases that count it."""
    rows: list[list[Child]] = []
    for rule, cases in content.tests_of(report).items():
        counting = [case for case in cases if "overlap" in case["outcomes"] and case["trials"]["run"]]
        run, overlapped = (sum(case["trials"]["run"] for case in counting), sum(case["outcomes"]["overlap"] for case in counting))
        if overlapped:
            pairs = max((case["sm_pairs"] or 0 for case in counting), default=0)
            rows.append(
                [
                    rule,
                    counted(overlapped, run),
                    thousands(pairs),
                ]
            )
    if not rows:
        return None
    listed = table("Overlap per rule", ["rule", "trials that overlapped", "SM pairs"], rows, frozenset({2}))
    return _section(
        "overlap",
        element("p", "Trials in which the dependent ran before the primary had ended. Overlap is allowed and never required."),
        element("details", element("summary", f"{len(rows)} rules with overlap"), element("div", listed, class_="inside")),
    )


def _contested(report: Report) -> Markup | None:
    claims: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for entry in report.get("contested") or []:
        claims.setdefault((entry["id"], entry["question"], entry["claim_a"], entry["claim_b"]), []).append(entry)
    if not claims:
        return None
    parts = []
    for (name, question, first, second), entries in claims.items():
        follows = Counter(entry["follows"] for entry in entries)
        rows: list[list[Child]] = [[entry["case"], entry["follows"], entry["counts"], entry["bound"]] for entry in entries]
        inside = [
            facts([("claim A", first), ("claim B", second), ("cited as", name)]),
            table(f"Cases on: {question}", ["case", "claim", "counts", "bound"], rows),
        ]
        parts.append(
            element(
                "details",
                element(
                    "summary",
                    element("strong", question),
                    element("span", _follows(follows, {"A": first, "B": second}), class_="facts-line"),
                ),
                element("div", inside, class_="inside"),
            )
        )
    return _section("contested", element("p", "Where the documents disagree or are silent, and what this device did."), parts)


def _follows(answers: Counter[str], claims: Mapping[str, str]) -> str:
    """`This device follows claim A: ...`, or in how many cases it followed which."""
    clear = {name: count for name, count in answers.items() if name in ("A", "B")}
    if not clear:
        return "This run does not decide it."
    if len(clear) == 1:
        (name,) = clear
        return f"This device follows claim {name}: {claims[name]}."
    return "This device follows " + ", ".join(f"claim {name} in {count} of the cases" for name, count in clear.items()) + "."


def _paths(report: Report) -> Markup | None:
    rows: list[list[Child]] = []
    for entry in report.get("paths") or []:
        if entry["words"] == "same" and not entry["overlap_differs"]:
            continue
        sides = [
            f"{side['fresh']:,} of {side['run']:,} right, {side['overlap']:,} overlapped" for side in (entry["stream"], entry["captured"])
        ]
        rows.append([f"{entry['rule']}.{entry['pair']}.{entry['window']}", entry["words"], *sides])
    if not rows:
        return None
    return _section("paths", table("The same launches on both paths", ["case", "words", "stream", "captured"], rows))


def _run(report: Report) -> Markup:
    run, suite, host, chain, driver = (report[name] for name in ("run", "suite", "host", "toolchain", "driver"))
    code = chain.get("code") or {}
    rows: list[tuple[str, Child]] = [
        ("arguments", element("code", " ".join(run["argv"]))),
        ("run id", element("code", run.get("id", "–"))),
        ("seed", element("code", run["seed"])),
        ("profile", run["profile"]),
        ("planted", run["plant"]),
        ("suite", f"{suite['version']}, sources {suite['sources']}, rules {suite['rules_hash']}"),
        ("commit", f"{suite['git']}{' with changes' if suite['dirty'] else ''}" if suite["git"] else None),
        ("driver", ", ".join(f"{key} {value}" for key, value in driver.items() if value)),
        ("lint on these kernels", report.get("static_check")),
        (
            "toolchain",
            ", ".join(f"{key} {chain[key]}" for key in ("nvcc", "ptxas", "compiler", "cmake", "xxhash", "built") if chain.get(key)),
        ),
        ("machine code", f"{code['method']}; {', '.join(f'sm_{cc}' for cc in code['architectures'])}" if code else None),
        ("host", f"{host['os']}, kernel {host['kernel']}, {host['architecture']}, {host['cores']} cores, Python {host['python']}"),
        ("between kit and device", ", ".join(host["interposers"])),
        ("schema", report["schema"]),
    ]
    children: list[list[Child]] = [
        [
            child["family"],
            child["exit"] if child["exit"] is not None else f"signal {child['signal']}",
            "yes" if child["hung"] else "no",
            f"{child['wall_s']:.1f} s",
        ]
        for child in report["processes"]
    ]
    parts: list[Child] = [facts(rows)]
    if children:
        listed = table("Processes", ["family", "exit", "hung", "time"], children, frozenset({3}))
        parts.append(element("details", element("summary", f"{len(children)} processes"), element("div", listed, class_="inside")))
    return _section("run", parts)


def _others(report: Report) -> Markup | None:
    parts = [joined((element("h3", name), _tree(value))) for name, value in content.others(report)]
    return _section("others", parts) if parts else None


def _tree(value: Any) -> Markup:
    """Any JSON value, as nested lists."""
    if isinstance(value, Mapping):
        return element("ul", [element("li", element("strong", key), ": ", _tree(entry)) for key, entry in value.items()])
    if isinstance(value, list) and any(isinstance(entry, Mapping | list) for entry in value):
        return element("ul", [element("li", _tree(entry)) for entry in value])
    return Markup(element("span", content.plain(value)))
