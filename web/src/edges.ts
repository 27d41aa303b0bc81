// What waits for what, in both directions.

import type { Trace } from "./model";

export interface Wait {
  operation: number; // that it waits for, or that waits; -1 for a host call
  call: number;
  cause: number;
  until: number;
}

export class Edges {
  private readonly begins: Int32Array; // waiters of operation i: waiters[begins[i]] and on
  private readonly waiters: Int32Array;
  private readonly wait: Int32Array;

  constructor(private readonly trace: Trace) {
    const { waits, operations } = trace;
    this.begins = new Int32Array(operations.count + 1);
    for (const from of waits.from) if (from >= 0) this.begins[from + 1]++;
    for (let i = 0; i < operations.count; i++) this.begins[i + 1] += this.begins[i];
    const next = this.begins.slice(0, operations.count);
    this.waiters = new Int32Array(this.begins[operations.count]);
    this.wait = new Int32Array(this.begins[operations.count]);
    for (let i = 0; i < operations.count; i++) {
      for (let w = waits.begins[i]; w < waits.begins[i + 1]; w++) {
        const from = waits.from[w];
        if (from < 0) continue;
        this.waiters[next[from]] = i;
        this.wait[next[from]++] = w;
      }
    }
  }

  /** What an operation waited for, in the order in which it was over. */
  waitedFor(operation: number): Wait[] {
    const { waits } = this.trace;
    const out: Wait[] = [];
    for (let w = waits.begins[operation]; w < waits.begins[operation + 1]; w++) {
      out.push({ operation: waits.from[w], call: waits.call[w], cause: waits.cause[w], until: waits.until[w] });
    }
    return out;
  }

  waiterCount(operation: number): number {
    return this.begins[operation + 1] - this.begins[operation];
  }

  /** What waited for an operation; `most` of them. */
  waitedBy(operation: number, most = Infinity): Wait[] {
    const { waits } = this.trace;
    const out: Wait[] = [];
    const end = Math.min(this.begins[operation + 1], this.begins[operation] + most);
    for (let i = this.begins[operation]; i < end; i++) {
      out.push({ operation: this.waiters[i], call: -1, cause: waits.cause[this.wait[i]], until: waits.until[this.wait[i]] });
    }
    return out;
  }

  /** The wait that was over last: without it the operation would have started earlier. */
  decisive(operation: number): Wait | undefined {
    return this.waitedFor(operation).reduce<Wait | undefined>(
      (last, wait) => (last && last.until > wait.until ? last : wait), undefined);
  }
}
