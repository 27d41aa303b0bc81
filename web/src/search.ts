// Finding operations, calls and ranges by words.
//
// Every word must be found in the thing's label, kind, row or source line; `>20us` and `<1ms` compare its
// duration. Tables of names are searched once per word, so that a search goes through the operations
// with nothing but look-ups.

import { kindNames, type Trace } from "./model";
import { operationLabel, place, shortName } from "./format";

export type ThingKind = "operation" | "call" | "range" | "step"; // step: of the critical path
export interface Thing {
  kind: ThingKind;
  what: number;
}

export interface Found {
  things: Thing[]; // in the order of their begin
  operations: Uint8Array; // 1 where found
  calls: Uint8Array;
  ranges: Uint8Array;
}

interface Query {
  words: string[];
  longer: number;
  shorter: number;
}

const unitSizes: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

export function parseQuery(text: string): Query {
  const query: Query = { words: [], longer: -Infinity, shorter: Infinity };
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const limit = /^([<>])=?(\d+(?:\.\d+)?)(ns|us|µs|ms|s)$/.exec(word);
    if (!limit) query.words.push(word);
    else if (limit[1] === ">") query.longer = Number(limit[2]) * unitSizes[limit[3]];
    else query.shorter = Number(limit[2]) * unitSizes[limit[3]];
  }
  return query;
}

const matches = (texts: string[], word: string): Uint8Array =>
  Uint8Array.from(texts, (text) => (text.toLowerCase().includes(word) ? 1 : 0));

export class Search {
  private readonly labels: string[] = []; // distinct ones
  private readonly labelOf: Int32Array;
  private readonly streams: string[];
  private readonly threads: string[];
  private readonly places: string[];

  constructor(private readonly trace: Trace) {
    const o = trace.operations;
    const known = new Map<string, number>();
    this.labelOf = new Int32Array(o.count);
    for (let i = 0; i < o.count; i++) {
      const key = `${o.kind[i]} ${o.name[i]} ${o.direction[i]} ${o.bytes[i]}`;
      let label = known.get(key);
      if (label === undefined) {
        label = this.labels.length;
        known.set(key, label);
        const name = o.name[i] >= 0 ? shortName(trace.names[o.name[i]]) : "";
        this.labels.push(`${kindNames[o.kind[i]]} ${operationLabel(trace, i)} ${name}`);
      }
      this.labelOf[i] = label;
    }
    const labelsOf = (kind: string): string[] => {
      const out: string[] = [];
      for (const group of trace.groups) {
        for (const row of group.rows) if (row.kind === kind) out[row.of] = `${group.label} ${row.label}`;
      }
      return Array.from(out, (text) => text ?? "");
    };
    this.streams = labelsOf("stream");
    this.threads = labelsOf("thread");
    this.places = trace.places.map((_, i) => place(trace, i));
  }

  find(text: string): Found {
    const { operations: o, calls, annotations } = this.trace;
    const query = parseQuery(text);
    const found: Found = {
      things: [],
      operations: new Uint8Array(o.count),
      calls: new Uint8Array(calls.count),
      ranges: new Uint8Array(annotations.length),
    };
    const limited = query.longer !== -Infinity || query.shorter !== Infinity;
    if (query.words.length === 0 && !limited) return found;
    const tables = query.words.map((word) => ({
      labels: matches(this.labels, word),
      streams: matches(this.streams, word),
      threads: matches(this.threads, word),
      places: matches(this.places, word),
      calls: matches(this.trace.callNames, word),
      word,
    }));
    const inTime = (length: number): boolean => length > query.longer && length < query.shorter;
    for (let i = 0; i < o.count; i++) {
      const line = o.call[i] >= 0 ? calls.place[o.call[i]] : -1;
      const hit = tables.every((t) =>
        t.labels[this.labelOf[i]] || t.streams[o.stream[i]] || (line >= 0 && t.places[line]));
      if (!hit || (limited && (o.started[i] < 0 || !inTime(o.ended[i] - o.started[i])))) continue;
      found.operations[i] = 1;
      found.things.push({ kind: "operation", what: i });
    }
    for (let i = 0; i < calls.count; i++) {
      const hit = tables.every((t) =>
        t.calls[calls.name[i]] || t.threads[calls.thread[i]] || (calls.place[i] >= 0 && t.places[calls.place[i]]));
      if (!hit || (limited && !inTime(calls.end[i] - calls.begin[i]))) continue;
      found.calls[i] = 1;
      found.things.push({ kind: "call", what: i });
    }
    annotations.forEach((range, i) => {
      const words = `${range.text} ${range.domain} ${range.category}`.toLowerCase();
      if (!tables.every((t) => words.includes(t.word)) || (limited && !inTime(range.end - range.begin))) return;
      found.ranges[i] = 1;
      found.things.push({ kind: "range", what: i });
    });
    const begin = (thing: Thing): number => {
      if (thing.kind === "call") return calls.begin[thing.what];
      if (thing.kind === "range") return annotations[thing.what].begin;
      return o.started[thing.what] >= 0 ? o.started[thing.what] : o.called[thing.what];
    };
    found.things.sort((a, b) => begin(a) - begin(b));
    return found;
  }
}
