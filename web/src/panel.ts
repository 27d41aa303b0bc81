// The side of the page: the chosen thing with its waits, and the findings.

import { causeOf, describe, listsEvidence, streamLabel, waitLine } from "./describe";
import { make } from "./dom";
import type { Edges, Wait } from "./edges";
import { count, duration, place } from "./format";
import type { Finding, Trace } from "./model";
import type { Thing } from "./search";

export interface PanelActions {
  select(thing: Thing): void;
  zoomTo(thing: Thing): void;
  showFinding(index: number): void;
}

const mostListed = 40;

export const swatch = (bar: number): HTMLElement => make("i", { class: `swatch bar-${bar}` });

function waitItem(trace: Trace, wait: Wait, told: string, decisive: boolean, actions: PanelActions): HTMLElement {
  const thing: Thing | undefined = wait.operation >= 0 ? { kind: "operation", what: wait.operation }
    : wait.call >= 0 ? { kind: "call", what: wait.call } : undefined;
  const { who } = waitLine(trace, wait);
  const bar = wait.operation >= 0 ? trace.operations.bar[wait.operation] : 6;
  const where = wait.operation >= 0 ? streamLabel(trace, trace.operations.stream[wait.operation]) : "";
  const button = make("button", { class: decisive ? "wait decisive" : "wait" },
    swatch(bar),
    make("span", { class: "who" }, who, where ? make("small", {}, ` ${where}`) : undefined),
    make("span", { class: "why" }, told));
  if (thing) button.addEventListener("click", () => actions.select(thing));
  else button.disabled = true;
  return make("li", {}, button);
}

export function showDetails(panel: HTMLElement, trace: Trace, edges: Edges, thing: Thing | undefined, actions: PanelActions): void {
  if (!thing) {
    panel.replaceChildren(make("h2", {}, "Nothing chosen"),
      make("p", { class: "quiet" }, "Click an operation to see what it waited for and what waited for it."));
    return;
  }
  const { title, kind, bar, fields } = describe(trace, thing);
  const zoom = make("button", { class: "small", title: "Zoom to it (f)" }, "Zoom to it");
  zoom.addEventListener("click", () => actions.zoomTo(thing));
  panel.replaceChildren(
    make("p", { class: "kind" }, swatch(bar), kind, zoom),
    make("h2", { id: "chosen", title }, title),
    make("dl", {}, ...fields.flatMap((field) => [make("dt", {}, field.name), make("dd", { title: field.value }, field.value)])));
  if (thing.kind === "call") {
    const on = trace.calls.blockedOn[thing.what];
    if (on >= 0) {
      const wait: Wait = { operation: on, call: -1, cause: 0, until: trace.calls.end[thing.what] };
      panel.append(make("h3", { class: "earlier" }, "It blocked on"),
        make("ul", { class: "waits", id: "waited-for" }, waitItem(trace, wait, "ended the wait", true, actions)));
    }
    const issued: HTMLElement[] = [];
    for (let i = 0; i < trace.operations.count && issued.length < mostListed; i++) {
      if (trace.operations.call[i] === thing.what) {
        issued.push(waitItem(trace, { operation: i, call: -1, cause: 0, until: 0 }, "", false, actions));
      }
    }
    if (issued.length) panel.append(make("h3", {}, "It issued"), make("ul", { class: "waits" }, ...issued));
    return;
  }
  if (thing.kind === "step") {
    const { operation, call } = trace.path;
    const wait: Wait = { operation: operation[thing.what], call: call[thing.what], cause: 0, until: 0 };
    if (wait.operation >= 0 || wait.call >= 0) {
      panel.append(make("h3", {}, wait.operation >= 0 ? "The operation" : "The call"),
        make("ul", { class: "waits" }, waitItem(trace, wait, "", false, actions)));
    }
  }
  if (thing.kind !== "operation") return;
  const before = edges.waitedFor(thing.what);
  const decisive = edges.decisive(thing.what);
  panel.append(make("h3", { class: "earlier" }, before.length ? `Waited for ${count(before.length, "thing")}` : "Waited for nothing"));
  if (before.length) {
    const shown = before.slice(-mostListed).reverse();
    panel.append(make("ul", { class: "waits", id: "waited-for" }, ...shown.map((wait) =>
      waitItem(trace, wait, waitLine(trace, wait).why, wait.until === decisive?.until, actions))));
  }
  const total = edges.waiterCount(thing.what);
  panel.append(make("h3", { class: "later" }, total ? `${count(total, "operation")} waited for it` : "Nothing waited for it"));
  if (total) {
    panel.append(make("ul", { class: "waits", id: "waited-by" }, ...edges.waitedBy(thing.what, mostListed).map((wait) =>
      waitItem(trace, wait, causeOf(wait), edges.decisive(wait.operation)?.operation === thing.what, actions))));
    if (total > mostListed) panel.append(make("p", { class: "quiet" }, `and ${(total - mostListed).toLocaleString("en")} more`));
  }
}

/** The causes that the critical path is made of, with their share of the run. */
export function showBound(panel: HTMLElement, trace: Trace): void {
  panel.hidden = trace.parts.length === 0;
  if (panel.hidden) return;
  const whole = Math.max(trace.head.duration, 1);
  panel.replaceChildren(make("h2", {}, "What bounded the run"), make("ul", { class: "parts" },
    ...trace.parts.slice(0, 6).map((part) => {
      const percent = (100 * part.time) / whole;
      const lines = part.places.slice(0, 2).map((at) => place(trace, at)).filter(Boolean).join(", ");
      return make("li", {},
        make("span", { class: "share" }, percent > 0 && percent < 1 ? "<1 %" : `${percent.toFixed(0)} %`),
        make("span", { class: "words" }, trace.words[part.words], make("small", {}, ` ${duration(part.time)}${lines ? `, ${lines}` : ""}`)),
        make("i", { class: "gauge", style: `width:${Math.min(percent, 100).toFixed(1)}%` }));
    })));
}

function findingCard(trace: Trace, finding: Finding, index: number, chosen: boolean, actions: PanelActions): HTMLElement {
  const lines = finding.places.slice(0, 3).map((at) => place(trace, at)).filter(Boolean).join(", ");
  const card = make("button", { class: chosen ? "finding chosen" : "finding", "aria-pressed": String(chosen) },
    make("span", { class: "cost" }, finding.cost > 0 ? duration(finding.cost) : ""),
    make("strong", {}, finding.title),
    make("span", { class: "detail" }, finding.detail),
    listsEvidence(finding, chosen) && make("span", { class: "evidence" },
      ...finding.evidence.map((line) => make("span", {}, line))),
    finding.advice ? make("span", { class: "advice" }, finding.advice) : undefined,
    lines ? make("code", {}, lines) : undefined);
  card.addEventListener("click", () => actions.showFinding(index));
  return make("li", {}, card);
}

export function showFindings(panel: HTMLElement, trace: Trace, chosen: number, actions: PanelActions): void {
  if (trace.findings.length === 0) {
    const words = trace.head.end === "complete" ? "Nothing to change was found."
      : "The program did not come to its end. Nothing to change was found up to there.";
    panel.replaceChildren(make("h2", {}, "Findings"), make("p", { class: "quiet" }, words));
    return;
  }
  panel.replaceChildren(make("h2", {}, "Findings"),
    make("ol", {}, ...trace.findings.map((finding, i) => findingCard(trace, finding, i, i === chosen, actions))));
}
