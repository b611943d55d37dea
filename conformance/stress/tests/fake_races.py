"""A program that races by rule: argv names the pairs and the kernels; it reads the plan as the injection library would."""

from __future__ import annotations

import json
import os
import sys
import time

HOLD, PROTECT, AFTER_TRIGGER = 2, 4, 32
own = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}  # kernel -> "early" or "late": it triggers before or after its stores
pairs, kernels = json.loads(sys.argv[1]), json.loads(sys.argv[2])
with open(os.environ["PDL_STRESS_PLAN"], encoding="utf-8") as file:
    plan = {words[0]: int(words[1]) for words in map(str.split, file) if len(words) == 5}


def has(kernel: str, flag: int) -> bool:
    return bool(plan.get(kernel, plan["*"]) & flag)


records = os.environ.get("PDL_STRESS_RECORDS")
if records:
    with open(records, "a", encoding="utf-8") as file:
        for name in kernels:
            file.write(json.dumps({"record": "kernel", "name": name, "rewritten": name != "untouched", "waits": 0,
                                   "triggers": int(name in own)}) + "\n")
            file.write(json.dumps({"record": "launches", "name": name, "eager": 0, "captured": 3, "built": 0, "attribute": 3,
                                   "before_attribute": 3}) + "\n")



def held(kernel: str) -> bool:
    """Held at its entry, or after a trigger of its own that comes before its stores."""
    return has(kernel, HOLD) or (has(kernel, AFTER_TRIGGER) and own.get(kernel) == "early")


bad = any(held(first) and not (has(second, HOLD) and first != second) and not has(second, PROTECT) for first, second in pairs)
if "hangs" in own and has(own["hangs"], HOLD):
    time.sleep(60)
bad = bad or ("time" in own and has(own["time"], HOLD))  # no wait cures this, and nothing else does
bad = bad or ("host" in own and has(own["host"], HOLD) and os.environ.get("CUDA_LAUNCH_BLOCKING") != "1")
ordered = all(has(kernel, PROTECT) for kernel in kernels)
if "natural" in own and not ordered:  # different each time, unless every kernel waits
    bad = bool(os.getpid() % 2) or bad
copies = os.environ.get("PDL_STRESS_DIGESTS")
word = str(os.getpid()) if "natural" in own and not ordered else "bad" if bad else "good"
if copies:  # the first copy is never the same (none in a calm program), the second shows the race
    with open(copies, "w", encoding="utf-8") as file:
        for number, digest in list(enumerate((str(os.getpid()), word)))["calm" in own:]:
            file.write(json.dumps({"copy": number, "bytes": 64, "after": "e", "digests": [digest] + ["same"] * 15}) + "\n")
print("result", 13 if bad else 7)
