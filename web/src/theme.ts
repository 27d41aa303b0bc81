// Light and dark: the page's colours come from style.css, those of the canvas from here.

export type ThemeName = "light" | "dark";

export interface Theme {
  background: string;
  rowLine: string;
  groupBand: string;
  grid: string;
  axis: string;
  text: string;
  faint: string;
  bars: string[]; // in the order of Bar
  barText: string[];
  blocked: string;
  path: string;
  earlier: string; // what the selected one waited for
  later: string; // what waited for it
  selected: string;
  shade: string; // over what is not found
}

const light: Theme = {
  background: "#ffffff",
  rowLine: "#eceef2",
  groupBand: "#f5f6f9",
  grid: "#eef0f4",
  axis: "#69707d",
  text: "#1c2230",
  faint: "#8a92a0",
  bars: ["#5b7cfa", "#17a398", "#f08c2e", "#a46ce0", "#d3a812", "#e0558f", "#b6c0d0", "#9aa4b5"],
  barText: ["#ffffff", "#ffffff", "#3d1f00", "#ffffff", "#3a2d00", "#ffffff", "#26303f", "#1c2230"],
  blocked: "#8693a8",
  path: "#e5243b",
  earlier: "#c2410c",
  later: "#0369a1",
  selected: "#111827",
  shade: "rgba(255,255,255,0.62)",
};

const dark: Theme = {
  background: "#14171e",
  rowLine: "#222732",
  groupBand: "#1a1e27",
  grid: "#20252f",
  axis: "#98a1b1",
  text: "#e6e9ef",
  faint: "#727c8d",
  bars: ["#7b97ff", "#2cc0b2", "#ff9f45", "#b98af0", "#e5bd3a", "#f276a8", "#485468", "#667289"],
  barText: ["#0b1026", "#00211d", "#2b1600", "#170628", "#2a2000", "#2d0517", "#dfe5ee", "#f0f3f8"],
  blocked: "#6a7a94",
  path: "#ff5c70",
  earlier: "#fb923c",
  later: "#38bdf8",
  selected: "#ffffff",
  shade: "rgba(20,23,30,0.62)",
};

export const themes: Record<ThemeName, Theme> = { light, dark };

const key = "streambed-theme";

export function firstTheme(): ThemeName {
  try {
    const kept = localStorage.getItem(key);
    if (kept === "light" || kept === "dark") return kept;
  } catch {
    // A page that was opened from a file may have no storage.
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function keepTheme(name: ThemeName): void {
  try {
    localStorage.setItem(key, name);
  } catch {
    // It is then chosen anew the next time.
  }
}

/** Black or white, whichever is read better on a colour of the program's own. */
export function textOn(colour: string): string {
  const channel = (at: number): number => parseInt(colour.slice(at, at + 2), 16);
  return 0.299 * channel(1) + 0.587 * channel(3) + 0.114 * channel(5) > 140 ? "#10141c" : "#ffffff";
}

const steps = [0, 0.13, -0.12, 0.22, -0.2];
const shades = new Map<string, string[]>();

/** A shade of a colour for each name, so that neighbours of one kind can be told apart. */
export function shadeOf(colour: string, name: number): string {
  let known = shades.get(colour);
  if (!known) shades.set(colour, (known = steps.map((step) => shade(colour, step))));
  return known[name % steps.length];
}

function shade(colour: string, step: number): string {
  const to = step > 0 ? 255 : 0;
  const channel = (at: number): string => {
    const value = parseInt(colour.slice(at, at + 2), 16);
    return Math.round(value + (to - value) * Math.abs(step)).toString(16).padStart(2, "0");
  };
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}
