"""Real kernels for `stress same`: what CuPy makes NVRTC compile, each run on fixed inputs; prints a hash per result.

    python3 conformance stress same --shards 12 -- python3 conformance/stress/cupy_kernels.py {shard} {shards}
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator

os.environ["CUPY_CACHE_IN_MEMORY"] = "1"  # a kernel from an earlier run's cache would not be compiled, so not rewritten

import cupy

TYPES = ("uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64")
ONE = ("negative", "absolute", "sign", "square", "sqrt", "exp", "expm1", "log1p", "sin", "cos", "tan", "tanh", "arctan", "rint",
       "floor", "ceil", "isnan", "isfinite", "invert", "reciprocal", "conjugate", "cbrt", "sinh", "cosh", "deg2rad", "signbit")
TWO = ("add", "subtract", "multiply", "true_divide", "floor_divide", "maximum", "minimum", "power", "remainder", "equal", "less",
       "greater_equal", "logical_and", "bitwise_and", "bitwise_xor", "left_shift", "arctan2", "hypot", "copysign", "fmax")
REDUCE = ("sum", "prod", "max", "min", "argmax", "all", "any", "mean", "var")
WORDS = 3000


def calls() -> Iterator[tuple[str, str]]:
    """Function and type; not every function has every type."""
    for kind in TYPES:
        for name in (*ONE, *TWO, *REDUCE):
            yield name, kind


def value(name: str, kind: str) -> cupy.ndarray:
    """The result on inputs that depend on nothing but their place."""
    a = (cupy.arange(WORDS) % 97 + 1).astype(kind)
    b = (cupy.arange(WORDS) % 5 + 1).astype(kind)
    function = getattr(cupy, name)
    return function(a, b) if name in TWO else function(a)


def main() -> None:
    """This shard's share."""
    shard, shards = int(sys.argv[1]), int(sys.argv[2])
    for name, kind in list(calls())[shard::shards]:
        try:
            found = cupy.asnumpy(value(name, kind))
        except (TypeError, cupy.cuda.compiler.CompileException):
            continue  # there is no such kernel
        print(name, kind, f"{zlib.crc32(found.tobytes()):08x}")


if __name__ == "__main__":
    main()
