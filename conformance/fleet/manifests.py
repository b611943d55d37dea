"""Checks the Kubernetes manifests in contracts/ against the schemas of Kubernetes' own API, and shows that the check can fail.

    python3 conformance dev check-manifests [--version 1.34]...

On demand: the schemas are 23 MB (kubernetes-validate, pinned by hash). Every manifest has to pass for every version, and each of the
planted mistakes has to be refused.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.pdlkit.exits import FAILED, OK, SetupImpossible
from conformance.pdlkit.venv import ensure_venv

CONTRACTS = Path(__file__).with_name("contracts")
VERSIONS = ("1.30", "1.34", "1.37")
# What a slip of the pen looks like: a part of a manifest, and what stands in its place.
MISTAKES = (
    ("containers:", "container:"),
    ("restartPolicy:", "restart:"),
    ("backoffLimit: 0", 'backoffLimit: "0"'),
    ("apiVersion: v1", "apiVersion: v7"),
    ("mountPath:", "mountpath:"),
    ("limits:", "limit:"),
    ("activeDeadlineSeconds:", "activeDeadline:"),
)
_CHECK = """
import json, sys, yaml, kubernetes_validate
answers = []
for text, version in json.load(sys.stdin):
    try:
        for document in yaml.safe_load_all(text):
            kubernetes_validate.validate(document, version, strict=True)
        answers.append(None)
    except (yaml.YAMLError, KeyError, kubernetes_validate.ValidationError, kubernetes_validate.utils.SchemaNotFoundError) as error:
        answers.append(f"{type(error).__name__} {error}".splitlines()[0][:200])
print(json.dumps(answers))
"""


def verdicts(questions: Sequence[tuple[str, str]]) -> list[str | None]:
    """For each text of a manifest and version of Kubernetes: None, or what is wrong with it."""
    python = ensure_venv("kubernetes")
    done = subprocess.run([str(python), "-P", "-c", _CHECK], input=json.dumps(questions), capture_output=True, text=True)
    if done.returncode != 0:
        raise SetupImpossible(f"kubernetes-validate does not work here: {done.stderr.strip()[-300:]}")
    return list(json.loads(done.stdout))


def problems(versions: Sequence[str]) -> list[str]:
    """What is wrong with the manifests, and which planted mistakes nobody noticed."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(CONTRACTS.glob("*.yaml"))}
    asked = [(name, version) for name in texts for version in versions]
    answers = verdicts([(texts[name], version) for name, version in asked])
    found = [f"{name}, Kubernetes {version}: {said}" for (name, version), said in zip(asked, answers, strict=True) if said]
    planted = [(name, *mistake) for name, text in texts.items() for mistake in MISTAKES if mistake[0] in text]
    missed = verdicts([(texts[name].replace(right, wrong), versions[-1]) for name, right, wrong in planted])
    pairs = zip(planted, missed, strict=True)
    found += [f"{name}: `{wrong}` for `{right}` was not noticed" for (name, right, wrong), said in pairs if not said]
    unused = [right for right, _ in MISTAKES if not any(right in text for text in texts.values())]
    return [*found, *(f"no manifest holds `{right}` any more: plant another mistake" for right in unused)]


def main(argv: Sequence[str] | None = None) -> int:
    """Check every manifest."""
    parser = argparse.ArgumentParser(description="Check the Kubernetes manifests against the schemas of Kubernetes.")
    parser.add_argument("--version", action="append", help=f"of Kubernetes; may be repeated ({', '.join(VERSIONS)})")
    found = problems(parser.parse_args(argv).version or VERSIONS)
    print("\n".join(found) or "the manifests are what Kubernetes expects, and every planted mistake was refused")
    return FAILED if found else OK
