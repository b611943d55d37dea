#!/usr/bin/env bash
# What the GitHub Action, the GitLab template and the pre-commit hook run: one call of the lint of the clone that this file lies in.
#
# PDL_FILES (or arguments) names the files; PDL_OVERLAPPING, PDL_BASELINE, PDL_SARIF and PDL_JUNIT become lint's options.
# Exit codes are lint's: 0 clean, 1 findings, 2 a file could not be analysed, 3 no kernel was judged.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
read -r -a files <<<"${PDL_FILES:-}"
files+=("$@")
if ((${#files[@]} == 0)); then
  echo "pdl lint: name the files to check in PDL_FILES (in the action: files)" >&2
  exit 64
fi

options=()
if [[ -n ${PDL_OVERLAPPING:-} ]]; then options+=("--overlapping=$PDL_OVERLAPPING"); fi
if [[ -n ${PDL_BASELINE:-} ]]; then options+=("--baseline=$PDL_BASELINE"); fi
if [[ -n ${PDL_SARIF:-} ]]; then options+=("--sarif=$PDL_SARIF"); fi
if [[ -n ${PDL_JUNIT:-} ]]; then options+=("--junit=$PDL_JUNIT"); fi
exec python3 "$here/../../../conformance" lint "${options[@]}" -- "${files[@]}"
