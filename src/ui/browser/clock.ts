import { signal } from "@preact/signals";

/** One clock for all ages on the page. It stands still while the page is hidden. */
export const now = signal(Date.now());

const tickMs = 1_000;

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, tickMs);
  document.addEventListener("visibilitychange", () => {
    now.value = Date.now();
  });
}
