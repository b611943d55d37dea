"""Records what trace and whatif show on a GPU: `python3 -m conformance.trace.samples.record OUT [--only PART]`.

Parts: inside-proof (times from inside kernels against the kernels' own clock), inside-examples, inside-torch (PyTorch with cuBLASLt,
Triton), whatif-chain, whatif-cub, whatif-triton, whatif-decode, zoo, presence (what the trace changes), examples, torch. `inside` and
`whatif` name all theirs. Each result goes into OUT/trace.json as soon as it is there, with some pages beside it. Programs are compiled
with nvcc, all at once, or taken from --programs where they are there already.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from conformance.pdlkit.arguments import Parser
from conformance.pdlkit.cuda_programs import compile_for_this_gpu
from conformance.pdlkit.exits import BadArguments
from conformance.pdlkit.places import KIT, ROOT
from conformance.trace.samples import agreement

HERE = Path(__file__).parent
EXAMPLES = ("01_two_kernels", "02_chain_with_prologue", "04_carveouts", "05_event_across_streams", "07_captured_stream",
            "08_graph_by_hand", "11_decode_chain", "13_memset_replaced")

INSIDE_EXAMPLES = ("01_two_kernels", "02_chain_with_prologue", "04_carveouts", "07_captured_stream", "08_graph_by_hand", "11_decode_chain")
SAMPLES = {"inside-proof": ("inside",), "presence": ("presence",), "whatif-chain": ("chain",), "whatif-cub": ("cub_pipeline",)}
PYTHON_PROGRAMS = (("decode", "decode.py"), ("triton plain", "triton_chain.py", "plain"), ("triton pdl", "triton_chain.py", "pdl"))
# A program in Python takes 4 to 6 s a run on an H200's host, and a study is 2 runs and then one of each variant a round.
STUDY_S, RUN_S = 300.0, 60.0


def _without_paths(text: str, programs: Path) -> str:
    """Commands as another machine would name them."""
    for place, word in ((f"{programs}/", ""), (f"{ROOT}/", ""), (sys.executable, "python3")):
        text = text.replace(place, word)
    return text


class Recorder:
    """Where programs are and where results go."""

    def __init__(self, out: Path, programs: Path, rounds: int, deadline: float) -> None:
        self.out, self.programs, self.rounds, self.deadline = out, programs, rounds, deadline
        self.compiling: dict[str, Future[None]] = {}
        self.workers = ThreadPoolExecutor(max_workers=min(16, os.cpu_count() or 1))

    def _compile(self, source: Path, path: Path) -> None:
        compile_for_this_gpu(source, path, "-O3", f"-I{ROOT}")

    def compile_for(self, parts: list[str]) -> None:
        """Begins to compile all that these parts run."""
        names = {name: HERE / f"{name}.cu" for part in parts for name in SAMPLES.get(part, ())}
        examples = {"inside-examples": INSIDE_EXAMPLES, "examples": EXAMPLES}
        names |= {name: ROOT / "examples" / f"{name}.cu" for part in parts for name in examples.get(part, ())}
        for name, source in names.items():
            if not (self.programs / name).is_file():
                self.compiling[name] = self.workers.submit(self._compile, source, self.programs / name)

    def program(self, name: str) -> str:
        """The compiled program."""
        if name in self.compiling:
            self.compiling[name].result()
        return str(self.programs / name)

    def call(self, *words: str, timeout: float = 120, more: dict[str, str] | None = None) -> dict[str, Any]:
        """A command of the kit with --json; what went wrong instead of its answer."""
        left = self.deadline - time.monotonic()
        if left < 5:
            return {"not_run": "the time for recording was over"}
        try:
            done = subprocess.run([sys.executable, str(KIT), *words], capture_output=True, text=True, check=False,
                                  timeout=min(timeout, left), env={**os.environ, **(more or {})})
        except subprocess.TimeoutExpired:
            return {"failed": "it did not end in time" if timeout < left else "the time for recording was over before it ended"}
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1], "code": done.returncode}
        return answer if isinstance(answer, dict) else {"answers": answer}

    def save(self, name: str, key: str, content: Any) -> None:
        """One result of a part of trace.json; what was recorded before stays."""
        path = self.out / "trace.json"
        parts = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        parts.setdefault(name, {})[key] = json.loads(_without_paths(json.dumps(content), self.programs))
        path.write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")

    # ---- parts ----

    def _alone(self, command: list[str], stamps: Path) -> dict[str, Any]:
        """A run of inside.cu: what it says of itself."""
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=RUN_S,
                                  env={**os.environ, "INSIDE_STAMPS": str(stamps)})
            found: dict[str, Any] = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            return {"failed": "it did not end in time"}
        except ValueError:
            return {"failed": f"code {done.returncode}: {done.stderr[-300:]}"}
        return found

    def _recorded(self, command: list[str], stamps: Path, *options: str) -> dict[str, Any]:
        """The same with kernels that record: what the trace says, and what the program said of its last run, which is that one."""
        kept = self.out / "session"
        shutil.rmtree(kept, ignore_errors=True)
        stamps.unlink(missing_ok=True)
        answer = self.call("trace", "--json", "--once", "--inside", "--timeout", "20", "--keep", str(kept), *options, "--", *command,
                           timeout=RUN_S, more={"INSIDE_STAMPS": str(stamps)})
        inside = answer.get("inside", answer)
        ended = [note for note in inside.get("notes", ["nothing ran"]) if note.startswith(("nothing ran", "the program with recording"))]
        try:
            if ended:  # the file is the traced run's, which came before
                raise ValueError(ended[0])
            itself = json.loads(stamps.read_text(encoding="ascii").splitlines()[0])
            agreed = agreement.of_session(kept, stamps)
        except (OSError, ValueError, IndexError) as reason:
            itself, agreed = {"failed": str(reason) or "the recorded run wrote no result"}, {}
        shutil.rmtree(kept, ignore_errors=True)
        return {"program": itself, "inside": inside, "agreement": agreed}

    def inside_proof(self) -> None:
        """inside.cu, whose kernels note their times themselves; recorded in registers above their own, and on the stack."""
        program = self.program("inside")
        for path in ("graph", "eager"):
            for way in ("pdl", "plain"):
                command = [program, path, way]
                alone = self._alone(command, self.out / "stamps.txt")
                for form, options in (("", ()), (" on the stack", ("--inside-on-stack",))):
                    self._proof_of(f"{path} {way}{form}", command, alone, options)
        (self.out / "stamps.txt").unlink(missing_ok=True)

    def _proof_of(self, name: str, command: list[str], alone: dict[str, Any], options: tuple[str, ...]) -> None:
        """Where recording changes the result or ends the run, it is tried again with fewer places, to tell which one is at fault."""
        stamps = self.out / "stamps.txt"
        entry: dict[str, Any] = {"alone": alone, "recorded": self._recorded(command, stamps, *options)}
        entry["same_result"] = entry["recorded"]["program"].get("digest", 0) == alone.get("digest")
        if not entry["same_result"]:
            kinds = {"entry only": ("waits", "triggers", "exits"), "entry and waits": ("triggers", "exits"),
                     "entry and triggers": ("waits", "exits"), "entry and exits": ("waits", "triggers")}
            entry["reduced"] = {words: self._recorded(command, stamps, *options, *(f"--inside-without={kind}" for kind in without))
                                for words, without in kinds.items()}
            for words, reduced in entry["reduced"].items():
                same = reduced["program"].get("digest") == alone.get("digest")
                print(f"inside: {name}, {words}: same result: {same}", flush=True)
        self.save("inside proof", name, entry)
        agreed, itself = entry["recorded"]["agreement"], entry["recorded"]["program"]
        apart = {kind: spread["median"] for kind, spread in agreed.get("difference_ns", {}).items()}
        print(f"inside: {name}: same result: {entry['same_result']}, us per kernel alone {alone.get('us_per_kernel')}, recorded "
              f"{itself.get('us_per_kernel')}, launches matched {agreed.get('matched')} of {agreed.get('launches')}, "
              f"median ns apart {apart}, wrong sign {agreed.get('wrong_sign')}", flush=True)

    def _inside(self, name: str, *words: str, timeout: float = RUN_S) -> None:
        """One program with recording kernels; its page, too."""
        page = str(self.out / f"inside_{name.replace(' ', '_')}.html")
        answer = self.call("trace", "--json", "--once", "--inside", "--timeout", "60", "--html", page, *words, timeout=timeout)
        self.save("inside", name, answer)
        inside = answer.get("inside", answer)
        print(f"inside: {name}: " + (inside.get("failed") or f"{inside.get('launches')} launches kept of "
              f"{inside.get('launches_in_the_traced_run')}, {len(inside.get('not_recorded', {}))} kernels not recorded"), flush=True)

    def inside_examples(self) -> None:
        """The examples."""
        for name in INSIDE_EXAMPLES:
            self._inside(name, "--", self.program(name))

    def inside_torch(self) -> None:
        """Programs in Python."""
        for name, script, *words in PYTHON_PROGRAMS:
            more = ["--step", "decode"] if name == "decode" else []
            self._inside(name, *more, "--", sys.executable, str(HERE / script), *words, timeout=120)

    def presence(self) -> None:
        """The same chain alone, and traced in three ways: what its own clock says of each."""
        program = self.program("presence")
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
                self.save("presence", f"{path} {way}", entry)

    def zoo(self) -> None:
        """Every reason, named and confirmed."""
        kernels = [self.programs / "zoo.cubin", self.programs / "zoo_old.cubin"]
        more = ["--kernels", *map(str, kernels)] if all(path.is_file() for path in kernels) else []
        for key, value in self.call("trace", "zoo", "--json", *more).items():
            self.save("zoo", key, value)

    def examples(self) -> None:
        """Each example's pairs."""
        for name in EXAMPLES:
            program = self.program(name)
            page = ["--html", str(self.out / f"{name}.html")] if name.startswith("02") else []
            self.save("examples", name, self.call("trace", "--json", "--once", *page, "--", program))

    def torch(self) -> None:
        """PyTorch with cuBLASLt, and Triton plain and with PDL."""
        for name, script, *words in PYTHON_PROGRAMS:
            options = ["--html", str(self.out / f"{name.replace(' ', '_')}.html")]
            options += ["--step", "decode"] if name == "decode" else []
            self.save("torch", name, self.call("trace", "--json", "--once", *options, "--", sys.executable, str(HERE / script), *words))

    def _study(self, name: str, *words: str, more: tuple[str, ...] = (), timeout: float = STUDY_S) -> None:
        """What PDL would give one program."""
        answer = self.call("whatif", "--json", "--rounds", str(self.rounds), "--compare-outputs", *more, "--", *words, timeout=timeout)
        self.save("whatif", name, answer)
        print(f"whatif: {name}: " + (answer.get("failed") or f"{answer.get('gain')} by {answer.get('by')}, step {answer.get('step')}, "
              f"differing {answer.get('differing')}"), flush=True)

    def whatif_chain(self) -> None:
        """The chain against pdl.h used the same way."""
        chain = self.program("chain")
        written = {}
        for mode in ("plain", "wait", "trigger"):
            done = subprocess.run([chain, mode], capture_output=True, text=True, check=False, timeout=60)
            written[mode] = json.loads(done.stderr.splitlines()[-1]) if done.returncode == 0 else {"failed": done.stderr[-300:]}
        self.save("whatif", "written with pdl.h", written)
        self._study("chain", chain, "plain", more=("--trigger",))

    def whatif_cub(self) -> None:
        """In a graph, and eagerly: the latter is the host's time, which is other in each process, so it goes on for longer."""
        self._study("cub in a graph", self.program("cub_pipeline"), "graph", more=("--trigger",))
        self._study("cub", self.program("cub_pipeline"), more=("--trigger", "--within", "3"), timeout=STUDY_S / 3)

    def whatif_triton(self) -> None:
        """A chain in a graph."""
        self._study("triton", sys.executable, str(HERE / "triton_chain.py"), "plain", more=("--trigger",))

    def whatif_decode(self) -> None:
        """PyTorch in a graph, and eagerly."""
        for name, way in (("decode", "graph"), ("decode eager", "eager")):
            self._study(name, sys.executable, str(HERE / "decode.py"), way)


def main(argv: list[str]) -> int:
    """All parts, or those that are named."""
    parser = Parser("trace record", __doc__ or "")
    parser.add_argument("out", help="a folder for the results")
    parser.add_argument("--programs", metavar="DIR", help="compiled programs (default: OUT/programs)")
    parser.add_argument("--only", metavar="PART", action="append", help="one of these, or its first word; several times for several")
    parser.add_argument("--rounds", type=int, default=5, help="of whatif (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop beginning new runs after this long")
    given = parser.parse_args(argv)
    out = Path(given.out).resolve()
    programs = Path(given.programs).resolve() if given.programs else out / "programs"
    for folder in (out, programs):
        folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(out, programs, given.rounds, time.monotonic() + given.seconds)
    steps: list[Callable[[], None]] = [
        recorder.inside_proof, recorder.inside_examples, recorder.inside_torch, recorder.whatif_chain, recorder.whatif_cub,
        recorder.whatif_triton, recorder.whatif_decode, recorder.zoo, recorder.presence, recorder.examples, recorder.torch]
    parts = {step.__name__.replace("_", "-"): step for step in steps}
    unknown = [word for word in given.only or () if word not in {*parts, *(name.partition("-")[0] for name in parts)}]
    if unknown:
        raise BadArguments(f"--only: there is no part {', '.join(unknown)}")
    chosen = [name for name in parts if not given.only or {name, name.partition("-")[0]} & set(given.only)]
    recorder.compile_for(chosen)
    for name in chosen:
        began = time.monotonic()
        parts[name]()
        print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
