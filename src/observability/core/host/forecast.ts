/** One reading of how much of a disk is in use. */
interface Reading {
  /** Epoch milliseconds. */
  at: number;
  bytes: number;
}

/** `history`: there is too little of it; `steady`: it does not fill up within the horizon. */
type Forecast = { state: "history" } | { state: "steady" } | { state: "filling"; at: number };

const hourMs = 3_600_000;
/** Less than this says nothing about days to come. */
const historyMinMs = 24 * hourMs;
const readingsMin = 12;
const horizonMs = 365 * 24 * hourMs;

/**
 * When a disk is full if it goes on as it did: the line through its readings by least squares, drawn from the last one.
 * `totalBytes`: what programs can use.
 */
export function forecastFull(readings: readonly Reading[], totalBytes: number): Forecast {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined || readings.length < readingsMin) return { state: "history" };
  if (last.at - first.at < historyMinMs) return { state: "history" };
  const perMs = slope(readings);
  if (last.bytes >= totalBytes) return { state: "filling", at: last.at };
  if (perMs <= 0) return { state: "steady" };
  const inMs = (totalBytes - last.bytes) / perMs;
  return inMs > horizonMs ? { state: "steady" } : { state: "filling", at: Math.round(last.at + inMs) };
}

function slope(readings: readonly Reading[]): number {
  const count = readings.length;
  const meanAt = readings.reduce((sum, { at }) => sum + at, 0) / count;
  const meanBytes = readings.reduce((sum, { bytes }) => sum + bytes, 0) / count;
  let together = 0;
  let spread = 0;
  for (const { at, bytes } of readings) {
    together += (at - meanAt) * (bytes - meanBytes);
    spread += (at - meanAt) ** 2;
  }
  return spread === 0 ? 0 : together / spread;
}
