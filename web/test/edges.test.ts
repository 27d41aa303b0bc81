import { expect, test } from "vitest";
import { Edges } from "../src/edges";
import { makeTrace } from "./sample";

const edges = new Edges(makeTrace([
  { begin: 0, end: 10 },
  { begin: 0, end: 30 },
  { begin: 30, end: 40, waits: [{ from: 0, cause: 0, until: 10 }, { from: 1, cause: 1, until: 30 }] },
  { begin: 12, end: 20, waits: [{ from: 0, cause: 5, until: 10 }, { call: 4, cause: 7, until: 12 }] },
]));

test("what an operation waited for", () => {
  expect(edges.waitedFor(2).map((wait) => [wait.operation, wait.cause])).toEqual([[0, 0], [1, 1]]);
  expect(edges.waitedFor(0)).toEqual([]);
});

test("what waited for an operation", () => {
  expect(edges.waitedBy(0).map((wait) => [wait.operation, wait.cause])).toEqual([[2, 0], [3, 5]]);
  expect(edges.waiterCount(0)).toBe(2);
  expect(edges.waitedBy(0, 1).length).toBe(1);
  expect(edges.waiterCount(3)).toBe(0);
});

test("the wait that was over last is the decisive one, also when it is a call", () => {
  expect(edges.decisive(2)?.operation).toBe(1);
  expect(edges.decisive(3)).toMatchObject({ operation: -1, call: 4 });
  expect(edges.decisive(1)).toBeUndefined();
});
