// A recorded run as the page knows it: columns, in the numbering of the trace.

import { decodeNumbers, decodeValues } from "./columns";

export type RowKind = "path" | "thread" | "ranges" | "engine" | "stream";

// In the order of the C++ enums.
export const barNames = [
  "kernel", "copy to device", "copy to host", "copy on device", "fill", "host function", "host call", "other",
] as const;
export const Bar = { kernel: 0, toDevice: 1, toHost: 2, onDevice: 3, fill: 4, hostFunction: 5, call: 6, other: 7 };

export const kindNames = [
  "kernel", "copy", "fill", "host function", "event record", "event wait", "allocate", "free", "graph begins",
  "graph ends", "conditional node", "marker",
] as const;
export const Kind = { kernel: 0, copy: 1, fill: 2, hostFunction: 3, eventRecord: 4, eventWait: 5, allocate: 6, free: 7 };

export const causeNames = [
  "stream order", "event", "default-stream barrier", "graph edge", "head of the hardware queue", "engine busy",
  "device full", "host call", "allocation", "loading",
] as const;
/** What a cause means, for the one who waits. */
export const causeWords = [
  "came before it in its stream",
  "was recorded in an event it waits for",
  "was on the other side of the default stream's barrier",
  "comes before it in the graph",
  "was in front of it in the hardware queue",
  "had its engine",
  "filled the device",
  "the host issued it late",
  "still used its memory",
  "was pending when its kernel was loaded",
] as const;
export const memoryNames = ["device", "pinned", "managed", "pageable"] as const;

export interface Head {
  program: string;
  profile: string;
  clock: "wall" | "modelled" | "device";
  deterministic: boolean;
  end: "unknown" | "complete" | "hung" | "stopped";
  connections: number;
  duration: number;
}

export interface Row {
  kind: RowKind;
  of: number;
  label: string;
  detail: string;
  lanes: number;
  leftOut: number;
  what: Int32Array; // operation, call or annotation, in the order of time
  lane: Int32Array;
  marks: Int32Array; // operations without an extent
}

export interface Group {
  label: string;
  detail: string;
  rows: Row[];
}

export interface Annotation {
  thread: number;
  domain: string;
  category: string;
  text: string;
  colour: number;
  begin: number;
  end: number;
}

/** The critical path, stretch by stretch from the begin of the run to its end. */
export interface Path {
  count: number;
  operation: Int32Array;
  call: Int32Array;
  bar: Int32Array;
  words: Int32Array; // of Trace.words
  from: Float64Array;
  to: Float64Array;
}

/** A part of the critical path that has one cause. */
export interface PathPart {
  time: number;
  words: number;
  places: number[];
}

export interface Finding {
  title: string;
  detail: string;
  evidence: string[];
  advice: string;
  cost: number;
  from: number;
  to: number;
  operations: number[];
  calls: number[];
  places: number[];
}

const operationNumbers = [
  "kind", "bar", "engine", "direction", "hostMemory", "flags", "priority", "queue", "device", "peer", "stream", "call",
  "name", "record", "event", "graph", "grid0", "grid1", "grid2", "block0", "block1", "block2", "shared", "registers", "status",
  "ranges", "waits",
] as const;
const operationValues = ["called", "queued", "ready", "started", "ended", "bytes"] as const;
const callNumbers = ["name", "thread", "place", "blockedOn", "returned", "status"] as const;
const callValues = ["begin", "end", "blocked"] as const;

export type Operations = { count: number } & Record<(typeof operationNumbers)[number], Int32Array> &
  Record<(typeof operationValues)[number], Float64Array>;
export type Calls = { count: number } & Record<(typeof callNumbers)[number], Int32Array> &
  Record<(typeof callValues)[number], Float64Array>;

export interface Waits {
  count: number;
  from: Int32Array; // operation, -1 for a host call
  call: Int32Array;
  cause: Int32Array;
  until: Float64Array;
  begins: Int32Array; // waits of operation i: begins[i] to begins[i + 1]
}

/** What operations read and write. */
export interface Ranges {
  count: number;
  allocation: Int32Array;
  how: Int32Array; // 1 reads, 2 writes, 4 exactly these bytes
  offset: Float64Array;
  bytes: Float64Array;
  begins: Int32Array; // ranges of operation i: begins[i] to begins[i + 1]
}

export interface Allocations {
  count: number;
  kind: Int32Array; // of memoryNames
  bytes: Float64Array;
}

export interface Trace {
  head: Head;
  names: string[];
  callNames: string[];
  places: [string, number][];
  annotations: Annotation[];
  groups: Group[];
  operations: Operations;
  calls: Calls;
  waits: Waits;
  ranges: Ranges;
  allocations: Allocations;
  words: string[];
  path: Path;
  parts: PathPart[];
  findings: Finding[];
}

type ColumnText = { count: number } & Record<string, string | number>;

function columns(table: ColumnText, numbers: readonly string[], values: readonly string[]): object {
  const out: Record<string, unknown> = { count: table.count };
  for (const name of numbers) out[name] = decodeNumbers(String(table[name]), table.count);
  for (const name of values) out[name] = decodeValues(String(table[name]), table.count);
  return out;
}

/** Where the parts of each begin, when these are their counts. */
function begins(counts: Int32Array): Int32Array {
  const out = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) out[i + 1] = out[i] + counts[i];
  return out;
}

interface RowText extends Omit<Row, "what" | "lane" | "marks"> {
  bars: number;
  what: string;
  lane: string;
  markCount: number;
  marks: string;
}

/** The path is a row like others, above them all. */
function pathGroup(steps: number): Group {
  const row: Row = {
    kind: "path", of: 0, label: "Critical path", detail: "what the run waited for", lanes: 1, leftOut: 0,
    what: Int32Array.from({ length: steps }, (_, i) => i), lane: new Int32Array(steps), marks: new Int32Array(0),
  };
  return { label: "Run", detail: "", rows: [row] };
}

/** The data that the C++ side wrote into the page. */
export function readTrace(text: string): Trace {
  const data = JSON.parse(text);
  if (data.version !== 1) throw new Error(`the data of this page has version ${data.version}, not 1`);
  const operations = columns(data.operations, operationNumbers, operationValues) as Operations;
  const waits = columns(data.waits, ["from", "call", "cause"], ["until"]) as Waits;
  waits.begins = begins(operations.waits);
  const ranges = columns(data.ranges, ["allocation", "how"], ["offset", "bytes"]) as Ranges;
  ranges.begins = begins(operations.ranges);
  const groups: Group[] = (data.groups as { label: string; detail: string; rows: RowText[] }[]).map((group) => ({
    ...group,
    rows: group.rows.map((row) => ({
      ...row,
      what: decodeNumbers(row.what, row.bars),
      lane: decodeNumbers(row.lane, row.bars),
      marks: decodeNumbers(row.marks, row.markCount),
    })),
  }));
  const path = columns(data.path, ["operation", "call", "bar", "words"], ["from", "to"]) as Path;
  if (path.count > 0) groups.unshift(pathGroup(path.count));
  return {
    head: data.head,
    names: data.names,
    callNames: data.callNames,
    places: data.places,
    annotations: data.annotations,
    groups,
    operations,
    calls: columns(data.calls, callNumbers, callValues) as Calls,
    waits,
    ranges,
    allocations: columns(data.allocations, ["kind"], ["bytes"]) as Allocations,
    words: data.words,
    path,
    parts: data.parts,
    findings: data.findings,
  };
}

/** Begin and end of an operation as they are drawn; as bar_extent in src/tools/timeline_rows.cpp. */
export function extentOf(trace: Trace, kind: RowKind, what: number): [number, number] {
  const end = trace.head.duration;
  if (kind === "thread") {
    const from = trace.calls.begin[what];
    const to = trace.calls.end[what];
    return [from, Math.max(from, to < 0 ? end : to)];
  }
  if (kind === "ranges") return [trace.annotations[what].begin, trace.annotations[what].end];
  if (kind === "path") return [trace.path.from[what], trace.path.to[what]];
  const o = trace.operations;
  let from = o.started[what];
  if (from < 0) from = o.queued[what];
  if (from < 0) from = o.called[what];
  if (from < 0) return [end, end];
  const to = o.ended[what];
  return [from, Math.max(from, to < 0 ? end : to)];
}

export function barOf(trace: Trace, kind: RowKind, what: number): number {
  if (kind === "thread") return Bar.call;
  if (kind === "ranges") return Bar.other;
  if (kind === "path") return trace.path.bar[what];
  return trace.operations.bar[what];
}
