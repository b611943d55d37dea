"""Stands in for clean_chain and nccl_chain: `race` as the last word makes it race. WANTED names a variable that has to be set."""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path

wanted = os.environ.get("WANTED")
if wanted and wanted not in os.environ:
    sys.exit(f"{wanted} is not set")
kernels = ["fill", "mix_quiet", "shift_early", "ncclDevKernel_AllReduce"]
sys.argv = ["", '[["mix_quiet", "shift_early"]]' if sys.argv[-1] == "race" else "[]", json.dumps(kernels), '{"calm": ""}']
runpy.run_path(str(Path(__file__).with_name("fake_races.py")))
