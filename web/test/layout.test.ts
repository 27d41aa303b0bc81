import { expect, test } from "vitest";
import { layOut, rowAt, titleHeight } from "../src/layout";
import { makeRow, makeTrace } from "./sample";

const trace = makeTrace([], {
  groups: [
    { label: "Host", detail: "", rows: [makeRow([], { kind: "thread", label: "Main thread" })] },
    { label: "Device 0", detail: "", rows: [makeRow([], { lanes: 4 }), makeRow([], { marks: Int32Array.from([0]) })] },
  ],
});

test("rows stand below each other without gaps", () => {
  const layout = layOut(trace, new Set());
  let next = 0;
  for (const part of [...layout.groups, ...layout.rows].sort((a, b) => a.top - b.top)) {
    expect(part.top).toBe(next);
    next += part.height;
  }
  expect(layout.height).toBe(next);
});

test("a row is as tall as its lanes and its marks", () => {
  const [, many, marked] = layOut(trace, new Set()).rows;
  expect(many.height).toBeGreaterThanOrEqual(4 * many.laneHeight);
  expect(marked.marksTop).toBe(marked.lanesTop + marked.laneHeight);
  expect(marked.top + marked.height).toBeGreaterThanOrEqual(marked.marksTop + 7);
});

test("a folded group keeps its title alone, and rows their numbers", () => {
  const layout = layOut(trace, new Set([0]));
  expect(layout.groups[1].top).toBe(titleHeight);
  expect(layout.rows.map((row) => row.index)).toEqual([1, 2]);
});

test("rows are roomier where there is room", () => {
  expect(layOut(trace, new Set(), 2000).rows[0].laneHeight).toBeGreaterThan(layOut(trace, new Set(), 10).rows[0].laneHeight);
});

test("the row at a height is found, titles are none", () => {
  const layout = layOut(trace, new Set());
  expect(rowAt(layout, 5)).toBeUndefined();
  for (const row of layout.rows) {
    expect(rowAt(layout, row.top)).toBe(row);
    expect(rowAt(layout, row.top + row.height - 1)).toBe(row);
  }
  expect(rowAt(layout, layout.height + 1)).toBeUndefined();
});
