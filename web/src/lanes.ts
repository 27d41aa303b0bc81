// One lane of a row, ready to be drawn at any zoom.
//
// Bars of a lane do not overlap and are in order, so their ends are in order too. A view is drawn by
// going through it pixel by pixel at most: bars wider than a pixel one by one, and of those that share a
// pixel only how much of it each kind covers, which is a difference of two running sums. The work
// depends on the width of the screen, not on the number of operations.

import { barNames, barOf, extentOf, type Row, type Trace } from "./model";

export class Lane {
  private readonly sums: (Float64Array | undefined)[] = [];

  constructor(
    readonly what: Int32Array,
    readonly begin: Float64Array,
    readonly end: Float64Array,
    readonly bar: Uint8Array,
  ) {
    const n = what.length;
    for (let i = 0; i < n; i++) {
      this.sums[bar[i]] ??= new Float64Array(n + 1);
    }
    for (let kind = 0; kind < barNames.length; kind++) {
      const sum = this.sums[kind];
      if (!sum) continue;
      for (let i = 0; i < n; i++) sum[i + 1] = sum[i] + (bar[i] === kind ? end[i] - begin[i] : 0);
    }
  }

  get length(): number {
    return this.what.length;
  }

  /** The first bar that ends after a time. */
  firstAfter(time: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The first bar from an index on that begins at a time or later. Near ones are found quickly. */
  firstFrom(time: number, from: number): number {
    let step = 1;
    let low = from;
    let high = from;
    while (high < this.length && this.begin[high] < time) {
      low = high + 1;
      high += step;
      step *= 2;
    }
    high = Math.min(high, this.length);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.begin[middle] >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The kind that covers most time among the bars of [from, to). */
  mostly(from: number, to: number): number {
    let best = this.bar[from];
    let most = -1;
    for (let kind = 0; kind < this.sums.length; kind++) {
      const sum = this.sums[kind];
      const covered = sum ? sum[to] - sum[from] : -1;
      if (covered > most) {
        most = covered;
        best = kind;
      }
    }
    return best;
  }

  /** The time that bars of [from, to) cover. */
  busy(from: number, to: number): number {
    let total = 0;
    for (const sum of this.sums) if (sum) total += sum[to] - sum[from];
    return total;
  }

  /** The bar at a time; -1 when there is none. `slack` reaches those too thin to hit. */
  at(time: number, slack = 0): number {
    const i = this.firstAfter(time - slack);
    if (i < this.length && this.begin[i] <= time + slack) {
      // Of two in reach the one that is hit wins.
      if (this.end[i] < time && i + 1 < this.length && this.begin[i + 1] <= time) return i + 1;
      return i;
    }
    // A bar without length ends at its begin.
    return i > 0 && this.end[i - 1] >= time - slack && this.begin[i - 1] <= time + slack ? i - 1 : -1;
  }
}

/** What is drawn: one bar, or several that share a pixel. */
export interface Stretch {
  first: number;
  last: number; // one past
  from: number; // pixels
  to: number;
  bar: number;
  share: number; // of the pixel that is covered, 1 for one bar
}

/** Goes through the part of a lane that lies in a view of `width` pixels from `begin` to `end`. */
export function stretches(lane: Lane, begin: number, end: number, width: number, visit: (s: Stretch) => void): number {
  const scale = width / (end - begin);
  const pixel = 1 / scale;
  const s: Stretch = { first: 0, last: 0, from: 0, to: 0, bar: 0, share: 1 };
  let visits = 0;
  let i = lane.firstAfter(begin);
  while (i < lane.length && lane.begin[i] < end) {
    s.first = i;
    const long = lane.end[i] - lane.begin[i] >= pixel;
    if (long) {
      s.last = i + 1;
      s.from = (lane.begin[i] - begin) * scale;
      s.to = (lane.end[i] - begin) * scale;
      s.bar = lane.bar[i];
      s.share = 1;
    } else {
      const column = Math.floor((lane.begin[i] - begin) * scale);
      let last = lane.firstFrom(begin + (column + 1) * pixel, i + 1);
      // The border of a pixel is not exact.
      while (last < lane.length && Math.floor((lane.begin[last] - begin) * scale) === column) last++;
      // A long one that begins in this pixel is drawn on its own.
      if (last > i + 1 && lane.end[last - 1] - lane.begin[last - 1] >= pixel) last--;
      s.last = last;
      s.from = column;
      s.to = column + 1;
      s.bar = lane.mostly(i, last);
      s.share = Math.min(1, lane.busy(i, last) * scale);
    }
    visit(s);
    visits++;
    i = s.last;
  }
  return visits;
}

export function lanesOf(trace: Trace, row: Row): Lane[] {
  const counts = new Int32Array(row.lanes);
  for (const lane of row.lane) counts[lane]++;
  const parts = Array.from(counts, (n) => ({
    what: new Int32Array(n),
    begin: new Float64Array(n),
    end: new Float64Array(n),
    bar: new Uint8Array(n),
    next: 0,
  }));
  for (let i = 0; i < row.what.length; i++) {
    const part = parts[row.lane[i]];
    const [begin, end] = extentOf(trace, row.kind, row.what[i]);
    part.what[part.next] = row.what[i];
    part.begin[part.next] = begin;
    part.end[part.next] = end;
    part.bar[part.next++] = barOf(trace, row.kind, row.what[i]);
  }
  return parts.map((part) => new Lane(part.what, part.begin, part.end, part.bar));
}
