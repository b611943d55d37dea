#!/usr/bin/env bash
# Records the gains of the examples and the whole bench on this machine's GPU: record.sh OUT [PROGRAMS]
# OUT receives examples.json, bench.json, gap.jsonl, cost.jsonl and guidance.md. PROGRAMS is a folder of programs that were
# built elsewhere by `record.sh --build PROGRAMS [--peers]`; without it they are built below build/bench first. Needs nvcc
# and Python; with a Python that has PyTorch and Triton their launch paths are measured, too.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

build() { # every example and bench's own programs into a folder, as many at once as there are processors
  mkdir -p "$1"
  python3 "$root/conformance" bench --build "$@" &
  local bench=$!
  local nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
  {
    for source in "$root"/examples/[0-9][0-9]_*.cu; do
      printf '%s\0%s\0' "$source" "$1/$(basename "$source" .cu)"
    done
    for host in "$root"/examples/[0-9][0-9]_*/main.c; do # a C host, and the kernels beside it
      printf '%s\0%s\0' "$host" "$1/$(basename "$(dirname "$host")")"
    done
  } | ROOT=$root NVCC=$nvcc xargs -0 -n 2 -P "${JOBS:-$(nproc)}" bash -c '
    shopt -s nullglob
    sources=("$1")
    more=()
    if [[ $1 == *.c ]]; then
      sources+=("$(dirname "$1")"/*.cu)
      toolkit=$(dirname "$(dirname "$(readlink -f "$NVCC")")")
      more=(-DEXAMPLE_ROOT="\"$ROOT\"" -lnvrtc -lcuda -L"$toolkit/lib64/stubs" -Xlinker -rpath -Xlinker "$toolkit/lib64")
    fi
    "$NVCC" -O3 -gencode arch=compute_90,code=sm_90 -I"$ROOT" -I"$ROOT/examples" "${sources[@]}" -o "$2" "${more[@]}"' one
  wait "$bench"
}

if [[ ${1:-} == --build ]]; then
  build "${@:2}"
  exit
fi
out=${1:?where to put the records}
programs=${2:-$root/build/bench/programs}
mkdir -p "$out"
[[ $# -ge 2 ]] || build "$programs"
status=0
python3 "$root/examples/gains.py" run "$programs" --output "$out/examples.json" || status=$?
python3 "$root/conformance" bench --programs "$programs" --examples "$out/examples.json" \
  --output "$out" --no-plots || status=$?
exit "$status"
