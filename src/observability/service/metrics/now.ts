import { rawTier, tiers } from "../../core/metrics/tiers.ts";
import type { Aggregate } from "../../core/metrics/fold.ts";
import type { MetricsRoom } from "./create.ts";
import { readMetrics } from "./questions.ts";

interface NowQuestion {
  /** `SOURCE.NAME`. */
  metric: string;
  agg: Aggregate;
  /** Length of the span that ends now. */
  overMs: number;
  groupBy: readonly string[];
}

/** One value per group over the last while, for the rules of alerts. Fails `invalid` like a query. */
export async function metricsNow(
  room: MetricsRoom,
  { metric: text, agg, overMs, groupBy }: NowQuestion,
): Promise<{ labels: Record<string, string>; value: number }[]> {
  const [asked] = readMetrics(text, 1);
  if (asked === undefined) return [];
  // One bucket that ends with the slot of now, in slots that are fine enough for its length.
  const tier = tiers.findLast(({ slotMs }) => slotMs * 20 <= overMs) ?? rawTier;
  const to = Math.ceil((room.now() + 1) / tier.slotMs) * tier.slotMs;
  const stepMs = Math.max(tier.slotMs, Math.ceil(overMs / tier.slotMs) * tier.slotMs);
  const question = { ...asked, aggregate: agg, groupBy, accepts: () => true };
  const { groups } = await room.archive().ask(question, { tier, stepMs, from: to - stepMs, to });
  return groups.flatMap(({ group, points }) => points.map(({ value }) => ({ labels: group, value })));
}
