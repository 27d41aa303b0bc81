// Numbers as people read them. Times are nanoseconds.

import { Bar, barNames, type RowKind, type Trace, kindNames, Kind } from "./model";

export interface Unit {
  name: string;
  size: number;
}
const units: Unit[] = [
  { name: "ns", size: 1 },
  { name: "µs", size: 1e3 },
  { name: "ms", size: 1e6 },
  { name: "s", size: 1e9 },
];

/** The unit in which times of this size have a few digits before the point. */
export function unitFor(time: number): Unit {
  let best = units[0];
  for (const unit of units) if (time >= unit.size * 0.9995) best = unit;
  return best;
}

export function duration(time: number): string {
  if (time < 0) return "never";
  if (time === 0) return "0";
  const unit = unitFor(time);
  const value = time / unit.size;
  const digits = unit.size === 1 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${unit.name}`;
}

/** A point in time, exact to the nanosecond where the view is that close. */
export function moment(time: number, step: number): string {
  if (time < 0) return "never";
  const unit = unitFor(Math.max(Math.abs(time), 1));
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit.size / Math.max(step, 1)))));
  return `${(time / unit.size).toFixed(digits)} ${unit.name}`;
}

export function bytes(count: number): string {
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit + 1 < names.length) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(value < 10 && unit > 0 ? 1 : 0).replace(/\.0$/, "")} ${names[unit]}`;
}

export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** A kernel's name without its parameters; as short_name in src/tools/timeline_rows.cpp. */
export function shortName(name: string): string {
  let depth = 0;
  const anonymous = "(anonymous namespace)";
  for (let i = 0; i < name.length; i++) {
    if (name.startsWith(anonymous, i)) i += anonymous.length - 1;
    else if (name[i] === "<") depth++;
    else if (name[i] === ">") depth--;
    else if (name[i] === "(" && depth <= 0) {
      name = name.slice(0, i);
      break;
    }
  }
  return name.startsWith("void ") ? name.slice(5) : name;
}

const directions = ["copy to device", "copy to host", "copy on device", "copy between devices", "copy on host"];

const between = 3; // in directions

/** What a bar of this operation is called. */
export function barWords(trace: Trace, what: number): string {
  const o = trace.operations;
  return o.kind[what] === Kind.copy && o.direction[what] === between ? directions[between] : barNames[o.bar[what]];
}

/** What the copies that no host takes part in are called together. */
export function innerCopies(trace: Trace): string {
  const { bar, direction } = trace.operations;
  const some = (peer: boolean): boolean => bar.some((one, i) => one === Bar.onDevice && (direction[i] === between) === peer);
  if (!some(true)) return barNames[Bar.onDevice];
  return some(false) ? "copy on or between devices" : directions[between];
}

export function operationLabel(trace: Trace, what: number): string {
  const o = trace.operations;
  const kind = o.kind[what];
  const name = o.name[what] >= 0 ? shortName(trace.names[o.name[what]]) : "";
  if ((kind === Kind.kernel || kind === Kind.hostFunction) && name) return name;
  const words = kind === Kind.copy ? directions[o.direction[what]] : kindNames[kind];
  const sized = kind === Kind.copy || kind === Kind.fill || kind === Kind.allocate || kind === Kind.free;
  return sized && o.bytes[what] > 0 ? `${words}, ${bytes(o.bytes[what])}` : words;
}

/** What went on in a stretch of the critical path. */
export function stepLabel(trace: Trace, what: number): string {
  const { operation, call, bar, words } = trace.path;
  if (operation[what] >= 0 && bar[what] !== Bar.other) return operationLabel(trace, operation[what]);
  if (call[what] >= 0) return trace.callNames[trace.calls.name[call[what]]];
  return trace.words[words[what]];
}

export function barLabel(trace: Trace, kind: RowKind, what: number): string {
  if (kind === "thread") return trace.callNames[trace.calls.name[what]];
  if (kind === "ranges") return trace.annotations[what].text;
  if (kind === "path") return stepLabel(trace, what);
  return operationLabel(trace, what);
}

export function place(trace: Trace, index: number): string {
  if (index < 0) return "";
  const [file, line] = trace.places[index];
  return `${file}:${line}`;
}
