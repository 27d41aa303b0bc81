// The whole run in a strip, with the part that is on the screen.

import { stretches } from "./lanes";
import type { Trace } from "./model";
import type { Places } from "./places";
import type { Theme } from "./theme";
import { View } from "./view";

/** The whole run; drawn once per size and theme. */
export function drawOverview(trace: Trace, places: Places, theme: Theme, width: number, height: number,
  ratio: number): HTMLCanvasElement {
  const picture = document.createElement("canvas");
  picture.width = Math.max(1, Math.round(width * ratio));
  picture.height = Math.max(1, Math.round(height * ratio));
  const context = picture.getContext("2d")!;
  context.scale(ratio, ratio);
  const whole = new View(trace.head.duration);
  // Engines say most about a run; without any, its streams do.
  let rows = places.rows.map((row, index) => ({ row, index })).filter(({ row }) => row.kind === "engine");
  if (rows.length === 0) rows = places.rows.map((row, index) => ({ row, index }));
  const strip = (height - 6) / Math.max(rows.length, 1);
  rows.forEach(({ index }, i) => {
    const top = 3 + i * strip;
    for (const lane of places.lanes[index]) {
      stretches(lane, whole.begin, whole.end, width, (s) => {
        context.globalAlpha = 0.25 + 0.6 * s.share;
        context.fillStyle = theme.bars[s.bar];
        context.fillRect(Math.floor(s.from), top, Math.max(1, Math.ceil(s.to) - Math.floor(s.from)), Math.max(strip - 1, 1));
      });
    }
  });
  return picture;
}

export function drawMinimap(context: CanvasRenderingContext2D, picture: HTMLCanvasElement, view: View, theme: Theme,
  width: number, height: number): void {
  context.clearRect(0, 0, width, height);
  context.drawImage(picture, 0, 0, width, height);
  const whole = new View(view.duration);
  const from = whole.toPixel(view.begin, width);
  const to = whole.toPixel(view.end, width);
  context.fillStyle = theme.shade;
  context.fillRect(0, 0, from, height);
  context.fillRect(to, 0, width - to, height);
  context.strokeStyle = theme.axis;
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(from + 0.75, 0.75, Math.max(to - from - 1.5, 3), height - 1.5, 4);
  context.stroke();
}
