"""10,000 damaged images and fat binaries through the rewriter, under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from conformance.rewrite import library
from conformance.rewrite.tests import damaged

EACH = 2000


def test_ten_thousand_damaged_images_do_no_harm(tmp_path: Path) -> None:
    seeds = damaged.seeds()
    for name, data in seeds.items():
        (tmp_path / name).write_bytes(data)
    damaged.build(library.compiler(), tmp_path / "fuzz")
    done = subprocess.run([tmp_path / "fuzz", "5EED", str(EACH), *(tmp_path / name for name in seeds)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    assert 1000 < int(done.stdout) < 5 * EACH  # many are still good enough to be rewritten, many are not
