"""Why two consecutive kernels did not overlap: a decision procedure over what is known of the pair. Pure; no times are guessed.

Each reason names the rules (rules.toml) and measured facts that it follows from. Several may hold at once: they are given in
the order in which they would have to be removed.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.trace import room as rooms

ATTRIBUTE, PROGRAMMATIC_EDGE, BLOCK_START_EDGE, COMPLETION_EDGE = "attribute", "edge", "block-start edge", "completion edge"
EVENT, NOT_ASKED, UNKNOWN = "event", "no", "unknown"

# An operation on the stream that has to complete before what follows may begin. Waits for finished events and untimed event
# records do not (F26).
HOLDING = {
    "memset": "a memset", "copy": "a copy", "host": "a host function", "timed_event": "an event record with timing",
    "allocate": "an allocation", "free": "a release of memory", "memory_value": "a write to or wait for a value in memory",
    "empty": "an empty node", "event": "an event record node", "wait_event": "a wait for an event", "conditional": "a conditional node",
    "graph": "a child graph", "semaphore_signal": "a semaphore", "semaphore_wait": "a semaphore",
}
_HARMLESS_IN_STREAMS = ("event", "wait_event", "empty")


@dataclass(frozen=True)
class Facts:
    """What is known of one run of a pair; None where it is not."""

    path: str = "stream"  # or "graph", or "boundary": one side is a whole launch of a graph
    asked: str = NOT_ASKED
    between: tuple[str, ...] = ()  # operations between the two
    incoming: int = 1  # edges into the dependent that come from kernels
    overlapped: bool = False
    cc: int | None = None
    dependent_ptx: int | None = None
    primary_ptx: int | None = None
    dependent_cooperative: bool = False
    dependent_first: bool = False  # first launch of its kernel, loaded lazily
    primary_triggers: bool | None = None
    dependent_waits: bool | None = None
    dependent_waits_first: bool | None = None
    room: rooms.Room | None = None
    primary_us: float | None = None  # how long the primary ran
    late_us: float | None = None  # how long after the primary's end the launch could have reached the device
    launch_blocking: bool = False
    killed: bool = False  # PDL_DISABLE is set
    serialiser: str = ""  # a tool that serialises kernels
    head_of_graph: bool = False  # the dependent is the second kernel of a launch of a graph that is being traced


@dataclass(frozen=True)
class Reason:
    """Why, by which rule, and what would change it."""

    code: str
    ids: tuple[str, ...]
    text: str
    remedy: str

    def sentence(self) -> str:
        """For people."""
        return f"{self.text} [{', '.join(self.ids)}]; {self.remedy}"


def _environment(f: Facts) -> list[Reason]:
    found = []
    if f.launch_blocking:
        found.append(Reason("launch-blocking", ("F31",), "CUDA_LAUNCH_BLOCKING is set, so every launch waits for its kernel's end",
                            "unset it"))
    if f.serialiser:
        found.append(Reason("tool", ("F32",), f"{f.serialiser} serialises kernels", "run without it"))
    if f.cc is not None and 0 < f.cc < 90:
        found.append(Reason("device", ("ATTR-13",), f"compute capability {f.cc / 10:.1f} has no programmatic launches",
                            "9.0 or newer has"))
    return found


def _first(f: Facts) -> list[Reason]:
    if not f.dependent_first:
        return []
    return [Reason("first-launch", ("F30",), "this is the first launch of the kernel, and its code was loaded for it",
                   "load kernels ahead: CUDA_MODULE_LOADING=EAGER or a launch before the loop")]


def _late(f: Facts) -> list[Reason]:
    if f.path == "graph" or f.late_us is None or f.late_us < 0:
        return []
    return [Reason("host-bound", ("TRIG-09", "FWD-01"),
                   "the launch reached the device after its primary had ended: the host was too slow",
                   "launch ahead, or capture the sequence into a graph")]


def _not_asked(f: Facts) -> list[Reason]:
    if f.path == "boundary" and f.asked in (NOT_ASKED, UNKNOWN):
        return [Reason("graph-boundary", ("ATTR-10", "EDGE-01"), "one of the two is the end or the beginning of a whole graph launch",
                       "put both into one graph")]
    if f.asked != NOT_ASKED:
        return []
    if f.dependent_ptx is not None and f.dependent_ptx < 90:
        return [Reason("no-device-half", ("F44", "WAIT-03"),
                       f"the launch does not ask, and must not: the dependent was compiled for compute_{f.dependent_ptx}, where a wait "
                       "compiles to nothing", "compile it for compute_90 or newer, then ask")]
    if f.killed:
        return [Reason("killed", ("ATTR-03",), "PDL_DISABLE is set, and pdl.h then launches plainly", "unset it")]
    if f.path == "graph":
        return [Reason("not-asked", ("F5", "EDGE-01"), "the edge between the two is a full one",
                       "make it programmatic, or capture launches that carry the attribute")]
    return [Reason("not-asked", ("F5", "ATTR-03"), "the launch does not carry the attribute",
                   "ask for programmatic stream serialization, after putting a wait into the kernel")]


def _between(f: Facts) -> list[Reason]:
    harmless = _HARMLESS_IN_STREAMS if f.path == "stream" else ()
    held = [name for name in f.between if name in HOLDING and name not in harmless]
    if not held:
        return []
    words = " and ".join(dict.fromkeys(HOLDING[name] for name in held))
    remedy = "record it with cudaEventDisableTiming" if set(held) == {"timed_event"} else "move it, or let a kernel do it"
    return [Reason("between", ("F25",), f"{words} stands between the two and has to end first", remedy)]


def _code(f: Facts) -> list[Reason]:
    found = []
    if f.dependent_cooperative:
        found.append(Reason("cooperative", ("F27",), "the dependent is a cooperative launch, which never starts early",
                            "launch it without, if it needs no grid barrier"))
    if f.path == "stream" and f.asked == EVENT:
        found.append(Reason("event-across-streams", ("F17", "EVT-04"),
                            "an event of another stream releases it, which overlaps in graphs only", "capture both streams into a graph"))
    return found


def _several_edges(f: Facts) -> list[Reason]:
    if f.path != "graph" or f.incoming < 2 or f.asked == NOT_ASKED:
        return []
    return [Reason("several-edges", ("EDGE-09",), f"{f.incoming} edges lead into the dependent, and each of them has to let it go",
                   "let one kernel come last before it")]


_ROOM_REMEDY = {
    rooms.BLOCK_SLOTS: "use fewer, larger blocks", rooms.THREADS: "let the primary's last wave leave threads free",
    rooms.REGISTERS: "lower the registers per thread (__launch_bounds__)", rooms.SHARED: "use less shared memory in one of the two",
}


def _space(f: Facts) -> list[Reason]:
    limit = f.room.limit if f.room else None
    if limit in _ROOM_REMEDY:
        return [Reason("no-room", ("F29", "FWD-06"),
                       f"the primary's blocks leave no room for one of the dependent's before they end: {limit}", _ROOM_REMEDY[str(limit)])]
    if limit == rooms.CARVEOUT:
        return [Reason("carve-out", ("F29b", "FWD-06"), "the dependent needs another split of L1 and shared memory than the primary left",
                       "give both the same preferred carve-out: cudaSharedmemCarveoutMaxShared, or PDL_CARVEOUT_MAX in pdl.h")]
    return []


def _trigger(f: Facts) -> list[Reason]:
    if f.asked not in (ATTRIBUTE, PROGRAMMATIC_EDGE, EVENT):
        return []
    if f.primary_ptx is not None and f.primary_ptx < 90:
        return [Reason("no-device-half", ("F3", "F44"), f"the primary was compiled for compute_{f.primary_ptx}, where a trigger compiles "
                       "to nothing", "compile it for compute_90 or newer")]
    if f.primary_triggers is False:
        return [Reason("never-triggers", ("F3", "TRIG-04"), "the primary never triggers, so it does at its end",
                       "trigger as soon as the dependent may take room")]
    return []


# From a trigger to the first block of a dependent on an H200: about 2.5 us in a stream (F1), 0.5 us in a graph.
_SHORTEST_US = {"stream": 2.5, "graph": 1.5}


def _too_short(f: Facts) -> list[Reason]:
    least = _SHORTEST_US.get(f.path)
    if least is None or f.primary_us is None or f.primary_us > least or f.asked in (NOT_ASKED, UNKNOWN):
        return []
    return [Reason("too-short", ("F1", "FWD-01"), f"the primary ran for less than {least} us, too short for a dependent to start beside it",
                   "nothing to do: little is left to hide here")]


def _tracing(f: Facts) -> list[Reason]:
    if not f.head_of_graph:
        return []
    return [Reason("traced", ("FWD-01",), "under CUPTI the first kernel of a graph launch does not overlap; without this tool it may",
                   "compare the graph's time with and without the trace")]


def _little(f: Facts) -> list[Reason]:
    """Of a pair that overlaps: why it gains little, or is in danger."""
    found = []
    if f.asked in (ATTRIBUTE, PROGRAMMATIC_EDGE, BLOCK_START_EDGE, EVENT) and f.dependent_waits is False:
        found.append(Reason("no-wait", ("F2", "F44", "WAIT-03"), "DANGER: the dependent runs beside its primary and holds no wait, so what "
                            "it reads of the primary may be old", "wait before the first access; `lint` and `stress` show which it is"))
    found += _space(f)
    if f.dependent_waits_first:
        found.append(Reason("waits-first", ("WAIT-02", "F43"), "the dependent waits first thing, so only its launch is hidden",
                            "move work that needs no earlier kernel above the wait"))
    return found


def why_not(facts: Facts) -> list[Reason]:
    """All that stands in the way, the first to be removed first. Of a pair that overlaps: why it gains little, if that is so."""
    if facts.overlapped:
        return _little(facts)
    found = [*_environment(facts), *_first(facts), *_late(facts), *_not_asked(facts), *_between(facts), *_code(facts),
             *_space(facts), *_trigger(facts)]
    found = found or _several_edges(facts) or _tracing(facts) or _too_short(facts)
    if not found and facts.asked == UNKNOWN:
        found = [Reason("asked-unknown", ("ATTR-03",), "the file does not tell whether the launch asked for overlap",
                        "run the program under `trace`, which sees the attribute and the edges")]
    if not found:
        found = [Reason("unexplained", ("FWD-01",), "nothing known stands in the way; overlap is never promised",
                        "look at the timeline: another stream may hold the room")]
    return found
