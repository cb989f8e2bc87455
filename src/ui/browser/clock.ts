import { signal } from "@preact/signals";

/** One clock for all ages on the page. It stands still while the page is hidden. */
export const now = signal(Date.now());

const tickMs = 1_000;
const key = "berth-times";

/** Whether times are shown as such, rather than as how long ago they are; kept in this browser. */
export const isExact = signal(keptExact());

export function chooseTimes(exact: boolean): void {
  isExact.value = exact;
  try {
    localStorage.setItem(key, exact ? "exact" : "ago");
  } catch {
    // A browser that keeps nothing shows the choice until it is closed.
  }
}

function keptExact(): boolean {
  try {
    return localStorage.getItem(key) === "exact";
  } catch {
    return false;
  }
}

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, tickMs);
  document.addEventListener("visibilitychange", () => {
    now.value = Date.now();
  });
}
