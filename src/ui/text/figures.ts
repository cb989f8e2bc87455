const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** `512 MiB`, `1.4 GiB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${short(value, unit === 0 ? 0 : 1)} ${units[unit]}`;
}

/** `950`, `12.4k`, `3.1M`. */
export function countText(count: number): string {
  if (Math.abs(count) < 9_999.5) return short(count, 0);
  return Math.abs(count) < 999_950 ? `${short(count / 1e3, 1)}k` : `${short(count / 1e6, 1)}M`;
}

/** Per second: small rates keep their digits, so that a trickle is not a zero. */
export function rateText(rate: number): string {
  if (rate > 0 && rate < 0.1) return "<0.1/s";
  return `${rate < 10 ? short(rate, 1) : countText(rate)}/s`;
}

export function percentText(percent: number): string {
  return `${short(percent, Math.abs(percent) < 9.95 ? 1 : 0)} %`;
}

/** Parts in a whole as a percentage; what is not zero never reads as zero. */
export function shareText(part: number, whole: number): string {
  if (whole === 0 || part === 0) return "0 %";
  const percent = (part / whole) * 100;
  return percent < 0.1 ? "<0.1 %" : percentText(percent);
}

/** `840 ms`, `2.4 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function durationText(ms: number): string {
  if (ms < 999.5) return `${short(ms, 0)} ms`;
  if (ms < 9_950) return `${short(ms / 1000, 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return pair(Math.floor(seconds / 60), "min", seconds % 60, "s");
  if (seconds < 86_400) return pair(Math.floor(seconds / 3_600), "h", Math.floor((seconds % 3_600) / 60), "min");
  return pair(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3_600), "h");
}

/** The ready replicas of those that are wanted: while replicas are replaced there are more. */
export function readyOf({ ready, desired }: { ready: number; desired: number }, between = " of "): string {
  return `${Math.min(ready, desired)}${between}${desired}`;
}

/** `3 replicas`, `1 replica`. */
export function many(count: number, one: string, more = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : more}`;
}

function pair(...[large, unit, small, smallUnit]: [number, string, number, string]): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

function short(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0$/, "");
}

/** Steps of an axis whose marks read as round figures: powers of 2 for bytes, else 1, 2 and 5 with zeros. */
export function axisSteps(text: (value: number) => string): number[] {
  if (text(1024).includes("KiB")) return Array.from({ length: 60 }, (_, power) => 2 ** power);
  return Array.from({ length: 20 }, (_, power) => [1, 2, 5].map((step) => Number(`${step}e${power - 6}`))).flat();
}
