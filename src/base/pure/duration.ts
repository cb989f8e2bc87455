const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

const part = (unit: string) => `(?:(\\d{1,9}(?:\\.\\d{1,6})?)${unit})?`;
const pattern = new RegExp(`^${part("d")}${part("h")}${part("m")}${part("s")}${part("ms")}$`);

/** Longest duration: more overflows the timers that wait for it. */
export const durationMaxMs = 2 ** 31 - 1;

/** How a duration is written, for error texts. */
export const durationForm = 'write it like "30s", "1h30m", "500ms" or "2d", at most 24d';

/** Milliseconds from `1h30m`, `10s`, `500ms`, `2d` or `0`; undefined when the text is none, or above `durationMaxMs`. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const match = pattern.exec(text);
  if (match === null || text === "") return undefined;
  const total = Object.values(unitMs).reduce((sum, size, index) => sum + Number(match[index + 1] ?? 0) * size, 0);
  const ms = Math.round(total);
  return ms <= durationMaxMs ? ms : undefined;
}

/** `12345` → `12.3 s` */
export const secondsText = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** `5400000` → `1h30m`. Reads back to the same number. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = "";
  for (const [unit, size] of Object.entries(unitMs)) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === "" ? "0s" : text;
}
