import { expect, test } from "vitest";
import { Lane, lanesOf, stretches, type Stretch } from "../src/lanes";
import { makeRow, makeTrace } from "./sample";

function lane(bars: [number, number, number][]): Lane {
  return new Lane(Int32Array.from(bars.keys()), Float64Array.from(bars, (b) => b[0]), Float64Array.from(bars, (b) => b[1]),
    Uint8Array.from(bars, (b) => b[2]));
}

function drawn(of: Lane, begin: number, end: number, width: number): Stretch[] {
  const out: Stretch[] = [];
  stretches(of, begin, end, width, (s) => out.push({ ...s }));
  return out;
}

test("bars wider than a pixel are drawn one by one", () => {
  const out = drawn(lane([[0, 10, 0], [20, 30, 1]]), 0, 100, 100);
  expect(out).toEqual([
    { first: 0, last: 1, from: 0, to: 10, bar: 0, share: 1 },
    { first: 1, last: 2, from: 20, to: 30, bar: 1, share: 1 },
  ]);
});

test("bars that share a pixel become one, of the kind that covers most, as dense as they cover it", () => {
  // A pixel is 10 long: 1 of kind 0 and 2 times 2 of kind 1.
  const out = drawn(lane([[0, 1, 0], [2, 4, 1], [5, 7, 1], [12, 13, 0]]), 0, 1000, 100);
  expect(out.length).toBe(2);
  expect(out[0]).toMatchObject({ first: 0, last: 3, from: 0, to: 1, bar: 1 });
  expect(out[0].share).toBeCloseTo(0.5);
  expect(out[1]).toMatchObject({ first: 3, last: 4, from: 1 });
});

test("a long bar that begins in a pixel of short ones keeps its own place", () => {
  const out = drawn(lane([[0, 1, 0], [2, 3, 0], [5, 500, 1]]), 0, 1000, 100);
  expect(out.map((s) => [s.first, s.last])).toEqual([[0, 2], [2, 3]]);
  expect(out[1]).toMatchObject({ from: 0.5, to: 50, bar: 1 });
});

test("only the view is gone through, and what reaches into it from the left is there", () => {
  const out = drawn(lane([[0, 10, 0], [10, 60, 1], [60, 70, 2], [90, 95, 3]]), 50, 80, 30);
  expect(out.map((s) => s.first)).toEqual([1, 2]);
  expect(out[0].from).toBe(-40);
});

test("every bar is in exactly one stretch at any zoom", () => {
  const bars: [number, number, number][] = [];
  let time = 0;
  for (let i = 0; i < 5000; i++) {
    const length = (i * 7919) % 97;
    bars.push([time, time + length, i % 3]);
    time += length + ((i * 104729) % 41);
  }
  const all = lane(bars);
  for (const width of [1, 10, 333, 1200, 50000]) {
    let next = 0;
    stretches(all, -1, time + 1, width, (s) => {
      expect(s.first).toBe(next);
      next = s.last;
    });
    expect(next).toBe(5000);
  }
});

test("a view of 200,000 bars takes no more steps than it has pixels", () => {
  const count = 200_000;
  const begin = Float64Array.from({ length: count }, (_, i) => i * 10);
  const many = new Lane(new Int32Array(count), begin, begin.map((b) => b + 6), new Uint8Array(count));
  let steps = 0;
  stretches(many, 0, count * 10, 1200, () => void steps++);
  expect(steps).toBeLessThanOrEqual(1201);
  expect(steps).toBeGreaterThan(1100);
});

test("the bar under a point is found, and thin ones within reach", () => {
  const some = lane([[10, 20, 0], [20, 20, 0], [30, 31, 0]]);
  expect(some.at(15)).toBe(0);
  expect(some.at(25)).toBe(-1);
  expect(some.at(28, 3)).toBe(2);
  expect(some.at(32, 2)).toBe(2);
  expect(some.at(40, 3)).toBe(-1);
});

test("a row is divided into its lanes", () => {
  const trace = makeTrace([{ begin: 0, end: 10 }, { begin: 5, end: 20 }, { begin: 10, end: 15 }]);
  const lanes = lanesOf(trace, makeRow([0, 1, 2], { lanes: 2, lane: Int32Array.from([0, 1, 0]) }));
  expect(lanes.map((l) => [...l.what])).toEqual([[0, 2], [1]]);
  expect(lanes[1].end[0]).toBe(20);
});
