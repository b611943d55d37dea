"""A report as one HTML file: what the run says first, then each rule, the planted bugs, the contested claims, and how it was run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.pdlkit.display import headline, texts, thousands, triage, verdict_line
from conformance.reports import content
from conformance.reports.content import Report, bound_words, ns_words
from conformance.reports.frame import badge, bullets, document, facts, table, tone
from conformance.reports.markup import Child, Markup, element, joined
from conformance.reports.page_cases import case_details
from conformance.reports.pictures import share

_MOST_TILES = 1200


def write_page(report: Report) -> str:
    """The page of a report."""
    return document(
        f"{verdict_line(report)}: {_device(report)}",
        _top(report),
        _capabilities(report),
        _overview(report),
        _what_failed(report),
        _rules(report),
        _mutants(report),
        _overlap(report),
        _contested(report),
        _paths(report),
        _run(report),
        _others(report),
    )


def _device(report: Report) -> str:
    if report["device"]["kind"] == "model":
        return "the model, no GPU"
    return " ".join(str(part) for part in (report["device"].get("name", "GPU"), report["driver"].get("version")) if part)


def _top(report: Report) -> Markup:
    score = report["mutation_score"]
    counted = content.status_words(report)
    rows: list[tuple[str, Child]] = [
        ("device", headline(report)),
        ("started", f"{report['run']['started']}, {report['run']['wall_s']:,.1f} s"),
        ("cases", f"{thousands(len(report['tests']))}: {counted}" if report["tests"] else "none"),
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
        element("p", content.VERDICTS[report["verdict"]]),
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
    if lines := content.notes(report):
        parts += [element("h3", "What this run does not prove"), _long_list(lines)]
    return element("section", element("h2", "What the run says"), parts) if parts else None


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
    return element("section", element("h2", "Verdict per capability"), table("Capabilities", ["capability", "verdict", "detail"], rows))


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
                    element("span", rule["id"], class_=f"badge {tone(rule['status'])}"),
                    href=f"#{rule['id']}",
                    title=f"{rule['status']}: {rule['text']}",
                ),
            )
            for rule in rules
        ]
        groups += [element("h3", name), element("ul", tiles, class_="tiles")]
    key = joined(
        (badge(name), f" {meaning}. ")
        for name, meaning in content.STATUSES.items()
        if any(rule["status"] == name for rule in report["rules"])
    )
    return element("section", element("h2", "All rules at a glance"), groups, element("p", key, class_="soft"))


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
    return element("section", element("h2", "Rules"), words, groups)


def _rule(rule: Mapping[str, Any], cases: list[Mapping[str, Any]], report: Report) -> Markup:
    power = f"{rule['killed']}/{rule['applicable']} mutants" if rule["applicable"] else "no mutant"
    line = [f"{thousands(rule['exercised'])} exercised", f"bound {bound_words(rule['bound95'])}", power]
    shapes = content.shape_bound(rule)
    if shapes is not None:
        line.insert(2, f"for shapes {bound_words(shapes)}")
    summary = element(
        "summary",
        badge(rule["status"]),
        " ",
        element("strong", rule["id"]),
        " ",
        rule["text"],
        element("span", ", ".join(line), class_="facts-line"),
    )
    rows: list[tuple[str, Child]] = [
        ("source", rule["source"]),
        ("asks", content.KINDS[rule["kind"]]),
        ("core", "yes" if rule["core"] else None),
        ("exercised", thousands(rule["exercised"])),
        ("bound (schedules)", bound_words(rule["bound95"])),
        ("bound (shapes)", bound_words(shapes) if shapes is not None else None),
        ("schedules", thousands(rule["schedules"])),
        ("shapes", thousands(rule.get("shapes"))),
        ("resolution", ns_words(rule["resolution_ns"])),
        ("mutants", f"{rule['killed']} of {rule['applicable']} killed" if rule["applicable"] else "none"),
        ("broken waits", f"{rule['broken_waits_killed']} killed" if rule["broken_waits_killed"] else None),
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
                joined(
                    (share(row.kills, row.trials, f"{row.kills:,} of {row.trials:,} trials showed it"), f" {row.kills:,} of {row.trials:,}")
                ),
                ", ".join(row.rules),
            ]
        )
    score = report["mutation_score"]
    words = [element("p", f"{score['killed']} of {score['applicable']} planted bugs that apply here were found.")]
    for name, title in (("survived", "Survived"), ("equivalent", "Equivalent on this device"), ("not_applicable", "Not applicable")):
        if score[name]:
            words += [element("h3", title), _long_list(list(score[name]))]
    head = ["tag", "kind", "cases", "trials that showed it", "rules"]
    return element("section", element("h2", "Planted bugs"), words, table("Planted bugs, controls and broken waits", head, rows))


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
                    joined((share(overlapped, run, f"{overlapped:,} of {run:,} trials overlapped"), f" {overlapped:,} of {run:,}")),
                    thousands(pairs),
                ]
            )
    if not rows:
        return None
    return element(
        "section",
        element("h2", "Co-residency"),
        element("p", "Trials in which the dependent ran before the primary had ended. Overlap is allowed and never required."),
        table("Overlap per rule", ["rule", "trials that overlapped", "SM pairs"], rows, frozenset({2})),
    )


def _contested(report: Report) -> Markup | None:
    claims: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for entry in report.get("contested") or []:
        claims.setdefault((entry["id"], entry["question"], entry["claim_a"], entry["claim_b"]), []).append(entry)
    if not claims:
        return None
    parts = []
    for (name, question, first, second), entries in claims.items():
        follows = ", ".join(dict.fromkeys(entry["follows"] for entry in entries))
        rows: list[list[Child]] = [[entry["case"], entry["follows"], entry["counts"], entry["bound"]] for entry in entries]
        inside = [
            facts([("claim A", first), ("claim B", second), ("named", name)]),
            table(f"Cases on: {question}", ["case", "follows", "counts", "bound"], rows),
        ]
        parts.append(
            element(
                "details",
                element("summary", element("strong", question), f" This device follows: {follows}"),
                element("div", inside, class_="inside"),
            )
        )
    return element(
        "section",
        element("h2", "Contested claims"),
        element("p", "Where the documents disagree or are silent, and what this device did."),
        parts,
    )


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
    return element(
        "section",
        element("h2", "Streams and captured graphs that differ"),
        table("The same launches on both paths", ["case", "words", "stream", "captured"], rows),
    )


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
        ("lint on the same kernels", report.get("static_check")),
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
    parts: list[Child] = [element("h2", "How it was run"), facts(rows)]
    if children:
        listed = table("Processes", ["family", "exit", "hung", "time"], children, frozenset({3}))
        parts.append(element("details", element("summary", f"{len(children)} processes"), element("div", listed, class_="inside")))
    return element("section", parts)


def _others(report: Report) -> Markup | None:
    parts = [joined((element("h3", name), _tree(value))) for name, value in content.others(report)]
    return element("section", element("h2", "Also in the report"), parts) if parts else None


def _tree(value: Any) -> Markup:
    """Any JSON value, as nested lists."""
    if isinstance(value, Mapping):
        return element("ul", [element("li", element("strong", key), ": ", _tree(entry)) for key, entry in value.items()])
    if isinstance(value, list) and any(isinstance(entry, Mapping | list) for entry in value):
        return element("ul", [element("li", _tree(entry)) for entry in value])
    return Markup(element("span", content.plain(value)))
