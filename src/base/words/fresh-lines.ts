import type { TimedLine } from "./timed-lines.ts";

/** How far a log was printed: the time of the last line, and how many lines had that time. */
export interface Told {
  /** Empty before the first line. */
  at: string;
  count: number;
}

const toMillisecond = "2026-01-31T13:05:00.000".length;

/** Epoch milliseconds of the time of a line. */
export function millisecondsOf(at: string): number {
  return Date.parse(`${at.slice(0, toMillisecond)}Z`);
}

/** Lines of two streams can change places; farther back than this, the clock was set back. */
const disorderMs = 1_000;

function wentBack(at: string, above: string): boolean {
  return at < above && millisecondsOf(above) - millisecondsOf(at) > disorderMs;
}

/**
 * Leaves out the lines that an earlier reader of the log told, and notes in `told` what it lets through: a log that broke off
 * is read again from the last line. What follows a clock that was set back is new.
 */
export function createFresh(told: Told): (found: readonly TimedLine[]) => Uint8Array {
  const before = { ...told };
  let above = "";
  let isNew = before.at === "";
  let same = 0;
  const wasTold = ({ at }: TimedLine) => {
    isNew ||= at === "" || at > before.at || wentBack(at, above);
    above = at;
    if (at === before.at) same += 1;
    return !isNew && (at < before.at || same <= before.count);
  };
  return (found) => {
    const fresh: Uint8Array[] = [];
    for (const line of found) {
      if (wasTold(line)) continue;
      fresh.push(line.bytes);
      if (line.at === told.at) told.count += 1;
      else if (line.at > told.at || wentBack(line.at, told.at)) Object.assign(told, { at: line.at, count: 1 });
    }
    return Buffer.concat(fresh);
  };
}
