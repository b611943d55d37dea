"""10,000 damaged images and fat binaries through the rewriter, under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from conformance.rewrite import library
from conformance.rewrite.tests.images import ADD, EXIT, STACK, TRIGGER, WAIT, Kernel, container, cubin, entry, guarded, relative

HERE = Path(__file__).parent
EACH = 2500
SANITIZERS = ["-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def test_ten_thousand_damaged_images_do_no_harm(tmp_path: Path) -> None:
    body = [STACK, ADD, WAIT, TRIGGER, guarded(EXIT, 1), relative(0x947, 5, 1), EXIT]
    kernels = [Kernel("first", body, exits=[0x40, 0x60], relocations=[(0, "second"), (0x20, "first")]),
               Kernel("second", [ADD, relative(0x947, 1, 0), EXIT]), Kernel("third", [EXIT], exits=[0])]
    image, newer = cubin(kernels), cubin([Kernel("k", body, parameter_base=0x380)], 100, padding=40)
    seeds = {"one": image, "two": newer, "three": container(entry(2, 90, image), entry(1, 90, b".version 8.0"), entry(2, 100, newer)),
             "four": container(entry(2, 90, image, 0x8011, 9000), entry(2, 90, image, 0x2011, len(image)), entry(2, 90, image))}
    for name, data in seeds.items():
        (tmp_path / name).write_bytes(data)
    extra, _ = library.compression()
    subprocess.run([library.compiler().path, *SANITIZERS, f"-I{library.HERE}", HERE / "fuzz.c", *library.CORE, *extra, "-o",
                    tmp_path / "fuzz"], check=True)
    done = subprocess.run([tmp_path / "fuzz", "5EED", str(EACH), *(tmp_path / name for name in seeds)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    assert 1000 < int(done.stdout) < 4 * EACH  # many are still good enough to be rewritten, many are not
