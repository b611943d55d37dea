"""Records what trace and whatif show on a GPU: `python3 -m conformance.trace.samples.record OUT [--only PART]`.

Parts: presence (what the trace changes), zoo, examples, torch (PyTorch with cuBLASLt, Triton), whatif. All go into OUT/trace.json,
with some pages beside it. Programs are compiled with nvcc, or taken from --programs where they are there already.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.exits import BadArguments, SetupImpossible
from conformance.pdlkit.places import KIT, ROOT
from conformance.pdlkit.toolchain import find_nvcc

HERE = Path(__file__).parent
EXAMPLES = ("01_two_kernels", "02_chain_with_prologue", "04_carveouts", "05_event_across_streams", "07_captured_stream",
            "08_graph_by_hand", "11_decode_chain", "13_memset_replaced")


def _without_paths(text: str, programs: Path) -> str:
    """Commands as another machine would name them."""
    for place, word in ((f"{programs}/", ""), (f"{ROOT}/", ""), (sys.executable, "python3")):
        text = text.replace(place, word)
    return text


class Recorder:
    """Where programs are and where results go."""

    def __init__(self, out: Path, programs: Path, rounds: int, deadline: float) -> None:
        self.out, self.programs, self.rounds, self.deadline = out, programs, rounds, deadline

    def program(self, name: str, source: Path) -> str:
        """The compiled program."""
        path = self.programs / name
        if not path.is_file():
            nvcc = find_nvcc()
            if nvcc is None:
                raise SetupImpossible("nvcc is not there; put a CUDA Toolkit's bin folder on PATH or set CUDA_HOME")
            subprocess.run([str(nvcc.path), "-O3", "-arch=native", f"-I{ROOT}", str(source), "-o", str(path)], check=True)
        return str(path)

    def call(self, *words: str, timeout: float = 120) -> dict[str, Any]:
        """A command of the kit with --json; what went wrong instead of its answer."""
        left = self.deadline - time.monotonic()
        if left < 5:
            return {"not_run": "the time for recording was over"}
        try:
            done = subprocess.run([sys.executable, str(KIT), *words], capture_output=True, text=True, check=False,
                                  timeout=min(timeout, left))
        except subprocess.TimeoutExpired:
            return {"failed": "it did not end in time"}
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1], "code": done.returncode}
        return answer if isinstance(answer, dict) else {"answers": answer}

    def save(self, name: str, content: Any) -> None:
        """One part of trace.json; parts that were recorded before stay."""
        path = self.out / "trace.json"
        parts = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        parts[name] = json.loads(_without_paths(json.dumps(content), self.programs))
        path.write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")

    # ---- parts ----

    def presence(self) -> None:
        """The same chain alone, and traced in three ways: what its own clock says of each."""
        program = self.program("presence", HERE / "presence.cu")
        found: dict[str, Any] = {}
        for path in ("graph", "eager"):
            for way in ("plain", "pdl"):
                entry: dict[str, Any] = {}
                for name, options in (("alone", None), ("untimed", ["--no-times"]), ("traced", []), ("one_of_10", ["--sample", "10"])):
                    command = [program, path, way]
                    if options is not None:
                        command = [sys.executable, str(KIT), "trace", "--once", *options, "--", *command]
                    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
                    lines = [line for line in done.stdout.splitlines() if line.startswith('{"path"')]
                    entry[name] = json.loads(lines[0]) if lines else {"failed": done.stderr[-300:]}
                found[f"{path} {way}"] = entry
        self.save("presence", found)

    def zoo(self) -> None:
        """Every reason, named and confirmed."""
        kernels = [self.programs / "zoo.cubin", self.programs / "zoo_old.cubin"]
        more = ["--kernels", *map(str, kernels)] if all(path.is_file() for path in kernels) else []
        self.save("zoo", self.call("trace", "zoo", "--json", *more))

    def examples(self) -> None:
        """Each example's pairs."""
        found = {}
        for name in EXAMPLES:
            program = self.program(name, ROOT / "examples" / f"{name}.cu")
            page = ["--html", str(self.out / f"{name}.html")] if name.startswith("02") else []
            found[name] = self.call("trace", "--json", "--once", *page, "--", program)
        self.save("examples", found)

    def torch(self) -> None:
        """PyTorch with cuBLASLt, and Triton plain and with PDL."""
        found = {}
        for name, script, *words in (("decode", "decode.py"), ("triton plain", "triton_chain.py", "plain"),
                                     ("triton pdl", "triton_chain.py", "pdl")):
            options = ["--html", str(self.out / f"{name.replace(' ', '_')}.html")]
            options += ["--step", "decode"] if name == "decode" else []
            found[name] = self.call("trace", "--json", "--once", *options, "--", sys.executable, str(HERE / script), *words)
        self.save("programs", found)

    def whatif(self) -> None:
        """The chain against pdl.h used the same way, and three programs of others."""
        chain = self.program("chain", HERE / "chain.cu")
        written = {}
        for mode in ("plain", "wait", "trigger"):
            done = subprocess.run([chain, mode], capture_output=True, text=True, check=False, timeout=60)
            written[mode] = json.loads(done.stderr.splitlines()[-1]) if done.returncode == 0 else {"failed": done.stderr[-300:]}
        rounds = ["--rounds", str(self.rounds)]
        found: dict[str, Any] = {"written with pdl.h": written}
        found["chain"] = self.call("whatif", "--json", "--trigger", *rounds, "--compare-outputs", "--", chain, "plain")
        cub = self.program("cub_pipeline", HERE / "cub_pipeline.cu")
        found["cub"] = self.call("whatif", "--json", "--trigger", *rounds, "--compare-outputs", "--", cub)
        self.save("whatif", found)
        for name, script, *words in (("triton", "triton_chain.py", "plain"), ("decode", "decode.py")):
            found[name] = self.call("whatif", "--json", *rounds, "--compare-outputs", "--", sys.executable, str(HERE / script), *words)
            self.save("whatif", found)


def main(argv: list[str]) -> int:
    """All parts, or those that are named."""
    parser = Parser("trace record", __doc__ or "")
    parser.add_argument("out", help="a folder for the results")
    parser.add_argument("--programs", metavar="DIR", help="compiled programs (default: OUT/programs)")
    parser.add_argument("--only", metavar="PART", action="append", help="presence, zoo, examples, torch, whatif")
    parser.add_argument("--rounds", type=int, default=5, help="of whatif (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop beginning new runs after this long")
    given = parser.parse_args(argv)
    out = Path(given.out).resolve()
    programs = Path(given.programs).resolve() if given.programs else out / "programs"
    for folder in (out, programs):
        folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(out, programs, given.rounds, time.monotonic() + given.seconds)
    parts: dict[str, Callable[[], None]] = {"presence": recorder.presence, "zoo": recorder.zoo, "examples": recorder.examples,
                                            "torch": recorder.torch, "whatif": recorder.whatif}
    unknown = set(given.only or ()) - set(parts)
    if unknown:
        raise BadArguments(f"--only: there is no part {', '.join(sorted(unknown))}")
    for name in given.only or parts:
        began = time.monotonic()
        parts[name]()
        print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
