// Where rows stand on the screen: heights from the number of lanes, groups that can be folded.

import type { Group, Row, Trace } from "./model";

export interface PlacedRow {
  row: Row;
  group: number;
  index: number; // among all rows, folded or not
  top: number;
  height: number;
  laneHeight: number;
  lanesTop: number;
  marksTop: number; // where marks are drawn
}

export interface PlacedGroup {
  group: Group;
  index: number;
  top: number;
  height: number; // of its title
  folded: boolean;
}

export interface Layout {
  rows: PlacedRow[]; // those that are shown
  groups: PlacedGroup[];
  height: number;
}

export const titleHeight = 26;
const padding = 4;
const marksHeight = 7;

/** Few lanes are tall enough for a label, many become stripes. */
export function laneHeight(lanes: number, roomy = false): number {
  if (lanes <= 1) return roomy ? 28 : 20;
  if (roomy && lanes <= 3) return 22;
  if (lanes <= 3) return 17;
  if (lanes <= 8) return 13;
  return lanes <= 32 ? 6 : 4;
}

/** Rows are roomy where they all fit into the height that there is. */
export function layOut(trace: Trace, folded: ReadonlySet<number>, available = 0): Layout {
  const roomy = place(trace, folded, true);
  return roomy.height <= available ? roomy : place(trace, folded, false);
}

function place(trace: Trace, folded: ReadonlySet<number>, roomy: boolean): Layout {
  const layout: Layout = { rows: [], groups: [], height: 0 };
  let top = 0;
  let index = 0;
  trace.groups.forEach((group, g) => {
    layout.groups.push({ group, index: g, top, height: titleHeight, folded: folded.has(g) });
    top += titleHeight;
    for (const row of group.rows) {
      const order = index++;
      if (folded.has(g)) continue;
      const lane = laneHeight(row.lanes, roomy);
      const bars = lane * row.lanes;
      const marks = row.marks.length > 0 ? marksHeight : 0;
      const height = Math.max(bars + marks + 2 * padding, 30);
      layout.rows.push({
        row,
        group: g,
        index: order,
        top,
        height,
        laneHeight: lane,
        lanesTop: top + padding,
        marksTop: top + padding + bars,
      });
      top += height;
    }
  });
  layout.height = top;
  return layout;
}

/** The row at a height; undefined over a title or below the last. */
export function rowAt(layout: Layout, y: number): PlacedRow | undefined {
  let low = 0;
  let high = layout.rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (layout.rows[middle].top + layout.rows[middle].height > y) high = middle;
    else low = middle + 1;
  }
  const row = layout.rows[low];
  return row && y >= row.top ? row : undefined;
}
