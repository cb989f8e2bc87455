import { signal } from "@preact/signals";

interface Notice {
  id: number;
  tone?: "bad" | "work";
  text: string;
}

/** What stands in the corner, the newest last. */
export const shown = signal<readonly Notice[]>([]);
const shownMax = 4;
const shownMs = 8_000;
let last = 0;

/** Says something in the corner. What is bad stays until it is closed. */
export function say(text: string, tone?: "bad" | "work"): void {
  last += 1;
  const notice: Notice = { id: last, text, ...(tone === undefined ? {} : { tone }) };
  shown.value = [...shown.value, notice].slice(-shownMax);
  if (tone !== "bad") setTimeout(() => close(notice.id), shownMs);
}

/** Takes one away. */
export function close(id: number): void {
  shown.value = shown.value.filter((notice) => notice.id !== id);
}
