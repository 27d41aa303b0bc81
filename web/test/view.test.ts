import { expect, test } from "vitest";
import { bytes, duration, moment, shortName } from "../src/format";
import { actionOf, keys } from "../src/keys";
import { ticks } from "../src/ruler";
import { shadeOf, textOn } from "../src/theme";
import { View } from "../src/view";

test("the whole run is in view at first", () => {
  const view = new View(1000);
  expect(view.begin).toBeLessThanOrEqual(0);
  expect(view.end).toBeGreaterThanOrEqual(1000);
});

test("zooming keeps the time under the pointer", () => {
  const view = new View(1_000_000);
  const before = view.toPixel(300_000, 800);
  view.zoom(0.1, 300_000);
  expect(view.toPixel(300_000, 800)).toBeCloseTo(before);
  expect(view.span).toBeCloseTo(102_000);
});

test("nobody gets closer than the nanoseconds or out of the run", () => {
  const view = new View(1_000_000);
  view.zoom(1e-12, 5);
  expect(view.span).toBe(View.closest);
  view.pan(1e12);
  expect(view.end).toBe(1_010_000);
  view.zoom(1e12, 5);
  expect([view.begin, view.end]).toEqual([-10_000, 1_010_000]);
});

test("what is revealed is on the screen, at the same zoom if it fits", () => {
  const view = new View(1_000_000);
  view.set(0, 10_000);
  view.reveal(500_000, 501_000);
  expect(view.span).toBeCloseTo(10_000);
  expect(view.begin).toBeLessThan(500_000);
  expect(view.end).toBeGreaterThan(501_000);
  view.reveal(100_000, 400_000);
  expect(view.span).toBeGreaterThan(300_000);
});

test("a run without length has a view all the same", () => {
  expect(new View(0).span).toBeGreaterThan(0);
});

test("ticks are round, in one unit, and none is before the run", () => {
  const view = new View(410_000);
  expect(ticks(view, 1000).map((tick) => tick.text)).toEqual(
    ["0", "50 µs", "100 µs", "150 µs", "200 µs", "250 µs", "300 µs", "350 µs", "400 µs"]);
  view.set(100_000, 100_400);
  const texts = ticks(view, 600).map((tick) => tick.text);
  expect(new Set(texts).size).toBe(texts.length);
  expect(texts[0]).toBe("100.0 µs");
});

test("numbers are short", () => {
  expect(duration(999)).toBe("999 ns");
  expect(duration(120_000)).toBe("120 µs");
  expect(duration(4_620_000)).toBe("4.62 ms");
  expect(moment(4_123_456, 1)).toBe("4.123456 ms");
  expect(bytes(65536)).toBe("64 KiB");
  expect(shortName("void sum<float, (op)1>(float const*)")).toBe("sum<float, (op)1>");
});

test("every key has one meaning", () => {
  const all = keys.flatMap((key) => key.keys);
  expect(new Set(all).size).toBe(all.length);
  expect(actionOf("w")).toBe("closer");
  expect(actionOf("x")).toBeUndefined();
});

test("shades of a colour are colours, and text on them can be read", () => {
  for (let i = 0; i < 7; i++) expect(shadeOf("#5b7cfa", i)).toMatch(/^#[0-9a-f]{6}$/);
  expect(shadeOf("#5b7cfa", 0)).toBe("#5b7cfa");
  expect(textOn("#ffffff")).not.toBe(textOn("#000000"));
});
