// One thing in words: the fields that the tip and the panel show.

import { barWords, bytes, count, duration, moment, operationLabel, place, stepLabel } from "./format";
import { causeNames, causeWords, type Finding, Kind, memoryNames, type Trace } from "./model";
import type { Wait } from "./edges";
import type { Thing } from "./search";

export interface Field {
  name: string;
  value: string;
}

export interface Description {
  title: string;
  kind: string;
  bar: number;
  fields: Field[];
}

export function streamLabel(trace: Trace, stream: number): string {
  for (const group of trace.groups) {
    for (const row of group.rows) {
      if (row.kind === "stream" && row.of === stream) {
        return trace.groups.filter((other) => other.rows.some((r) => r.kind === "stream")).length > 1
          ? `${group.label}, ${row.label}` : row.label;
      }
    }
  }
  return stream < 0 ? "no stream" : `stream ${stream}`;
}

function threadLabel(trace: Trace, thread: number): string {
  for (const group of trace.groups) {
    for (const row of group.rows) if (row.kind === "thread" && row.of === thread) return row.label;
  }
  return `thread ${thread}`;
}

const shape = (x: number, y: number, z: number): string => (z > 1 ? `${x} × ${y} × ${z}` : y > 1 ? `${x} × ${y}` : `${x}`);

/** Allocations and the bytes of them, for those ranges of an operation that have the bit. */
function rangesOf(trace: Trace, what: number, bit: number): string {
  const { ranges, allocations } = trace;
  const parts: string[] = [];
  for (let r = ranges.begins[what]; r < ranges.begins[what + 1]; r++) {
    if (!(ranges.how[r] & bit)) continue;
    const which = ranges.allocation[r];
    if (which < 0 && !(ranges.how[r] & 4)) {
      parts.push("perhaps any other memory");
      continue;
    }
    const memory = which >= 0 ? `${memoryNames[allocations.kind[which]]} memory ${which}` : "memory";
    const from = ranges.offset[r];
    const to = from + ranges.bytes[r];
    const whole = which >= 0 && from === 0 && to === allocations.bytes[which];
    parts.push(ranges.how[r] & 4
      ? `${memory}, ${whole ? `all ${bytes(to)}` : `bytes ${from} to ${to}`}`
      : `${memory}, somewhere in ${whole ? `its ${bytes(to)}` : `bytes ${from} to ${to}`}`);
  }
  return parts.length > 4 ? `${parts.slice(0, 4).join("; ")}; and ${parts.length - 4} more` : parts.join("; ");
}

/** As error_name in src/trace/words.cpp. */
const errorNames: Record<number, string> = {
  700: "cudaErrorIllegalAddress", 701: "cudaErrorLaunchOutOfResources", 702: "cudaErrorLaunchTimeout",
  710: "cudaErrorAssert", 714: "cudaErrorHardwareStackError", 715: "cudaErrorIllegalInstruction",
  716: "cudaErrorMisalignedAddress", 717: "cudaErrorInvalidAddressSpace", 718: "cudaErrorInvalidPc",
  719: "cudaErrorLaunchFailure",
};

/** Of the value in the column: 0 for none, then 32 of each kind. */
export function queueLabel(queue: number): string {
  const kinds = ["", ", copies to the device", ", copies to the host"];
  return queue > 0 ? `${(queue - 1) % 32}${kinds[Math.floor((queue - 1) / 32)]}` : "";
}

function describeOperation(trace: Trace, what: number): Description {
  const o = trace.operations;
  const fields: Field[] = [];
  const add = (name: string, value: string): void => void (value && fields.push({ name, value }));
  const kind = o.kind[what];
  const started = o.started[what];
  const ended = o.ended[what];
  if (started >= 0) add("started", moment(started, 1));
  if (started >= 0 && ended >= 0) {
    if (ended > started || kind <= Kind.hostFunction) add("duration", duration(ended - started));
  } else if (started >= 0) add("duration", "did not end");
  else add("state", "never started");
  if (o.status[what] > 0) add("failed", errorNames[o.status[what]] ?? `cudaError ${o.status[what]}`);
  if (o.called[what] >= 0 && started >= 0) add("after its call", duration(started - o.called[what]));
  if (o.ready[what] >= 0 && started > o.ready[what]) add("ready, not started", duration(started - o.ready[what]));
  add("stream", streamLabel(trace, o.stream[what]));
  add("queue", queueLabel(o.queue[what]));
  if (kind === Kind.kernel) {
    add("grid", shape(o.grid0[what], o.grid1[what], o.grid2[what]));
    add("block", shape(o.block0[what], o.block1[what], o.block2[what]));
    if (o.shared[what]) add("shared memory", `${bytes(o.shared[what])} a block`);
    if (o.registers[what]) add("registers", `${o.registers[what]} a thread`);
    if (o.flags[what] & 2) add("launch", "cooperative");
  }
  if (o.bytes[what] > 0) add("size", bytes(o.bytes[what]));
  if (kind === Kind.copy) {
    if (o.hostMemory[what] > 0) add("host memory", memoryNames[o.hostMemory[what]]);
    if (o.peer[what] >= 0) add("other device", `${o.peer[what]}`);
    const time = ended - started;
    if (started >= 0 && time > 0) add("rate", `${(o.bytes[what] / time).toFixed(1)} GB/s`);
  }
  add("reads", rangesOf(trace, what, 1));
  add("writes", rangesOf(trace, what, 2));
  if (o.priority[what] !== 128) add("priority", `${o.priority[what] - 128}`);
  if (o.event[what] >= 0) add("event", `${o.event[what]}`);
  if (kind === Kind.eventWait && o.record[what] < 0) add("orders", "nothing: the event was not recorded, or its record was complete");
  if (o.graph[what] >= 0) add("graph", `${o.graph[what]}`);
  const call = o.call[what];
  if (call >= 0) {
    add("call", trace.callNames[trace.calls.name[call]]);
    add("line", place(trace, trace.calls.place[call]));
  }
  return { title: operationLabel(trace, what), kind: barWords(trace, what), bar: o.bar[what], fields };
}

function describeCall(trace: Trace, what: number): Description {
  const c = trace.calls;
  const fields: Field[] = [{ name: "began", value: moment(c.begin[what], 1) }];
  fields.push({ name: "duration", value: !c.returned[what] ? "did not return" : duration(c.end[what] - c.begin[what]) });
  if (c.blocked[what] > 0) fields.push({ name: "of that waiting", value: duration(c.blocked[what]) });
  fields.push({ name: "thread", value: threadLabel(trace, c.thread[what]) });
  if (c.status[what] > 0) fields.push({ name: "answered", value: `cudaError ${c.status[what]}` });
  if (c.place[what] >= 0) fields.push({ name: "line", value: place(trace, c.place[what]) });
  return { title: trace.callNames[c.name[what]], kind: "host call", bar: 6, fields };
}

function describeStep(trace: Trace, what: number): Description {
  const { path } = trace;
  const fields = [{ name: "began", value: moment(path.from[what], 1) }, { name: "duration", value: duration(path.to[what] - path.from[what]) }];
  if (path.operation[what] >= 0) fields.push({ name: "operation", value: operationLabel(trace, path.operation[what]) });
  fields.push({ name: "because", value: trace.words[path.words[what]] });
  return { title: stepLabel(trace, what), kind: "critical path", bar: path.bar[what], fields };
}

export function describe(trace: Trace, thing: Thing): Description {
  if (thing.kind === "operation") return describeOperation(trace, thing.what);
  if (thing.kind === "call") return describeCall(trace, thing.what);
  if (thing.kind === "step") return describeStep(trace, thing.what);
  const range = trace.annotations[thing.what];
  const fields = [{ name: "began", value: moment(range.begin, 1) }, { name: "duration", value: duration(range.end - range.begin) }];
  if (range.domain) fields.push({ name: "domain", value: range.domain });
  if (range.category) fields.push({ name: "category", value: range.category });
  return { title: range.text, kind: "range", bar: 7, fields };
}

/** Why an operation waited, as one line. */
export function waitLine(trace: Trace, wait: Wait): { who: string; why: string } {
  if (wait.operation >= 0) return { who: operationLabel(trace, wait.operation), why: causeWords[wait.cause] };
  const call = wait.call >= 0 ? trace.callNames[trace.calls.name[wait.call]] : "the host";
  return { who: call, why: causeWords[wait.cause] };
}

export const causeOf = (wait: Wait): string => causeNames[wait.cause];

/** A finding's evidence belongs to it once it is chosen, and always where the text before it leads up to it: a ring of waits. */
export const listsEvidence = (finding: Pick<Finding, "detail" | "evidence">, chosen: boolean): boolean =>
  finding.evidence.length > 0 && (chosen || finding.detail.endsWith(":"));

/** The run in one line. */
export function summary(trace: Trace): string {
  const { head, operations } = trace;
  const clock = { wall: "on this machine", modelled: "modelled", device: "on a GPU" }[head.clock];
  const parts = [`${duration(head.duration)} ${clock}`, count(operations.count, "operation")];
  if (head.profile) parts.push(head.profile);
  if (head.end === "hung") parts.push("it hung");
  if (head.end === "stopped") parts.push("it was ended by --timeout");
  if (head.end === "unknown") parts.push("recording ends early");
  return parts.join(" · ");
}
