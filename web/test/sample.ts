// Traces for the tests of the parts, written down as the page has them after reading.

import type { Calls, Operations, Row, Trace, Waits } from "../src/model";

export interface Work {
  kind?: number;
  bar?: number;
  stream?: number;
  name?: number;
  call?: number;
  bytes?: number;
  direction?: number;
  begin: number;
  end: number;
  status?: number;
  queue?: number;
  ranges?: { allocation: number; how: number; offset: number; bytes: number }[];
  waits?: { from?: number; call?: number; cause?: number; until: number }[];
}

const numbers = (work: Work[], value: (w: Work) => number): Int32Array => Int32Array.from(work, value);
const times = (work: Work[], value: (w: Work) => number): Float64Array => Float64Array.from(work, value);

export function makeTrace(work: Work[], extra: Partial<Trace> = {}): Trace {
  const zero = new Int32Array(work.length);
  const operations = {
    count: work.length,
    kind: numbers(work, (w) => w.kind ?? 0),
    bar: numbers(work, (w) => w.bar ?? 0),
    stream: numbers(work, (w) => w.stream ?? 1),
    name: numbers(work, (w) => w.name ?? -1),
    call: numbers(work, (w) => w.call ?? -1),
    direction: numbers(work, (w) => w.direction ?? 0),
    bytes: times(work, (w) => w.bytes ?? 0),
    called: times(work, (w) => w.begin),
    queued: times(work, (w) => w.begin),
    ready: times(work, (w) => w.begin),
    started: times(work, (w) => w.begin),
    ended: times(work, (w) => w.end),
    waits: numbers(work, (w) => w.waits?.length ?? 0),
    status: numbers(work, (w) => w.status ?? 0),
    queue: numbers(work, (w) => w.queue ?? 0),
    flags: zero, priority: zero, device: zero, graph: zero, hostMemory: zero, peer: zero, event: zero, record: zero,
    grid0: zero, grid1: zero, grid2: zero, block0: zero, block1: zero, block2: zero, shared: zero, registers: zero,
  } as unknown as Operations;
  const flat = work.flatMap((w) => w.waits ?? []);
  const begins = new Int32Array(work.length + 1);
  work.forEach((w, i) => (begins[i + 1] = begins[i] + (w.waits?.length ?? 0)));
  const waits: Waits = {
    count: flat.length,
    from: Int32Array.from(flat, (w) => w.from ?? -1),
    call: Int32Array.from(flat, (w) => w.call ?? -1),
    cause: Int32Array.from(flat, (w) => w.cause ?? 0),
    until: Float64Array.from(flat, (w) => w.until),
    begins,
  };
  const memory = work.flatMap((w) => w.ranges ?? []);
  const memoryBegins = new Int32Array(work.length + 1);
  work.forEach((w, i) => (memoryBegins[i + 1] = memoryBegins[i] + (w.ranges?.length ?? 0)));
  const calls = {
    count: 0, name: new Int32Array(0), thread: new Int32Array(0), place: new Int32Array(0), begin: new Float64Array(0),
    end: new Float64Array(0), blocked: new Float64Array(0), blockedOn: new Int32Array(0), returned: new Int32Array(0),
    status: new Int32Array(0),
  } as Calls;
  return {
    head: { program: "test", profile: "h200", clock: "modelled", deterministic: true, end: "complete", connections: 8,
      duration: Math.max(0, ...work.map((w) => w.end)) },
    names: [], callNames: [], places: [], annotations: [], groups: [], operations, calls, waits,
    ranges: {
      count: memory.length,
      allocation: Int32Array.from(memory, (r) => r.allocation),
      how: Int32Array.from(memory, (r) => r.how),
      offset: Float64Array.from(memory, (r) => r.offset),
      bytes: Float64Array.from(memory, (r) => r.bytes),
      begins: memoryBegins,
    },
    allocations: { count: 0, kind: new Int32Array(0), bytes: new Float64Array(0) },
    words: [],
    path: { count: 0, operation: new Int32Array(0), call: new Int32Array(0), bar: new Int32Array(0), words: new Int32Array(0),
      from: new Float64Array(0), to: new Float64Array(0) },
    parts: [], findings: [], ...extra,
  };
}

export const makeRow = (what: number[], extra: Partial<Row> = {}): Row => ({
  kind: "stream", of: 1, label: "Stream 1", detail: "", lanes: 1, leftOut: 0, what: Int32Array.from(what),
  lane: new Int32Array(what.length), marks: new Int32Array(0), ...extra,
});
