import { formatDuration, parseDuration } from "../../../base/pure/duration.ts";
import type { Parsed } from "../../../base/pure/parsed.ts";
import { rawTier, type Tier, tiers } from "./tiers.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Widths of buckets that a person can read off an axis. */
const niceSteps = [
  15 * second,
  30 * second,
  minute,
  5 * minute,
  15 * minute,
  hour,
  3 * hour,
  6 * hour,
  24 * hour,
  168 * hour,
];

/** Which tier answers, and into which buckets its slots go. */
export interface Plan {
  tier: Tier;
  stepMs: number;
  /** Multiples of the step; `to` is exclusive. */
  from: number;
  to: number;
}

interface Question {
  from: number;
  to: number;
  /** Undefined: as fine as the number of buckets allows. */
  stepMs: number | undefined;
}

interface PlanLimits {
  now: number;
  keptMs: Record<Tier["name"], number>;
  bucketsDefault: number;
  bucketsMax: number;
}

/** Buckets begin at round times, so that points stay where they are from one question to the next. */
export function planQuery(question: Question, limits: PlanLimits): Parsed<Plan> {
  const { from, to } = question;
  if (to <= from) return { ok: false, error: "the time span is empty: `until` must be later than `from`" };
  const reaching =
    tiers.find((tier) => limits.now - from <= limits.keptMs[tier.name] + tier.slotMs) ?? tiers.at(-1) ?? rawTier;
  const isChosen = question.stepMs !== undefined;
  const least = Math.max(reaching.slotMs, (to - from) / (isChosen ? limits.bucketsMax : limits.bucketsDefault));
  const minimum = niceSteps.find((step) => step >= least) ?? Math.ceil(least / hour) * hour;
  const stepMs = question.stepMs ?? minimum;
  if (stepMs < least || stepMs % reaching.slotMs !== 0) {
    const text = `a step of ${formatDuration(stepMs)} is too fine for this time span, or not a multiple of ${formatDuration(reaching.slotMs)}`;
    return { ok: false, error: `${text}: the smallest that can be answered is ${formatDuration(minimum)}` };
  }
  const tier = tiers.findLast(({ slotMs }) => slotMs <= stepMs && stepMs % slotMs === 0) ?? rawTier;
  return {
    ok: true,
    value: { tier, stepMs, from: Math.floor(from / stepMs) * stepMs, to: Math.ceil(to / stepMs) * stepMs },
  };
}

/** Milliseconds of `90d`, `2w` or `1y`, also longer than timers know, or of a duration such as `1h30m`. */
export function parseSpan(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,4})(ms|s|m|h|d|w|y)$/.exec(text) ?? [];
  const sizes: Record<string, number> = {
    ms: 1,
    s: second,
    m: minute,
    h: hour,
    d: 24 * hour,
    w: 168 * hour,
    y: 365 * 24 * hour,
  };
  const size = sizes[unit ?? ""];
  // A bare 0 is an instant elsewhere: it names no length.
  return size === undefined ? parseDuration(text) || undefined : Number(count) * size;
}
