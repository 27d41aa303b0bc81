"""The conformance suite as data: which programs run, with which settings.

A run is one process: environment and arguments. The recording of a case is what all its runs
printed, one after the other.
"""
from dataclasses import dataclass, field
import re

CONNECTIONS = "CUDA_DEVICE_MAX_CONNECTIONS"
# Milliseconds without a change after which a random program counts as settled; for those whose line
# differs, more and more.
SETTLE = "12"
SETTLE_LONGER = ("300", "1000")


@dataclass(frozen=True)
class Run:
    env: tuple = ()
    args: tuple = ()

    def __str__(self):
        return " ".join([f"{k}={v}" for k, v in self.env] + list(self.args)) or "plain"


@dataclass(frozen=True)
class Case:
    name: str
    program: str
    runs: tuple = (Run(),)
    # Lines that differ from run to run on the hardware itself.
    variable: tuple = ()
    # Random programs of which only the finished operations are compared: their events and queries
    # depend on speed.
    only_finished: tuple = ()
    # Random programs: a line that differs is asked for again, with more time to settle, since a
    # busy machine may take longer to react than the program waits for.
    ask_again: bool = False
    # `PROGRAM list` names the arguments; one process for each that the recording knows.
    listed: bool = False
    # For the compiler.
    flags: tuple = ()
    # The program is compiled once more with each of these, and all of it linked.
    units: tuple = ()
    env: tuple = field(default=())


def connections(values):
    return tuple(Run(env=((CONNECTIONS, v),) if v else ()) for v in values)


def sections(*names):
    return tuple(Run(args=(name,)) for name in names)


# cudaGraphSetConditional is in a library for device code.
RDC = ("-rdc=true",)
PER_THREAD = ("-DPER_THREAD", "--default-stream", "per-thread")
CROWDS = (1, 2, 3, 4, 6, 7, 8, 9)
ALL_CONNECTIONS = connections([None, "1", "2", "4", "8", "16", "32"])

CASES = (
    Case("errors", "errors.cu"),
    Case("ordering", "ordering.cu"),
    Case("capture", "capture.cu"),
    Case("queues", "queues.cu", ALL_CONNECTIONS,
         variable=(r"conn\..*\.gates\.enqueued\.marks\.of160", r"conn\.2\.streams\..*")),
    Case("queues_many", "queues_many.cu", ALL_CONNECTIONS, variable=(r"many\.2\..*",)),
    Case("crowds", "crowds.cu", tuple(Run(env=env, args=(str(n),))
                                      for env in ((), ((CONNECTIONS, "4"),)) for n in CROWDS)),
    Case("thresholds", "thresholds.cu"),
    Case("thresholds_conn1", "thresholds.cu", connections(["1"])),
    Case("random", "random_order.cu", (Run(args=("0", "400", SETTLE)),), variable=(r"random\.245",),
         only_finished=("random.316", "random.341"), ask_again=True),
    Case("random_conn1", "random_order.cu",
         (Run(env=((CONNECTIONS, "1"),), args=("0", "200", SETTLE)),),
         variable=(r"random\.80",), ask_again=True),
    # Programs that the rules were not found with.
    Case("random_more", "random_order.cu", (Run(args=("400", "1000", SETTLE)),),
         variable=(r"random\.(1094|1228)",), ask_again=True),
    Case("random_conn1_more", "random_order.cu",
         (Run(env=((CONNECTIONS, "1"),), args=("200", "200", SETTLE)),),
         variable=(r"random\.(203|233|258|366|375|382)",), ask_again=True),
    Case("random_conn4", "random_order.cu",
         (Run(env=((CONNECTIONS, "4"),), args=("0", "200", SETTLE)),), ask_again=True),
    # A kernel that prints beside a copy that does not wait for it: which is first depends on speed.
    Case("runtime", "runtime.cu", variable=(r"\(text\)#[78]",)),
    Case("memory", "memory.cu", sections("layout", "host", "shapes", "bounds")),
    Case("memory_pools", "memory_pools.cu", sections("pools")),
    Case("memory_reuse", "memory_reuse.cu", sections("reuse", "more")),
    Case("memory_refusals", "memory_refusals.cu", sections("capture", "hostfn")),
    Case("memory_waits", "memory_waits.cu", sections("waits", "staging")),
    Case("limits", "limits.cu", (*sections("set", "late", "loaded"), *(Run(args=tuple(words.split())) for words in
                                 ("heap 0", "heap 0x4000000", "heap 1", "fifo 0", "fifo 0x1000000")))),
    Case("arrays", "arrays.cu", sections("making", "copies", "boxes", "waits", "objects",
                                         "wrong:zero", "wrong:huge", "wrong:destroyed")),
    Case("textures", "textures.cu", sections("coordinates", "sums", "formats", "shapes", "others",
                                             "types")),
    Case("surfaces", "surfaces.cu", sections("bytes", "together", "fault:left", "fault:right",
                                             "fault:below", "fault:odd", "fault:none")),
    Case("shifts", "shifts.cu", sections("amounts", "idioms", "rotations", "vectors", "seen")),
    Case("quick", "quick.cu"),
    Case("conversions", "conversions.cu"),
    Case("leaving", "leaving.cu"),
    Case("fused", "fused.cu"),
    Case("active", "active.cu"),
    Case("converged", "converged.cu"),
    Case("asking", "asking.cu"),
    Case("broken_rows", "broken_rows.cu"),
    # Which of two products is fused with their sum is the compiler's choice.
    Case("complex", "complex.cu", variable=(r"(float|double)\.device\.(mul|fma)",)),
    Case("atomics", "atomics.cu"),
    Case("fp8", "fp8.cu"),
    Case("groups", "groups.cu", sections("grid", "off", "off.sync", "sync", "sync.one")),
    Case("managed", "managed.cu",
         sections("ranges", "refusals", "access", "allocations", "attributes")),
    Case("pending", "pending.cu", sections("alone", "mixed", "streams", "blocked")),
    Case("pending_conn1", "pending.cu", sections("streams"), env=((CONNECTIONS, "1"),)),
    Case("priorities", "priorities.cu", sections("blocks", "launches", "residents")),
    Case("lazy", "lazy.cu", sections("kernel", "memset", "copy", "symbol", "attributes",
                                     "malloc.async", "pool", "pool.warm")),
    Case("lazy_eager", "lazy.cu", sections("kernel", "pool"),
         env=(("CUDA_MODULE_LOADING", "EAGER"),)),
    # Sections end where NVIDIA's driver crashes on a null pointer: nothing behind that is recorded.
    Case("graphs", "graphs.cu", sections("memory", "update", "objects", "capture", "mode"),
         flags=RDC,
         variable=(r"end.*",)),
    Case("graphs_conditional", "graphs_conditional.cu", sections("cond", "condrun", "condroot", "bodies"),
         flags=RDC, variable=(r"end.*", r"condroot\.sees\.of200\.node\.first")),
    # Of its section "children" nothing is recorded: it crashes NVIDIA's driver.
    Case("graphs_nodes", "graphs_nodes.cu",
         sections("nodes", "attributes", "copies", "fills", "exec", "instantiate", "lists", "edges"),
         flags=RDC, variable=(r"end.*",)),
    Case("graphs_dot", "graphs_dot.cu", sections("dot"), flags=RDC),
    Case("graph_symbols", "graph_symbols.cu"),
    Case("graph_answers", "graph_answers.cu", sections(
        "endcapture.idle", "endcapture.nullgraph.capturing", "graph.child.exec", "graph.event.null",
        "graph.instantiate.flags", "graph.launch.pageable", "graph.memcpy.direction",
        "graph.memcpy.zero", "graph.memset.exec", "graph.order.built", "graph.order.captured",
        "graph.update", "userobject.graph.overrelease", "userobject.moved.released",
        "userobject.overrelease", "graph.memnodes", "graph.kernel.attributes",
        "graph.memattribute.set")),
    Case("further", "further.cu", sections(
        "blocked", "copy_queues", "graph_pageable", "handles", "lazy_graph_held", "lazy_hostfunc",
        "lazy_loaders", "lazy_waiting_stream", "lazy_waits", "mixed", "params", "reset", "threads",
        "turns"), units=(PER_THREAD,),
         # Which streams share a queue of copies to the host differs from run to run.
         variable=(r"copyqueues\.d2h\..*",)),
    Case("further_conn1", "further.cu", sections("one_graph"), units=(PER_THREAD,),
         env=((CONNECTIONS, "1"),)),
    # Sections "bad_launches" and "resets" end where NVIDIA's driver crashes.
    Case("mixes", "mixes.cu", sections(
        "bad_launches", "busy", "callbacks", "chains", "copies", "event_uses", "fault_blocking",
        "fault_calls", "fault_capture", "fault_graph", "fault_second", "fault_waiters", "forks",
        "graph_order", "host_memory", "legacy", "many", "per_thread", "pools", "priority_answers",
        "refusals", "rerecord", "resets"), variable=(r"end.*",)),
    Case("mixes_blocking", "mixes.cu", sections("fault_blocking", "fault_graph", "fault_capture"),
         env=(("CUDA_LAUNCH_BLOCKING", "1"),)),
    Case("ipc", "ipc.cu"),
    Case("fork", "fork.cu"),
    Case("carry", "carry.cu"),
    # Of blocks that all fail, as many tell as are quick enough.
    Case("parts", "parts.cu", sections("graph_parts", "host_waits", "asked", *(
        "reset:" + use for use in (
            "stream.wait", "event.query", "event.elapsed", "event.destroy", "event.record", "free",
            "freehost", "memset", "pointer", "launch", "symbol", "mallocasync", "perthread"))),
         variable=(r"end.*",)),
    Case("asserts", "asserts.cu", variable=(r"assert\.3\.lines",)),
    Case("props", "props.cu"),
    # 256 MiB behind the memory: what lies there differs from run to run.
    Case("faults", "faults.cu", listed=True, variable=(r"fault\.past\.end\.of\.granule\..*",)),
    Case("accesses", "accesses.cu", listed=True),
    Case("faults_blocking", "faults.cu", listed=True, env=(("CUDA_LAUNCH_BLOCKING", "1"),)),
)

# Lines that belong to one model of device: left out when a GPU of another model is compared.
OF_THE_DEVICE = re.compile(
    r"attr\.|priority\.|dev\.|prop\.|mem\.|limit\.|occupancy\.|pool\.(used|reserved)\.")


def find(names):
    """The cases with these names; all of them when none is given."""
    known = {c.name: c for c in CASES}
    unknown = [n for n in names if n not in known]
    if unknown:
        raise SystemExit(f"no case is named {', '.join(unknown)}. There are: {', '.join(known)}")
    return [known[n] for n in names] if names else list(CASES)
