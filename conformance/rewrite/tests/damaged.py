"""Good images to damage."""

from __future__ import annotations

import struct

from conformance.rewrite.tests.images import ADD, EXIT, STACK, TRIGGER, WAIT, Kernel, container, cubin, entry, guarded, relative


def _names_in_no_section(image: bytes) -> bytes:
    """Found by libFuzzer: the symbols' names stand in section 0, which says that it lies far beyond the end."""
    changed = bytearray(image)
    table, = struct.unpack_from("<Q", image, 40)
    count, = struct.unpack_from("<H", image, 60)
    struct.pack_into("<Q", changed, table + 24, 2**64 - 5000)
    for row in range(table, table + 64 * count, 64):
        if struct.unpack_from("<I", image, row + 4) == (2,):
            struct.pack_into("<I", changed, row + 40, 0)
    return bytes(changed)


def seeds() -> dict[str, bytes]:
    """Small images of two architectures, and fat binaries of them, compressed and not."""
    body = [STACK, ADD, WAIT, TRIGGER, guarded(EXIT, 1), relative(0x947, 5, 1), EXIT]
    kernels = [Kernel("first", body, exits=[0x40, 0x60], relocations=[(0, "second"), (0x20, "first")]),
               Kernel("second", [ADD, relative(0x947, 1, 0), EXIT]), Kernel("third", [EXIT], exits=[0])]
    image, newer = cubin(kernels), cubin([Kernel("k", body, parameter_base=0x380)], 100, padding=40)
    return {"one": image, "two": newer, "no names": _names_in_no_section(image),
            "three": container(entry(2, 90, image), entry(1, 90, b".version 8.0"), entry(2, 100, newer)),
            "four": container(entry(2, 90, image, 0x8011, 9000), entry(2, 90, image, 0x2011, len(image)), entry(2, 90, image))}
