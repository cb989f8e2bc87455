export interface ScaleInput {
  /** Replicas wanted now. */
  current: number;
  min: number;
  max: number;
  /** Wanted mean CPU use, in percent of the limit. */
  cpuTarget: number;
  /** One per ready replica. */
  samples: readonly CpuSample[];
  /** Epoch milliseconds of the last step each way. */
  lastUpAt: number | undefined;
  lastDownAt: number | undefined;
  cooldownUpMs: number;
  cooldownDownMs: number;
  now: number;
}

export interface CpuSample {
  /** 100 is one core. */
  cpuPercent: number;
  /** Cores; undefined: no limit, and one core is the measure. */
  cpuLimit: number | undefined;
}

export interface ScaleDecision {
  replicas: number;
  why: string;
}

/** 3 × ⅔ must not come out as a little more than 2. */
const roundingError = 1e-9;
/** A mean this close to the target is on target. */
const tolerance = 0.1;

/**
 * How many replicas a deployment wants: ceil(current × mean / target) as in the Kubernetes autoscaler, within the
 * bounds, one step at a time. Steps wait for the cool-down of their direction, a step down also for `cooldownDownMs`
 * after a step up. A count outside the bounds is put back at once; without samples nothing else moves.
 */
export function decideScale(input: ScaleInput): ScaleDecision {
  const { current, min, max, cpuTarget } = input;
  if (current < min) return { replicas: min, why: `${current} is below min, which is ${min}` };
  if (current > max) return { replicas: max, why: `${current} is above max, which is ${max}` };
  const mean = meanOf(input.samples);
  if (mean === undefined) return { replicas: current, why: "no ready replica has a CPU figure" };
  const found = `mean CPU use ${Math.round(mean)} % of the limit, target ${cpuTarget} %`;
  const wanted = wantedOf(input, mean);
  if (wanted === current) return { replicas: current, why: `${found}: ${standing(input, mean)}` };
  const direction = wanted > current ? "up" : "down";
  const waitMs = waitOf(input, direction);
  if (waitMs > 0) return { replicas: current, why: `${found}: ${direction} in ${Math.ceil(waitMs / 1_000)} s` };
  return { replicas: current + (direction === "up" ? 1 : -1), why: `${found}: one ${direction}` };
}

/** Percent of the limit; figures that are not numbers do not count. */
function meanOf(samples: readonly CpuSample[]): number | undefined {
  const shares = samples.map(({ cpuPercent, cpuLimit }) => cpuPercent / (cpuLimit || 1)).filter(Number.isFinite);
  if (shares.length === 0) return undefined;
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

function wantedOf({ current, min, max, cpuTarget }: ScaleInput, mean: number): number {
  const ratio = mean / cpuTarget;
  if (isOnTarget(ratio)) return current;
  return Math.min(max, Math.max(min, Math.ceil(current * ratio - roundingError)));
}

function isOnTarget(ratio: number): boolean {
  return Math.abs(ratio - 1) <= tolerance + roundingError;
}

function standing({ current, min, max, cpuTarget }: ScaleInput, mean: number): string {
  const ratio = mean / cpuTarget;
  if (isOnTarget(ratio)) return "on target";
  if (ratio > 1 && current === max) return "at max";
  if (ratio < 1 && current === min) return "at min";
  return "fewer would be above the target";
}

/** Milliseconds until a step that way is allowed; 0 or less is now. A clock that was set back does not lengthen it. */
function waitOf(input: ScaleInput, direction: "up" | "down"): number {
  const { lastUpAt, lastDownAt, cooldownUpMs, cooldownDownMs, now } = input;
  const left = (at: number | undefined, coolDownMs: number) =>
    at === undefined || at > now ? 0 : at + coolDownMs - now;
  if (direction === "up") return left(lastUpAt, cooldownUpMs);
  return Math.max(left(lastUpAt, cooldownDownMs), left(lastDownAt, cooldownDownMs));
}
