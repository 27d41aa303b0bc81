import { expect, test } from "vitest";
import { decodeNumbers, decodeValues } from "../src/columns";

// The texts are those of tests/timeline/page_test.cpp.
test("a column of differences, runs and none is read back", () => {
  expect([...decodeNumbers("DAACzgTTBAU=", 6)]).toEqual([5, 5, 5, 300, 2, -1]);
});

test("times beyond 32 bits are exact, and never is -1", () => {
  expect([...decodeValues("goCAgIBAgYCAgIBAAAE=", 3)]).toEqual([2 ** 40, -1, -1]);
});

test("an empty column has nothing", () => {
  expect(decodeNumbers("", 0).length).toBe(0);
});

test("a column that is too short is refused", () => {
  expect(() => decodeNumbers("DA==", 2)).toThrow("ends too early");
});
