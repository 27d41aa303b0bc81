// The time axis: round steps in a fitting unit.

import { scaleLinear } from "d3-scale";
import { unitFor } from "./format";
import type { View } from "./view";

export interface Tick {
  time: number;
  text: string;
}

export function ticks(view: View, width: number): Tick[] {
  const times = scaleLinear().domain([view.begin, view.end]).ticks(Math.max(2, Math.floor(width / 110)));
  // Times are whole nanoseconds, and the run begins at 0.
  const whole = times.filter((time) => time >= 0 && Math.abs(time - Math.round(time)) < 1e-6);
  const step = whole.length > 1 ? whole[1] - whole[0] : view.span;
  const unit = unitFor(Math.max(step * 2, Math.abs(view.end) / 100, 1));
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit.size / Math.max(step, 1)) - 1e-9)));
  return whole.map((time) => ({
    time,
    text: time === 0 ? "0" : `${(time / unit.size).toFixed(digits)} ${unit.name}`,
  }));
}
