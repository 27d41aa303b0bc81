// Where each thing stands: its row and lane. An operation has a place in its stream and one at its engine.

import { Lane, lanesOf } from "./lanes";
import type { Row, RowKind, Trace } from "./model";
import type { Thing } from "./search";

export interface Spot {
  row: number; // among all rows
  lane: number; // -1: a mark
}

export class Places {
  readonly rows: Row[];
  readonly lanes: Lane[][];
  private readonly streamRow: Int32Array;
  private readonly streamLane: Int32Array;
  private readonly engineRow: Int32Array;
  private readonly engineLane: Int32Array;
  private readonly callRow: Int32Array;
  private readonly rangeRow: Int32Array;
  private readonly rangeLane: Int32Array;

  constructor(trace: Trace) {
    this.rows = trace.groups.flatMap((group) => group.rows);
    this.lanes = this.rows.map((row) => lanesOf(trace, row));
    const none = (count: number): Int32Array => new Int32Array(count).fill(-1);
    this.streamRow = none(trace.operations.count);
    this.streamLane = none(trace.operations.count);
    this.engineRow = none(trace.operations.count);
    this.engineLane = none(trace.operations.count);
    this.callRow = none(trace.calls.count);
    this.rangeRow = none(trace.annotations.length);
    this.rangeLane = none(trace.annotations.length);
    const columns: Record<RowKind, [Int32Array, Int32Array | undefined]> = {
      stream: [this.streamRow, this.streamLane],
      engine: [this.engineRow, this.engineLane],
      thread: [this.callRow, undefined],
      ranges: [this.rangeRow, this.rangeLane],
      path: [new Int32Array(trace.path.count), undefined],
    };
    this.rows.forEach((row, index) => {
      const [rows, lanes] = columns[row.kind];
      row.what.forEach((what, i) => {
        rows[what] = index;
        if (lanes) lanes[what] = row.lane[i];
      });
      for (const mark of row.marks) this.streamRow[mark] = index;
    });
  }

  /** The row of a thing's stream or thread. */
  home(thing: Thing): Spot | undefined {
    if (thing.kind === "step") return spot(0, 0);
    if (thing.kind === "call") return spot(this.callRow[thing.what], 0);
    if (thing.kind === "range") return spot(this.rangeRow[thing.what], this.rangeLane[thing.what]);
    return spot(this.streamRow[thing.what], this.streamLane[thing.what]) ?? this.engine(thing.what);
  }

  engine(operation: number): Spot | undefined {
    return spot(this.engineRow[operation], this.engineLane[operation]);
  }
}

const spot = (row: number, lane: number): Spot | undefined => (row >= 0 ? { row, lane } : undefined);

const kinds = { path: "step", thread: "call", ranges: "range", engine: "operation", stream: "operation" } as const;

/** What stands in a row of a kind. */
export const thingIn = (kind: RowKind, what: number): Thing => ({ kind: kinds[kind], what });
