"""Asks the CUDA driver which devices it has, in a process of its own (a sick driver may hang), and prints JSON.

    python3 conformance/pdlkit/gpu_query.py

It creates no context and needs neither nvidia-smi nor a toolkit.
"""

from __future__ import annotations

import ctypes
import json
import sys

_ATTRIBUTE_SMS, _ATTRIBUTE_MAJOR, _ATTRIBUTE_MINOR = 16, 75, 76


def query() -> dict[str, object]:
    """{"error": text} or {"driver": 13000, "devices": [{name, cc, sms}]}."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {"error": "the driver's library libcuda.so.1 cannot be loaded", "code": "no-library"}

    def call(name: str, *arguments: object) -> str | None:
        code = getattr(cuda, name)(*arguments)
        if code == 0:
            return None
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(code, ctypes.byref(text))
        return f"{name} says {text.value.decode() if text.value else code}"

    count, version = ctypes.c_int(), ctypes.c_int()
    wrong = call("cuInit", 0) or call("cuDeviceGetCount", ctypes.byref(count))
    if wrong:
        return {"error": wrong}
    call("cuDriverGetVersion", ctypes.byref(version))
    devices = []
    for ordinal in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
        values = {}
        wrong = call("cuDeviceGet", ctypes.byref(device), ordinal) or call("cuDeviceGetName", name, 256, device)
        if wrong:
            return {"error": f"device {ordinal}: {wrong}"}
        for attribute in (_ATTRIBUTE_SMS, _ATTRIBUTE_MAJOR, _ATTRIBUTE_MINOR):
            value = ctypes.c_int()
            call("cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
            values[attribute] = value.value
        devices.append({
            "name": name.value.decode("utf-8", "replace"), "sms": values[_ATTRIBUTE_SMS],
            "cc": 10 * values[_ATTRIBUTE_MAJOR] + values[_ATTRIBUTE_MINOR],
        })
    return {"driver": version.value, "devices": devices}


if __name__ == "__main__":
    print(json.dumps(query()))
    sys.stdout.flush()
