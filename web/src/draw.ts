// The rows on the canvas. Nothing here changes the state of the page.

import { type Edges } from "./edges";
import { barLabel } from "./format";
import { stretches, type Lane } from "./lanes";
import { type Layout, type PlacedRow } from "./layout";
import { Bar, extentOf, Kind, type Trace } from "./model";
import { type Places, type Spot, thingIn } from "./places";
import { ticks } from "./ruler";
import { type Found, type Thing } from "./search";
import { shadeOf, textOn, type Theme } from "./theme";
import { type View } from "./view";

export interface Scene {
  trace: Trace;
  places: Places;
  edges: Edges;
  layout: Layout;
  view: View;
  theme: Theme;
  found?: Found;
  onPath: Uint8Array; // operations of the critical path
  onlyPath?: boolean; // everything else is dimmed
  marked?: ReadonlySet<number>; // operations of the chosen finding
  selected?: Thing;
  hovered?: Thing;
  cursor?: number; // pixel
}

export interface Canvas {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  scroll: number; // pixels of the layout above the canvas
}

/** At most so many arrows in each direction: more say nothing. */
export const mostArrows = 60;
const font = "11px system-ui, sans-serif";
const characterWidth = 6.1;

function isLit(scene: Scene, row: PlacedRow, what: number): boolean {
  const kind = row.row.kind;
  const { found, onlyPath, marked } = scene;
  if (kind === "path") return true;
  if (marked) return (kind === "stream" || kind === "engine") && marked.has(what);
  if (found) {
    const table = kind === "thread" ? found.calls : kind === "ranges" ? found.ranges : found.operations;
    return table[what] === 1;
  }
  if (onlyPath) return (kind === "stream" || kind === "engine") && scene.onPath[what] === 1;
  return true;
}

const dims = (scene: Scene): boolean => Boolean(scene.marked || scene.found || scene.onlyPath);

function drawLabel(canvas: Canvas, text: string, from: number, to: number, middle: number, colour: string): void {
  const left = Math.max(from, 0) + 5;
  const room = Math.min(to, canvas.width) - left - 4;
  const fits = Math.floor(room / characterWidth);
  if (fits < 3) return;
  const { context } = canvas;
  context.fillStyle = colour;
  context.fillText(text.length <= fits ? text : `${text.slice(0, fits - 1)}…`, left, middle);
}

function colourOf(scene: Scene, row: PlacedRow, lane: Lane, first: number, bar: number, single: boolean): string {
  const { theme, trace } = scene;
  // Several together have the plain colour of their kind.
  if (!single) return theme.bars[bar];
  if (row.row.kind === "ranges") {
    const colour = trace.annotations[lane.what[first]].colour;
    if (colour) return `#${(colour & 0xffffff).toString(16).padStart(6, "0")}`;
  }
  if (bar === Bar.kernel && row.row.kind !== "path") return shadeOf(theme.bars[bar], Math.max(0, trace.operations.name[lane.what[first]]));
  return theme.bars[bar];
}

/** Bars without an end are drawn open, those that never started as an outline. */
function drawSpecial(scene: Scene, canvas: Canvas, what: number, x: number, y: number, w: number, h: number): void {
  const { started } = scene.trace.operations;
  const { context } = canvas;
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  if (started[what] < 0) {
    context.globalAlpha = 1;
    context.fillStyle = scene.theme.background;
    context.fillRect(x + 1, y + 1, w - 2, h - 2);
  }
  context.globalAlpha = 0.55;
  context.strokeStyle = started[what] < 0 ? scene.theme.path : scene.theme.background;
  context.lineWidth = 1.5;
  context.beginPath();
  for (let at = x - h; at < x + w; at += 7) {
    context.moveTo(at, y + h);
    context.lineTo(at + h, y);
  }
  context.stroke();
  context.restore();
}

function drawLane(scene: Scene, canvas: Canvas, row: PlacedRow, lane: Lane, y: number): void {
  const { context, width } = canvas;
  const { view, theme, trace } = scene;
  const h = row.laneHeight - (row.laneHeight > 8 ? 2 : 1);
  const dimmed = dims(scene);
  const isThread = row.row.kind === "thread";
  const isWork = row.row.kind === "stream" || row.row.kind === "engine";
  // Neighbouring pixels that look the same become one rectangle.
  let runFrom = 0, runTo = -1, runColour = "", runAlpha = 0;
  const flush = (): void => {
    if (runTo <= runFrom) return;
    context.globalAlpha = runAlpha;
    context.fillStyle = runColour;
    context.fillRect(runFrom, y, runTo - runFrom, h);
    runTo = -1;
    runFrom = 0;
  };
  stretches(lane, view.begin, view.end, width, (s) => {
    const single = s.last === s.first + 1;
    let lit = !dimmed;
    for (let i = s.first; dimmed && !lit && i < s.last; i++) lit = isLit(scene, row, lane.what[i]);
    const dim = lit ? 1 : 0.16;
    const colour = colourOf(scene, row, lane, s.first, s.bar, single);
    if (s.to - s.from < 3) {
      // Even a thin bar is to be seen.
      const alpha = (lit && dimmed ? 1 : 0.35 + 0.65 * (Math.ceil(s.share * 4) / 4)) * dim;
      const from = Math.floor(s.from);
      const to = Math.max(from + 1, Math.round(s.to));
      if (from <= runTo && colour === runColour && alpha === runAlpha) {
        runTo = to;
        return;
      }
      flush();
      runFrom = from;
      runTo = to;
      runColour = colour;
      runAlpha = alpha;
      return;
    }
    flush();
    const what = lane.what[s.first];
    const x = Math.max(s.from, -2);
    const w = Math.max(Math.min(s.to, width + 2) - x, 1);
    // A gap of half a pixel keeps neighbours apart.
    const shown = w > 4 ? w - 0.75 : w;
    context.globalAlpha = dim;
    context.fillStyle = colour;
    if (shown > 6 && h > 8) {
      context.beginPath();
      context.roundRect(x, y, shown, h, Math.min(3, shown / 5));
      context.fill();
    } else {
      context.fillRect(x, y, shown, h);
    }
    if (isThread && trace.calls.blocked[what] > 0) {
      const blockedFrom = view.toPixel(lane.end[s.first] - trace.calls.blocked[what], width);
      context.fillStyle = theme.blocked;
      const from = Math.max(blockedFrom, x);
      context.fillRect(from, y + h - 5, Math.max(x + shown - from, 0), 5);
    }
    if (isWork && single && scene.onPath[what]) {
      context.fillStyle = theme.path;
      context.fillRect(x, y + h - 2, shown, 3);
    }
    if (isWork && single && trace.operations.ended[what] < 0) drawSpecial(scene, canvas, what, x, y, shown, h);
    if (h >= 11 && shown > 24) {
      context.globalAlpha = lit ? 1 : 0.35;
      const onPage = isWork && trace.operations.started[what] < 0;
      const label = onPage ? theme.text : row.row.kind === "ranges" ? textOn(colour) : theme.barText[s.bar];
      drawLabel(canvas, barLabel(trace, row.row.kind, what), x, x + shown, y + h / 2 + 0.5, label);
    }
  });
  flush();
  context.globalAlpha = 1;
}

function markColour(scene: Scene, what: number): string {
  const kind = scene.trace.operations.kind[what];
  if (kind === Kind.eventRecord) return scene.theme.later;
  if (kind === Kind.eventWait) return scene.theme.earlier;
  return scene.theme.faint;
}

/** When a mark came up: its end, or where it still waits. */
export const markTime = (trace: Trace, what: number): number => {
  const o = trace.operations;
  return o.ended[what] >= 0 ? o.ended[what] : extentOf(trace, "stream", what)[0];
};

function drawMarks(scene: Scene, canvas: Canvas, row: PlacedRow, top: number): void {
  const { context, width } = canvas;
  const { view, trace } = scene;
  let last = -10;
  for (const what of row.row.marks) {
    const time = markTime(trace, what);
    if (time < view.begin || time > view.end) continue;
    const x = view.toPixel(time, width);
    if (x - last >= 0 && x - last < 1.5) continue;
    last = x;
    const isWait = trace.operations.kind[what] === Kind.eventWait;
    context.globalAlpha = dims(scene) && !isLit(scene, row, what) ? 0.25 : 1;
    context.fillStyle = markColour(scene, what);
    // A record points down, away from its stream; a wait points up, into it.
    context.beginPath();
    context.moveTo(x - 3.5, top + (isWait ? 6 : 0.5));
    context.lineTo(x + 3.5, top + (isWait ? 6 : 0.5));
    context.lineTo(x, top + (isWait ? 0.5 : 6));
    context.fill();
  }
  context.globalAlpha = 1;
}

interface Box {
  from: number;
  to: number;
  top: number;
  bottom: number;
}

/** Where a thing is drawn, in pixels of the canvas; undefined when its row is folded. */
export function boxOf(scene: Scene, canvas: Canvas, thing: Thing, at: Spot | undefined): Box | undefined {
  if (!at) return undefined;
  const row = scene.layout.rows.find((candidate) => candidate.index === at.row);
  if (!row) return undefined;
  const isMark = at.lane < 0;
  const [begin, end] = isMark
    ? [markTime(scene.trace, thing.what), markTime(scene.trace, thing.what)]
    : extentOf(scene.trace, row.row.kind, thing.what);
  const top = (isMark ? row.marksTop : row.lanesTop + at.lane * row.laneHeight) - canvas.scroll;
  return {
    from: scene.view.toPixel(begin, canvas.width),
    to: scene.view.toPixel(end, canvas.width),
    top,
    bottom: top + (isMark ? 6 : row.laneHeight - (row.laneHeight > 8 ? 2 : 1)),
  };
}

function outline(canvas: Canvas, box: Box | undefined, colour: string, line: number): void {
  if (!box || box.to < -20 || box.from > canvas.width + 20) return;
  const { context } = canvas;
  const from = Math.max(box.from, -10);
  const to = Math.min(box.to, canvas.width + 10);
  context.strokeStyle = colour;
  context.lineWidth = line;
  const thin = to - from < 7;
  context.beginPath();
  context.roundRect(from - (thin ? 3 : 1), box.top - 1, to - from + (thin ? 6 : 1.25), box.bottom - box.top + 2, 4);
  context.stroke();
}

/** From the end of one to the begin of the other. */
function arrow(canvas: Canvas, from: Box, to: Box, colour: string, solid: boolean): void {
  const { context } = canvas;
  const x1 = from.to, x2 = to.from;
  // Next to each other they need no arrow: both have a frame.
  if (Math.abs(x2 - x1) < 6 && Math.abs(from.bottom - to.bottom) < 14) return;
  const y1 = (from.top + from.bottom) / 2, y2 = (to.top + to.bottom) / 2;
  if ((x1 < -2000 && x2 < -2000) || (x1 > canvas.width + 2000 && x2 > canvas.width + 2000)) return;
  const bend = Math.min(Math.max(Math.abs(x2 - x1) / 2, 16), 90);
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = solid ? 2 : 1.2;
  context.setLineDash(solid ? [] : [4, 3]);
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 5, y2);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 8, y2 - 4);
  context.lineTo(x2 - 8, y2 + 4);
  context.fill();
}

/** How long the chosen operation was in its stream before it started. */
function drawWaiting(scene: Scene, canvas: Canvas, operation: number, home: Box): void {
  const { queued, called, started } = scene.trace.operations;
  const since = queued[operation] >= 0 ? queued[operation] : called[operation];
  if (since < 0 || started[operation] <= since) return;
  const { context } = canvas;
  const x = scene.view.toPixel(since, canvas.width);
  const y = home.bottom - 2.5;
  context.strokeStyle = context.fillStyle = scene.theme.selected;
  context.globalAlpha = 0.55;
  context.lineWidth = 1.5;
  context.setLineDash([2, 3]);
  context.beginPath();
  context.moveTo(Math.max(x, -10), y);
  context.lineTo(home.from, y);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.arc(x, y, 3, 0, 7);
  context.fill();
  context.globalAlpha = 1;
}

function drawSelection(scene: Scene, canvas: Canvas): void {
  const { selected, hovered, places, edges, theme } = scene;
  const { context } = canvas;
  if (hovered && hovered.kind === "operation") {
    outline(canvas, boxOf(scene, canvas, hovered, places.engine(hovered.what)), theme.faint, 1.5);
  }
  if (hovered) outline(canvas, boxOf(scene, canvas, hovered, places.home(hovered)), theme.faint, 1.5);
  if (!selected) return;
  const home = boxOf(scene, canvas, selected, places.home(selected));
  if (selected.kind === "operation") {
    const decisive = edges.decisive(selected.what);
    const homeOf = (operation: number): Box | undefined => {
      const thing: Thing = { kind: "operation", what: operation };
      return boxOf(scene, canvas, thing, places.home(thing));
    };
    context.globalAlpha = 0.9;
    for (const wait of edges.waitedBy(selected.what, mostArrows)) {
      const to = homeOf(wait.operation);
      if (!home || !to) continue;
      arrow(canvas, home, to, theme.later, edges.decisive(wait.operation)?.operation === selected.what);
      outline(canvas, to, theme.later, 1.5);
    }
    for (const wait of edges.waitedFor(selected.what).slice(-mostArrows)) {
      const isCall = wait.operation < 0;
      const thing: Thing = isCall ? { kind: "call", what: wait.call } : { kind: "operation", what: wait.operation };
      const from = thing.what >= 0 ? boxOf(scene, canvas, thing, places.home(thing)) : undefined;
      if (!home || !from) continue;
      arrow(canvas, from, home, theme.earlier, wait.operation === decisive?.operation && wait.call === decisive?.call);
      outline(canvas, from, theme.earlier, 1.5);
    }
    context.globalAlpha = 1;
    if (home) drawWaiting(scene, canvas, selected.what, home);
    const engine = boxOf(scene, canvas, selected, places.engine(selected.what));
    if (engine !== home) outline(canvas, engine, theme.selected, 1.5);
  }
  outline(canvas, home, theme.selected, 2.5);
}

export function drawRuler(scene: Scene, canvas: Canvas): void {
  const { context, width, height } = canvas;
  context.clearRect(0, 0, width, height);
  context.font = font;
  context.textBaseline = "middle";
  for (const tick of ticks(scene.view, width)) {
    const x = Math.round(scene.view.toPixel(tick.time, width)) + 0.5;
    context.strokeStyle = scene.theme.faint;
    context.beginPath();
    context.moveTo(x, height - 5);
    context.lineTo(x, height);
    context.stroke();
    context.fillStyle = scene.theme.axis;
    context.textAlign = x < 20 ? "left" : x > width - 30 ? "right" : "center";
    context.fillText(tick.text, x, height / 2 - 1);
  }
  context.textAlign = "left";
}

export function drawRows(scene: Scene, canvas: Canvas): void {
  const { context, width, height, scroll } = canvas;
  const { theme, layout, view, places } = scene;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  context.strokeStyle = theme.grid;
  context.lineWidth = 1;
  context.beginPath();
  for (const tick of ticks(view, width)) {
    const x = Math.round(view.toPixel(tick.time, width)) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, height);
  }
  context.stroke();
  context.font = font;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const group of layout.groups) {
    context.fillStyle = theme.groupBand;
    context.fillRect(0, group.top - scroll, width, group.height);
  }
  for (const row of layout.rows) {
    const top = row.top - scroll;
    if (top > height || top + row.height < 0) continue;
    context.fillStyle = theme.rowLine;
    context.fillRect(0, top + row.height - 1, width, 1);
    places.lanes[row.index].forEach((lane, i) => {
      const y = row.lanesTop + i * row.laneHeight - scroll;
      if (y < height && y + row.laneHeight > 0) drawLane(scene, canvas, row, lane, y);
    });
    if (row.row.marks.length) drawMarks(scene, canvas, row, row.marksTop - scroll);
  }
  // Before the run and after it.
  context.fillStyle = theme.groupBand;
  context.fillRect(0, 0, view.toPixel(0, width), height);
  const end = view.toPixel(view.duration, width);
  context.fillRect(end, 0, Math.max(width - end, 0), height);
  if (scene.cursor !== undefined) {
    context.fillStyle = theme.faint;
    context.globalAlpha = 0.6;
    context.fillRect(Math.round(scene.cursor), 0, 1, height);
    context.globalAlpha = 1;
  }
  drawSelection(scene, canvas);
}

/** What is under a point of the canvas. */
export function thingAt(scene: Scene, canvas: Canvas, row: PlacedRow, x: number, y: number): Thing | undefined {
  const { view, places, trace } = scene;
  const time = view.toTime(x, canvas.width);
  const slack = (view.span / canvas.width) * 3;
  const height = y + canvas.scroll;
  if (row.row.marks.length && height >= row.marksTop - 1) {
    let best: number | undefined;
    let nearest = slack * 2;
    for (const what of row.row.marks) {
      const distance = Math.abs(markTime(trace, what) - time);
      if (distance <= nearest) {
        nearest = distance;
        best = what;
      }
    }
    return best === undefined ? undefined : { kind: "operation", what: best };
  }
  const lane = places.lanes[row.index][Math.floor((height - row.lanesTop) / row.laneHeight)];
  const index = lane ? lane.at(time, slack) : -1;
  return index < 0 ? undefined : thingIn(row.row.kind, lane.what[index]);
}
