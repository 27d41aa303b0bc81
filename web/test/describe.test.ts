import { expect, test } from "vitest";
import { describe, listsEvidence, queueLabel } from "../src/describe";
import { innerCopies } from "../src/format";
import { makeTrace } from "./sample";

const trace = makeTrace(
  [
    {
      begin: 0, end: 10, kind: 1, bar: 1, bytes: 256, queue: 67,
      ranges: [{ allocation: 1, how: 5, offset: 0, bytes: 1024 }, { allocation: 0, how: 6, offset: 512, bytes: 256 }],
    },
    { begin: 10, end: 20, name: 0, status: 700, ranges: [{ allocation: 0, how: 3, offset: 0, bytes: 4096 }] },
  ],
  {
    names: ["scale"],
    allocations: { count: 2, kind: Int32Array.from([0, 1]), bytes: Float64Array.from([4096, 1024]) },
  },
);

const fieldOf = (what: number, name: string): string | undefined =>
  describe(trace, { kind: "operation", what }).fields.find((field) => field.name === name)?.value;

test("a copy's bytes are told exactly", () => {
  expect(fieldOf(0, "reads")).toBe("pinned memory 1, all 1 KiB");
  expect(fieldOf(0, "writes")).toBe("device memory 0, bytes 512 to 768");
  expect(fieldOf(0, "failed")).toBeUndefined();
});

test("a kernel touches something of an allocation", () => {
  expect(fieldOf(1, "reads")).toBe("device memory 0, somewhere in its 4 KiB");
  expect(fieldOf(1, "writes")).toBe("device memory 0, somewhere in its 4 KiB");
});

test("an operation that failed says with what", () => {
  expect(fieldOf(1, "failed")).toBe("cudaErrorIllegalAddress");
});

test("a queue is told by its number and what it carries", () => {
  expect(fieldOf(0, "queue")).toBe("2, copies to the host");
  expect(fieldOf(1, "queue")).toBeUndefined();
  expect([1, 8, 33, 68].map(queueLabel)).toEqual(["0", "7", "0, copies to the device", "3, copies to the host"]);
});

test("what a finding leads up to is listed before it is chosen, other evidence when it is", () => {
  const ring = { detail: "These wait for each other in a ring:", evidence: ["a waits for b", "b waits for a"] };
  const cost = { detail: "Copies of one direction never overlap.", evidence: ["a waited for b"] };
  expect([ring, cost].map((finding) => listsEvidence(finding, false))).toEqual([true, false]);
  expect([ring, cost].map((finding) => listsEvidence(finding, true))).toEqual([true, true]);
  expect(listsEvidence({ ...ring, evidence: [] }, true)).toBe(false);
});

test("a copy between devices is none on a device", () => {
  const within = { begin: 0, end: 10, kind: 1, bar: 3, direction: 2 };
  const peer = { begin: 20, end: 30, kind: 1, bar: 3, direction: 3 };
  const both = makeTrace([within, peer]);
  expect([0, 1].map((what) => describe(both, { kind: "operation", what }).kind)).toEqual(["copy on device", "copy between devices"]);
  expect([[within], [peer], [within, peer]].map((work) => innerCopies(makeTrace(work))))
    .toEqual(["copy on device", "copy between devices", "copy on or between devices"]);
});
