"""The GitHub Action, the GitLab template and the pre-commit hook, run here by the very commands that they hold."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.packaging import manual
from conformance.pdlkit import places, toolkit
from conformance.pdlkit.venv import ensure_venv

KERNEL = """
extern "C" __global__ void NAME(const float *in, float *out)
{
    BEFORE
    asm volatile("griddepcontrol.wait;" ::: "memory");
    AFTER
    out[threadIdx.x] = v;
}
"""
TAG = f"v{manual.version()}"
READ = "const float v = *(const volatile float *)&in[threadIdx.x];"


def test_the_templates_name_this_version() -> None:
    """Who copies a line from a template gets the version that the template belongs to."""
    for name in ("action.yml", "conformance/packaging/ci/gitlab.yml", "conformance/packaging/README.md"):
        named = re.findall(r"v[0-9]+\.[0-9]+\.[0-9]+", (places.ROOT / name).read_text())
        assert named and set(named) == {TAG}, name


@pytest.fixture(scope="module")
def python() -> Path:
    """An interpreter with pre-commit and a reader of YAML."""
    return ensure_venv("hooks")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree as somebody clones it, tagged as the templates name it."""
    folder = tmp_path_factory.mktemp("origin") / "pdl"
    ignored = shutil.ignore_patterns(
        "build", "build-*", ".git", "__pycache__", ".pytest_cache", ".hypothesis", "results", "corpus", "third_party"
    )
    shutil.copytree(places.ROOT, folder, ignore=ignored)
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as it is"], ["tag", TAG]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody's project with a good and a bad kernel, under git."""
    nvcc = toolkit.toolkit_program("nvcc")
    assert nvcc is not None, "the kit's tests need a CUDA Toolkit"
    folder = tmp_path_factory.mktemp("project")
    for name, before, after in (("bad", READ, ""), ("good", "", READ)):
        source = folder / f"{name}.cu"
        source.write_text(KERNEL.replace("NAME", name).replace("BEFORE", before).replace("AFTER", after))
        subprocess.run([nvcc, "-arch=sm_90", "-cubin", "-o", folder / f"{name}.cubin", source], check=True, capture_output=True)
    subprocess.run(["git", "-C", folder, "init", "-q"], check=True)
    subprocess.run(["git", "-C", folder, "add", "-A"], check=True)
    return folder


def read_yaml(python: Path, path: Path) -> Any:
    """A YAML file, by the library that reads it for pre-commit."""
    code = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1], encoding='utf-8'))))"
    return json.loads(subprocess.run([python, "-c", code, path], check=True, capture_output=True, text=True).stdout)


def shell(script: str, folder: Path, more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A step's script, as a CI service runs it."""
    environment = {**{key: value for key, value in os.environ.items() if not key.startswith("PDL_")}, **more}
    return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)


def action_step(python: Path, inputs: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The action's own command and its environment, with the inputs put in."""
    action = read_yaml(python, places.ROOT / "action.yml")
    values = {name: str(entry.get("default", "")) for name, entry in action["inputs"].items()} | dict(inputs)
    step = next(step for step in action["runs"]["steps"] if step.get("name") == "lint")
    environment = {key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: values[match[1]], text) for key, text in step["env"].items()}
    assert "${{" not in "".join(environment.values())
    return step["run"], environment


def test_the_action_finds_the_bad_kernel_and_writes_sarif(python: Path, clone: Path, project: Path) -> None:
    script, environment = action_step(python, {"files": "bad.cubin good.cubin"})
    done = shell(script, project, {**environment, "GITHUB_ACTION_PATH": str(clone)})
    assert done.returncode == 1 and "read-before-wait" in done.stdout, done.stderr
    results = json.loads((project / "pdl-lint.sarif").read_text())["runs"][0]["results"]
    assert {result["ruleId"] for result in results} == {"read-before-wait"}
    script, environment = action_step(python, {"files": "good.cubin", "sarif": "good.sarif"})
    assert shell(script, project, {**environment, "GITHUB_ACTION_PATH": str(clone)}).returncode == 0


def test_the_action_takes_a_baseline(python: Path, clone: Path, project: Path) -> None:
    lint = ["python3", str(clone / "conformance"), "lint", "bad.cubin"]
    subprocess.run([*lint, "--write-baseline", "baseline.json"], cwd=project, check=True, capture_output=True)
    script, environment = action_step(python, {"files": "bad.cubin", "baseline": "baseline.json"})
    assert shell(script, project, {**environment, "GITHUB_ACTION_PATH": str(clone)}).returncode == 0


def test_without_files_the_script_says_what_is_missing(clone: Path, project: Path) -> None:
    done = shell(f'bash "{clone}/conformance/packaging/ci/lint.sh"', project, {})
    assert done.returncode == 64 and "PDL_FILES" in done.stderr


def test_the_gitlab_template_clones_and_lints(python: Path, clone: Path, project: Path, tmp_path: Path) -> None:
    job = read_yaml(python, places.KIT / "packaging" / "ci" / "gitlab.yml")[".pdl-lint"]
    variables = {"CI_PROJECT_DIR": str(project)}
    for key, text in job["variables"].items():
        variables[key] = text.replace("$CI_PROJECT_DIR", str(project))
    hasty = tmp_path / "cc"  # the job compiles the analysis, which takes longer than all that it is used for here
    hasty.write_text('#!/bin/sh\nexec cc "$@" -O0\n')
    hasty.chmod(0o755)
    variables.update(PDL_REPOSITORY=f"file://{clone}", PDL_FILES="bad.cubin", CC=str(hasty))
    for _ in range(2):  # the second time with what the first one left in the cache
        done = shell("\n".join(job["script"]), project, variables)
        assert done.returncode == 1 and "read-before-wait" in done.stdout, done.stderr
    assert (project / job["artifacts"]["reports"]["junit"]).is_file() and (project / job["artifacts"]["paths"][0]).is_file()
    assert shell("\n".join(job["script"]), project, {**variables, "PDL_FILES": "good.cubin"}).returncode == 0


def test_pre_commit_runs_the_hook(python: Path, clone: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "hooks.yaml").write_text(f"repos:\n- repo: {clone}\n  rev: {TAG}\n  hooks:\n  - id: pdl-lint\n")

    def hook(name: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}  # the first call builds the wheel there
        return subprocess.run(
            [python, "-m", "pre_commit", "run", "pdl-lint", "--config", tmp_path / "hooks.yaml", "--files", name],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
        )

    bad, good = hook("bad.cubin"), hook("good.cubin")
    assert bad.returncode == 1 and "read-before-wait" in bad.stdout, bad.stdout + bad.stderr
    assert good.returncode == 0 and "Passed" in good.stdout, good.stdout + good.stderr
    assert "Skipped" in hook("bad.cu").stdout
