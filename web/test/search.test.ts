import { expect, test } from "vitest";
import { parseQuery, Search } from "../src/search";
import { makeRow, makeTrace } from "./sample";

const trace = makeTrace(
  [
    { begin: 100, end: 30_000, name: 0, stream: 1, call: 0 },
    { begin: 50, end: 90, kind: 1, bar: 1, bytes: 4 << 20, stream: 2, call: 1 },
    { begin: 40_000, end: 45_000, name: 1, stream: 2, call: 0 },
  ],
  {
    names: ["void scale<float>(float*)", "sum(int)"],
    callNames: ["cudaLaunchKernel", "cudaMemcpyAsync"],
    places: [["main.cu", 12], ["copy.cu", 7]],
    groups: [{ label: "Device 0", detail: "", rows: [makeRow([0]), makeRow([1, 2], { of: 2, label: "upload" })] }],
    annotations: [{ thread: 0, domain: "app", category: "", text: "Epoch 1", colour: 0, begin: 0, end: 100 }],
  },
);
trace.calls.count = 2;
trace.calls.name = Int32Array.from([0, 1]);
trace.calls.thread = Int32Array.from([0, 0]);
trace.calls.place = Int32Array.from([0, 1]);
trace.calls.begin = Float64Array.from([10, 20]);
trace.calls.end = Float64Array.from([15, 25]);
const search = new Search(trace);
const found = (text: string): string[] => search.find(text).things.map((thing) => `${thing.kind} ${thing.what}`);

test("a kernel is found by a part of its name, in any case", () => {
  expect(found("SCALE")).toEqual(["operation 0"]);
});

test("a copy is found by its direction and its size", () => {
  expect(found("copy to device")).toEqual(["operation 1"]);
  expect(found("4 mib")).toEqual(["operation 1"]);
});

test("operations are found by their stream, in the order of time", () => {
  expect(found("upload")).toEqual(["operation 1", "operation 2"]);
});

test("every word must fit", () => {
  expect(found("upload sum")).toEqual(["operation 2"]);
  expect(found("upload scale")).toEqual([]);
});

test("a source line finds its calls and their operations", () => {
  expect(found("copy.cu:7")).toEqual(["call 1", "operation 1"]);
});

test("calls and ranges are found by name", () => {
  expect(found("memcpyasync")).toEqual(["call 1"]);
  expect(found("epoch")).toEqual(["range 0"]);
});

test("durations are compared", () => {
  expect(found(">10us")).toEqual(["operation 0"]);
  expect(found("<1us kernel scale")).toEqual([]);
  expect(parseQuery(">1.5ms <2s x")).toEqual({ words: ["x"], longer: 1.5e6, shorter: 2e9 });
});

test("nothing is found for nothing", () => {
  expect(found("  ")).toEqual([]);
});

test("what is found is marked for the drawing", () => {
  const { operations, calls } = search.find("copy.cu");
  expect([...operations]).toEqual([0, 1, 0]);
  expect([...calls]).toEqual([0, 1]);
});
