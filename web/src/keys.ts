// The keys of the page, as they are listed and as they are pressed.

export interface Key {
  keys: string[]; // as in KeyboardEvent.key
  shown: string;
  words: string;
  action: string;
}

export const keys: Key[] = [
  { keys: ["w", "+", "="], shown: "w  +", words: "closer", action: "closer" },
  { keys: ["s", "-"], shown: "s  −", words: "further away", action: "further" },
  { keys: ["a", "ArrowLeft"], shown: "a  ←", words: "earlier", action: "left" },
  { keys: ["d", "ArrowRight"], shown: "d  →", words: "later", action: "right" },
  { keys: ["ArrowUp"], shown: "↑", words: "rows above", action: "up" },
  { keys: ["ArrowDown"], shown: "↓", words: "rows below", action: "down" },
  { keys: ["0", "Home"], shown: "0", words: "the whole run", action: "all" },
  { keys: ["f", "Enter"], shown: "f", words: "zoom to the chosen operation", action: "fit" },
  { keys: ["["], shown: "[", words: "operation before it in its row", action: "before" },
  { keys: ["]"], shown: "]", words: "operation after it in its row", action: "after" },
  { keys: [","], shown: ",", words: "follow what it waited for last", action: "cause" },
  { keys: ["."], shown: ".", words: "follow what waited for it first", action: "effect" },
  { keys: ["/"], shown: "/", words: "search", action: "search" },
  { keys: ["n"], shown: "n", words: "next match", action: "next" },
  { keys: ["N", "p"], shown: "N", words: "previous match", action: "previous" },
  { keys: ["c"], shown: "c", words: "the critical path, or everything", action: "path" },
  { keys: ["t"], shown: "t", words: "light or dark", action: "theme" },
  { keys: ["?"], shown: "?", words: "this list", action: "help" },
  { keys: ["Escape"], shown: "Esc", words: "let go of everything", action: "clear" },
];

const byKey = new Map(keys.flatMap((entry) => entry.keys.map((key) => [key, entry.action])));

export const actionOf = (key: string): string | undefined => byKey.get(key);
