"""Findings for build servers: JUnit XML, and annotations of GitHub's workflows."""

from __future__ import annotations

import os
from xml.etree import ElementTree

from conformance.lint.findings import ERROR, HINT
from conformance.lint.linter import Report
from conformance.lint.output import visible

_COMMANDS = {ERROR: "error", "warning": "warning", HINT: "notice"}


def as_junit(report: Report) -> str:
    """One test case for each judged kernel of each image; what could not be read is an error."""
    judged = [v for v in report.verdicts if v.judged]
    failed = [v for v in judged if not v.clean]
    suite = ElementTree.Element("testsuite", name="pdl-lint", tests=str(len(judged) + len(report.unreadable)), failures=str(len(failed)),
                                errors=str(len(report.unreadable)), skipped="0")
    for verdict in judged:
        where = f"{verdict.file}{'/' + verdict.image if verdict.image else ''} {verdict.arch}"
        case = ElementTree.SubElement(suite, "testcase", classname=visible(where), name=visible(verdict.demangled))
        found = [f for f in verdict.findings if f.counts]
        if found:
            what = visible(f"{len(found)} findings: {found[0].message}")
            failure = ElementTree.SubElement(case, "failure", type=found[0].id, message=what)
            failure.text = "\n".join(visible(f"{f.where}: {f.severity} [{f.id}]: {f.in_full}") for f in found)
    for file, message in report.unreadable:
        case = ElementTree.SubElement(suite, "testcase", classname=visible(file), name="can be read")
        ElementTree.SubElement(case, "error", message=visible(message))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def as_annotations(report: Report, hints: bool) -> str:
    """One workflow command for each finding that counts; hints on demand."""
    shown = (f for f in report.each_finding() if f.counts or (hints and f.severity == HINT and f.suppressed is None))
    lines = []
    for finding in shown:
        place = ""
        if finding.source is not None:
            file = os.path.relpath(finding.source[0]) if os.path.isabs(finding.source[0]) else finding.source[0]
            place = f"file={_property(file)},line={finding.source[1]},"
        text = f"{finding.demangled} ({finding.arch}): {finding.in_full}"
        lines.append(f"::{_COMMANDS[finding.severity]} {place}title={_property(finding.id)}::{_data(text)}")
    lines += [f"::error title=lint cannot read a file::{_data(f'{file}: {message}')}" for file, message in report.unreadable]
    return "\n".join(lines)


def _data(text: str) -> str:
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
