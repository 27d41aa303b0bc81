// The page: its state, and what happens when someone points, scrolls or presses a key.

import { describe, streamLabel, summary, waitLine } from "./describe";
import { byId, fitCanvas, make } from "./dom";
import { drawRows, drawRuler, markTime, thingAt, type Canvas, type Scene } from "./draw";
import { Edges } from "./edges";
import { barLabel, count, duration, innerCopies, moment } from "./format";
import { actionOf, keys } from "./keys";
import { layOut, rowAt, titleHeight } from "./layout";
import { Bar, barNames, extentOf, type Trace } from "./model";
import { drawMinimap, drawOverview } from "./minimap";
import { showBound, showDetails, showFindings, swatch, type PanelActions } from "./panel";
import { Places, thingIn } from "./places";
import { Search, type Thing } from "./search";
import { firstTheme, keepTheme, themes, type ThemeName } from "./theme";
import { View } from "./view";

const minimapHeight = 46;
const rulerHeight = 26;

export class App implements PanelActions {
  private readonly scene: Scene;
  private readonly search: Search;
  private readonly folded = new Set<number>();
  private themeName: ThemeName = firstTheme();
  private overview?: HTMLCanvasElement;
  private match = -1;
  private chosenFinding = -1;
  private drawing = false;
  private moving = 0; // the animation that is under way
  private readonly rows = byId("rows");
  private readonly labels = byId("labels");
  private readonly tip = byId("tip");
  private readonly input = byId<HTMLInputElement>("search");
  private readonly canvas = byId<HTMLCanvasElement>("canvas");
  private readonly ruler = byId<HTMLCanvasElement>("ruler");
  private readonly minimap = byId<HTMLCanvasElement>("minimap");

  constructor(private readonly trace: Trace) {
    this.scene = {
      trace,
      places: new Places(trace),
      edges: new Edges(trace),
      layout: layOut(trace, this.folded),
      view: new View(trace.head.duration),
      theme: themes[this.themeName],
      onPath: new Uint8Array(trace.operations.count),
    };
    for (const operation of trace.path.operation) if (operation >= 0) this.scene.onPath[operation] = 1;
    this.search = new Search(trace);
  }

  start(): void {
    document.title = `${this.trace.head.program || "Streambed"} – timeline`;
    byId("program").textContent = this.trace.head.program || "Timeline";
    byId("summary").textContent = summary(this.trace);
    byId("path").hidden = this.trace.path.count === 0;
    showBound(byId("bound"), this.trace);
    this.showLegend();
    this.showKeys();
    this.showLabels();
    showDetails(byId("details"), this.trace, this.scene.edges, undefined, this);
    showFindings(byId("findings"), this.trace, -1, this);
    this.setTheme(this.themeName);
    this.listen();
    new ResizeObserver(() => this.resized()).observe(this.rows);
    document.documentElement.dataset.ready = "true";
  }

  // ---- drawing

  private width(): number {
    return Math.max(this.rows.clientWidth - this.labels.offsetWidth, 50);
  }

  private canvasNow(): Canvas {
    const context = fitCanvas(this.canvas, this.width(), this.rows.clientHeight);
    return { context, width: this.width(), height: this.rows.clientHeight, scroll: this.rows.scrollTop };
  }

  draw(): void {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.drawNow();
    });
  }

  private drawNow(): void {
    const began = performance.now();
    const width = this.width();
    drawRows(this.scene, this.canvasNow());
    const ruler = fitCanvas(this.ruler, width, rulerHeight);
    drawRuler(this.scene, { context: ruler, width, height: rulerHeight, scroll: 0 });
    const map = fitCanvas(this.minimap, width, minimapHeight);
    this.overview ??= drawOverview(this.trace, this.scene.places, this.scene.theme, width, minimapHeight, devicePixelRatio || 1);
    drawMinimap(map, this.overview, this.scene.view, this.scene.theme, width, minimapHeight);
    const { view } = this.scene;
    byId("span").textContent = `${duration(view.span)} in view`;
    Object.assign(this.rows.dataset, {
      begin: String(Math.round(view.begin)), end: String(Math.round(view.end)),
      drawn: (performance.now() - began).toFixed(2),
    });
  }

  private resized(): void {
    this.layAgain();
    this.overview = undefined;
    this.draw();
  }

  /** Moves the view there in a few frames, so that one sees where one goes. */
  private glide(change: (view: View) => void): void {
    const { view } = this.scene;
    const [b0, e0] = [view.begin, view.end];
    change(view);
    const [b1, e1] = [view.begin, view.end];
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.draw();
    const began = performance.now();
    const turn = ++this.moving;
    const frame = (now: number): void => {
      if (turn !== this.moving) return;
      const share = Math.min(Math.max((now - began) / 180, 0), 1);
      const eased = 1 - (1 - share) ** 3;
      // Lengths are interpolated as factors: zooming in feels even.
      const span = (e0 - b0) * ((e1 - b1) / (e0 - b0)) ** eased;
      const middle = span > 0 && Math.abs(e1 - b1 - (e0 - b0)) > 1
        ? (span - (e0 - b0)) / (e1 - b1 - (e0 - b0)) : eased;
      view.begin = b0 + (b1 - b0) * middle;
      view.end = view.begin + span;
      if (share === 1) [view.begin, view.end] = [b1, e1];
      this.drawNow();
      if (share < 1) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  private moveNow(change: (view: View) => void): void {
    this.moving++;
    change(this.scene.view);
    this.draw();
  }

  // ---- parts of the page

  private showLabels(): void {
    const { layout } = this.scene;
    const parts: HTMLElement[] = [];
    for (const group of layout.groups) {
      const title = make("button", {
        class: "group", style: `top:${group.top}px;height:${titleHeight}px`, "aria-expanded": String(!group.folded),
      }, make("b", {}, group.group.label), make("span", {}, group.group.detail));
      title.addEventListener("click", () => this.fold(group.index));
      parts.push(title);
    }
    for (const row of layout.rows) {
      const more = row.row.leftOut > 0 ? `${count(row.row.leftOut, "more", "more")} not drawn` : row.row.detail;
      parts.push(make("div", {
        class: `row ${row.row.kind}`, style: `top:${row.top}px;height:${row.height}px`,
        title: [row.row.label, more].filter(Boolean).join(", "),
      }, make("span", {}, row.row.label), make("small", {}, more)));
    }
    this.labels.replaceChildren(...parts);
    this.labels.style.height = `${layout.height}px`;
  }

  private fold(group: number): void {
    if (!this.folded.delete(group)) this.folded.add(group);
    this.layAgain();
    this.draw();
  }

  private layAgain(): void {
    this.scene.layout = layOut(this.trace, this.folded, this.rows.clientHeight);
    this.showLabels();
  }

  private showLegend(): void {
    const used = new Set<number>(this.trace.operations.bar);
    if (this.trace.calls.count) used.add(6);
    const entries = barNames.map((name, bar) => ({ name, bar })).filter(({ name, bar }) => used.has(bar) && name !== "other");
    const items: HTMLElement[] = entries.map(({ name, bar }) =>
      make("span", {}, swatch(bar), bar === Bar.onDevice ? innerCopies(this.trace) : name));
    if (this.trace.calls.blocked.some((time) => time > 0)) {
      items.push(make("span", {}, make("i", { class: "swatch blocked" }), "call waits"));
    }
    const kinds = new Set(this.trace.operations.kind);
    if (kinds.has(4)) items.push(make("span", {}, make("i", { class: "later-text" }, "▾"), "event record"));
    if (kinds.has(5)) items.push(make("span", {}, make("i", { class: "earlier-text" }, "▴"), "event wait"));
    items.push(make("span", { class: "arrows" }, make("i", { class: "line waiting-line" }), "in its stream", make("i", { class: "line earlier-line" }), "waited for",
      make("i", { class: "line later-line" }), "waited by"));
    byId("legend").replaceChildren(...items);
  }

  private showKeys(): void {
    const close = make("button", { class: "small" }, "Close");
    const dialog = byId<HTMLDialogElement>("keys");
    close.addEventListener("click", () => dialog.close());
    dialog.replaceChildren(make("h2", {}, "Keys"),
      make("dl", {}, ...keys.flatMap((key) => [make("dt", {}, make("kbd", {}, key.shown)), make("dd", {}, key.words)])),
      make("p", { class: "quiet" }, "Wheel with Ctrl zooms, with Shift moves in time; dragging moves; a double click zooms to an operation."),
      close);
  }

  private setTheme(name: ThemeName): void {
    this.themeName = name;
    this.scene.theme = themes[name];
    document.documentElement.dataset.theme = name;
    const root = document.documentElement.style;
    this.scene.theme.bars.forEach((colour, bar) => root.setProperty(`--bar-${bar}`, colour));
    root.setProperty("--blocked", this.scene.theme.blocked);
    root.setProperty("--earlier", this.scene.theme.earlier);
    root.setProperty("--later", this.scene.theme.later);
    root.setProperty("--path", this.scene.theme.path);
    this.overview = undefined;
    this.draw();
  }

  // ---- choosing

  private begin(thing: Thing): [number, number] {
    const home = this.scene.places.home(thing);
    if (thing.kind === "operation" && home && home.lane < 0) {
      const time = markTime(this.trace, thing.what);
      return [time, time];
    }
    const rows = { call: "thread", range: "ranges", step: "path", operation: "stream" } as const;
    return extentOf(this.trace, rows[thing.kind], thing.what);
  }

  select(thing: Thing | undefined): void {
    this.scene.selected = thing;
    showDetails(byId("details"), this.trace, this.scene.edges, thing, this);
    byId("side").scrollTop = 0;
    if (thing) {
      this.scrollTo(thing);
      const [from, to] = this.begin(thing);
      const { view } = this.scene;
      if (to < view.begin || from > view.end || to - from < view.span / 400) {
        return this.glide((v) => {
          // Too thin to be seen: come closer as well.
          if (to - from < v.span / 400 && to > from) v.set(from - (to - from) * 40, to + (to - from) * 40);
          else v.reveal(from, to);
        });
      }
    }
    this.draw();
  }

  zoomTo(thing: Thing): void {
    this.scrollTo(thing);
    const [from, to] = this.begin(thing);
    this.glide((view) => view.fit(from, to > from ? to : from + View.closest));
  }

  private scrollTo(thing: Thing): void {
    const home = this.scene.places.home(thing);
    if (!home) return;
    let row = this.scene.layout.rows.find((candidate) => candidate.index === home.row);
    if (!row) {
      let group = 0;
      for (let seen = 0; group < this.trace.groups.length; group++) {
        seen += this.trace.groups[group].rows.length;
        if (home.row < seen) break;
      }
      this.fold(group);
      row = this.scene.layout.rows.find((candidate) => candidate.index === home.row);
    }
    if (!row) return;
    const { scrollTop, clientHeight } = this.rows;
    if (row.top < scrollTop) this.rows.scrollTop = row.top - titleHeight;
    else if (row.top + row.height > scrollTop + clientHeight) this.rows.scrollTop = row.top + row.height - clientHeight + 8;
  }

  showFinding(index: number): void {
    this.chosenFinding = this.chosenFinding === index ? -1 : index;
    const finding = this.trace.findings[this.chosenFinding];
    this.scene.marked = finding && finding.operations.length ? new Set(finding.operations) : undefined;
    showFindings(byId("findings"), this.trace, this.chosenFinding, this);
    if (!finding) return this.draw();
    if (finding.operations.length) this.scrollTo({ kind: "operation", what: finding.operations[0] });
    // With something of what is around it, which is mostly what it waited for.
    const room = (finding.to - finding.from) * 0.4;
    this.glide((view) => view.fit(finding.from - room, finding.to + room));
  }

  private togglePath(): void {
    if (this.trace.path.count === 0) return;
    this.scene.onlyPath = !this.scene.onlyPath;
    byId("path").setAttribute("aria-pressed", String(this.scene.onlyPath));
    this.draw();
  }

  // ---- search

  private lookFor(text: string): void {
    const found = text.trim() ? this.search.find(text) : undefined;
    this.scene.found = found;
    this.forgetPointer();
    this.match = -1;
    const things = found?.things.length ?? 0;
    byId("matches").textContent = found ? (things ? count(things, "match", "matches") : "no match") : "";
    for (const id of ["previous", "next"]) byId<HTMLButtonElement>(id).disabled = things === 0;
    this.draw();
  }

  private goToMatch(by: number): void {
    const things = this.scene.found?.things;
    if (!things?.length) return;
    this.forgetPointer();
    this.match = this.match < 0 ? (by > 0 ? 0 : things.length - 1) : (this.match + by + things.length) % things.length;
    byId("matches").textContent = `${(this.match + 1).toLocaleString("en")} of ${things.length.toLocaleString("en")}`;
    this.select(things[this.match]);
  }

  // ---- following

  private neighbour(by: number): void {
    const { selected, places } = this.scene;
    if (!selected) {
      const first = this.scene.layout.rows.find((row) => row.row.kind === "stream" && row.row.what.length);
      if (first) this.select(thingIn(first.row.kind, first.row.what[0]));
      return;
    }
    const home = places.home(selected);
    if (!home) return;
    const row = places.rows[home.row];
    const list = home.lane < 0 ? row.marks : row.what;
    const next = list[list.indexOf(selected.what) + by];
    if (next !== undefined) this.select(thingIn(row.kind, next));
  }

  private follow(direction: "cause" | "effect"): void {
    const { selected, edges } = this.scene;
    if (selected?.kind === "call" && direction === "cause") {
      const on = this.trace.calls.blockedOn[selected.what];
      if (on >= 0) this.select({ kind: "operation", what: on });
    }
    if (selected?.kind !== "operation") return;
    const wait = direction === "cause" ? edges.decisive(selected.what) : edges.waitedBy(selected.what, 1)[0];
    if (wait && wait.operation >= 0) this.select({ kind: "operation", what: wait.operation });
    else if (wait && wait.call >= 0) this.select({ kind: "call", what: wait.call });
  }

  act(action: string): void {
    const { view } = this.scene;
    const middle = (view.begin + view.end) / 2;
    const actions: Record<string, () => void> = {
      closer: () => this.glide((v) => v.zoom(0.5, middle)),
      further: () => this.glide((v) => v.zoom(2, middle)),
      left: () => this.glide((v) => v.pan(-v.span * 0.25)),
      right: () => this.glide((v) => v.pan(v.span * 0.25)),
      up: () => (this.rows.scrollTop -= 60),
      down: () => (this.rows.scrollTop += 60),
      all: () => this.glide((v) => v.fitAll()),
      fit: () => this.scene.selected && this.zoomTo(this.scene.selected),
      before: () => this.neighbour(-1),
      after: () => this.neighbour(1),
      cause: () => this.follow("cause"),
      effect: () => this.follow("effect"),
      search: () => (this.input.focus(), this.input.select()),
      next: () => this.goToMatch(1),
      previous: () => this.goToMatch(-1),
      path: () => this.togglePath(),
      theme: () => {
        this.setTheme(this.themeName === "light" ? "dark" : "light");
        keepTheme(this.themeName);
      },
      help: () => byId<HTMLDialogElement>("keys").showModal(),
      clear: () => {
        this.input.value = "";
        this.lookFor("");
        if (this.scene.onlyPath) this.togglePath();
        if (this.chosenFinding >= 0) this.showFinding(this.chosenFinding);
        this.select(undefined);
      },
    };
    actions[action]?.();
  }

  // ---- events

  private listen(): void {
    document.addEventListener("keydown", (event) => this.pressed(event));
    this.input.addEventListener("input", () => this.lookFor(this.input.value));
    for (const id of ["path", "theme", "help", "next", "previous", "all"]) byId(id).addEventListener("click", () => this.act(id));
    this.rows.addEventListener("scroll", () => this.draw(), { passive: true });
    this.listenRows();
    this.listenMinimap();
    addEventListener("resize", () => this.resized());
  }

  private pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || byId<HTMLDialogElement>("keys").open) return;
    if (event.target === this.input) {
      if (event.key === "Enter") this.goToMatch(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") (this.act("clear"), this.rows.focus());
      else return;
      return event.preventDefault();
    }
    const action = actionOf(event.key);
    // Enter on a button presses it.
    if (!action || (event.key === "Enter" && event.target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    this.act(action);
  }

  private listenRows(): void {
    let drag: { x: number; y: number; moved: boolean } | undefined;
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      drag = { x: event.clientX, y: event.clientY, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!drag) return this.hover(event);
      const dx = event.clientX - drag.x;
      if (!drag.moved && Math.abs(dx) + Math.abs(event.clientY - drag.y) < 4) return;
      drag.moved = true;
      this.canvas.classList.add("dragging");
      this.tip.hidden = true;
      this.rows.scrollTop -= event.clientY - drag.y;
      this.moveNow((view) => view.pan((-dx / this.width()) * view.span));
      drag.x = event.clientX;
      drag.y = event.clientY;
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.select(this.under(event));
      drag = undefined;
      this.canvas.classList.remove("dragging");
    });
    this.canvas.addEventListener("pointercancel", () => (drag = undefined));
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("dblclick", (event) => {
      const thing = this.under(event);
      if (thing) this.zoomTo(thing);
    });
    const wheel = (event: WheelEvent): void => {
      const scrolls = this.scene.layout.height > this.rows.clientHeight;
      const sideways = event.shiftKey ? event.deltaY + event.deltaX : event.deltaX;
      const zooms = event.ctrlKey || event.metaKey || event.altKey || (!event.shiftKey && (!scrolls || event.currentTarget !== this.rows));
      if (zooms && event.deltaY !== 0) {
        event.preventDefault();
        const x = event.clientX - this.canvas.getBoundingClientRect().left;
        const step = event.deltaMode === 1 ? event.deltaY * 20 : event.deltaY;
        this.moveNow((view) => view.zoom(Math.exp(Math.min(Math.max(step, -240), 240) * 0.0035), view.toTime(x, this.width())));
      } else if (Math.abs(sideways) > 0) {
        event.preventDefault();
        this.moveNow((view) => view.pan((sideways / this.width()) * view.span));
      }
    };
    for (const element of [this.rows, this.ruler, this.minimap]) element.addEventListener("wheel", wheel, { passive: false });
  }

  private listenMinimap(): void {
    const whole = new View(this.trace.head.duration);
    let held: number | undefined; // where in the view it was taken
    const timeAt = (event: PointerEvent): number =>
      whole.toTime(event.clientX - this.minimap.getBoundingClientRect().left, this.width());
    this.minimap.addEventListener("pointerdown", (event) => {
      const { view } = this.scene;
      const time = timeAt(event);
      held = time >= view.begin && time <= view.end ? time - view.begin : view.span / 2;
      this.minimap.setPointerCapture(event.pointerId);
      this.moveNow((v) => v.pan(time - held! - v.begin));
    });
    this.minimap.addEventListener("pointermove", (event) => {
      if (held !== undefined) this.moveNow((view) => view.pan(timeAt(event) - held! - view.begin));
    });
    for (const end of ["pointerup", "pointercancel"]) this.minimap.addEventListener(end, () => (held = undefined));
  }

  private under(event: MouseEvent): Thing | undefined {
    const box = this.canvas.getBoundingClientRect();
    const y = event.clientY - box.top;
    const row = rowAt(this.scene.layout, y + this.rows.scrollTop);
    return row && thingAt(this.scene, this.canvasNow(), row, event.clientX - box.left, y);
  }

  private leave(): void {
    byId("cursor").textContent = "";
    this.scene.cursor = undefined;
    this.forgetPointer();
    this.draw();
  }

  /** What it was over may be elsewhere now, until it moves. */
  private forgetPointer(): void {
    this.scene.hovered = undefined;
    this.tip.hidden = true;
  }

  private hover(event: PointerEvent): void {
    const thing = this.under(event);
    this.scene.hovered = thing;
    this.scene.cursor = event.clientX - this.canvas.getBoundingClientRect().left;
    byId("cursor").textContent = `at ${moment(this.scene.view.toTime(this.scene.cursor, this.width()), this.scene.view.span / this.width())}`;
    this.canvas.classList.toggle("over", Boolean(thing));
    this.tip.hidden = !thing;
    if (thing) this.showTip(thing, event.clientX, event.clientY);
    this.draw();
  }

  private showTip(thing: Thing, x: number, y: number): void {
    const { trace, edges } = this.scene;
    const { title, bar, kind, fields } = describe(trace, thing);
    const short = fields.filter(({ name }) => ["started", "began", "duration", "state", "failed", "size", "grid", "reads", "writes", "of that waiting", "because"].includes(name));
    const children: HTMLElement[] = [
      make("h3", {}, swatch(bar), title),
      make("p", {}, kind, thing.kind === "operation" ? ` · ${streamLabel(trace, trace.operations.stream[thing.what])}` : ""),
      make("dl", {}, ...short.flatMap((field) => [make("dt", {}, field.name), make("dd", {}, field.value)])),
    ];
    if (thing.kind === "operation") {
      const waits = edges.waitedFor(thing.what);
      const lines = waits.slice(-3).reverse().map((wait) => {
        const { who, why } = waitLine(trace, wait);
        return make("li", {}, make("b", {}, who), ` ${why}, until ${moment(wait.until, 10)}`);
      });
      if (waits.length > 3) lines.push(make("li", {}, `and ${waits.length - 3} more`));
      if (lines.length) children.push(make("ul", { class: "tip-waits" }, ...lines));
      const waiters = edges.waiterCount(thing.what);
      if (waiters) children.push(make("p", { class: "tip-later" }, `${count(waiters, "operation")} waited for it`));
    } else if (thing.kind === "call" && trace.calls.blockedOn[thing.what] >= 0) {
      const on = trace.calls.blockedOn[thing.what];
      children.push(make("ul", { class: "tip-waits" }, make("li", {}, "blocked on ", make("b", {}, barLabel(trace, "stream", on)),
        ` for ${duration(trace.calls.blocked[thing.what])}`)));
    }
    this.tip.replaceChildren(...children);
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(4, x + 16 + box.width > innerWidth ? x - box.width - 12 : x + 16)}px`;
    this.tip.style.top = `${Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18)}px`;
  }
}
