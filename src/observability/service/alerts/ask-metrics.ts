import type { MetricAsk, MetricValue } from "../../core/alerts/facts.ts";
import { rawTier } from "../../core/metrics/tiers.ts";
import type { MetricsRoom } from "../metrics/create.ts";
import { readMetrics } from "../metrics/questions.ts";

/** One value for each group over the span that ends now. Fails `invalid` for a metric that there cannot be. */
export async function askMetrics(room: MetricsRoom, ask: MetricAsk): Promise<MetricValue[]> {
  const [metric] = readMetrics(ask.metric, 1);
  if (metric === undefined) return [];
  const { slotMs } = rawTier;
  const stepMs = Math.max(slotMs, Math.ceil(ask.overMs / slotMs) * slotMs);
  const to = Math.ceil((room.now() + 1) / slotMs) * slotMs;
  const plan = { tier: rawTier, stepMs, from: to - stepMs, to };
  const question = { ...metric, aggregate: ask.agg, groupBy: ask.groupBy, accepts: () => true };
  const { groups } = await room.archive().ask(question, plan);
  return groups.flatMap(({ group, points }) => {
    const value = points.at(-1)?.value;
    return value === undefined ? [] : [{ labels: labelsOf(group), value }];
  });
}

/** An app is two labels in alerts. */
function labelsOf({ app, ...labels }: Record<string, string>): Record<string, string> {
  if (app === undefined) return labels;
  const [scope = "", name = ""] = app.split("/");
  return { ...labels, scope, name };
}
