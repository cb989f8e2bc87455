export interface SamplingLimits {
  /** Lines of one container in a second, on average, and how many it may write at once. */
  linesPerSecond: number;
  linesAtOnce: number;
  /** Above that, one line of so many is kept. */
  keepOneOf: number;
  /** How often a note says what was left out, in time of the log. */
  noteMs: number;
}

/** Lines that were left out. Times are epoch milliseconds of the log. */
interface LeftOut {
  lines: number;
  from: number;
  until: number;
}

export interface Sampler {
  /** Whether a line is kept. */
  keeps(at: number): boolean;
  /** What was left out, once it is time to say so; `now`: whatever there is. */
  note(now?: boolean): LeftOut | undefined;
}

/** Decides by the times of the lines alone: reading them again, after a restart, decides the same again. */
export function createSampler(limits: SamplingLimits): Sampler {
  let tokens = limits.linesAtOnce;
  let last: number | undefined;
  let above = 0;
  let left: LeftOut | undefined;
  return {
    keeps(at) {
      const passed = last === undefined ? 0 : Math.max(at - last, 0) / 1e3;
      last = Math.max(at, last ?? at);
      tokens = Math.min(tokens + passed * limits.linesPerSecond, limits.linesAtOnce);
      if (tokens >= 1) {
        tokens -= 1;
        return true;
      }
      above += 1;
      if (above % limits.keepOneOf === 0) return true;
      left = { lines: (left?.lines ?? 0) + 1, from: left?.from ?? at, until: at };
      return false;
    },
    note(now = false) {
      if (left === undefined || last === undefined) return undefined;
      if (!now && last - left.from < limits.noteMs) return undefined;
      const note = left;
      left = undefined;
      return note;
    },
  };
}
