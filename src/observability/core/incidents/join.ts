import type { Severity } from "../../api/alerts.ts";
import { severityRank } from "../alerts/message.ts";

/** An alert that fired. Times are epoch milliseconds. */
export interface Episode {
  id: string;
  rule: string;
  severity: Severity;
  title: string;
  scope: string | undefined;
  name: string | undefined;
  from: number;
  /** Undefined while it fires. */
  to: number | undefined;
}

/** A span in which no replica of an app was ready. */
export interface Outage {
  seq: number;
  scope: string;
  name: string;
  from: number;
  to: number | undefined;
  failedRequests: number;
}

export interface Joined {
  id: string;
  scope: string | undefined;
  name: string | undefined;
  title: string;
  severity: Severity;
  from: number;
  to: number | undefined;
  downMs: number;
  failedRequests: number;
  episodes: Episode[];
}

type Part = { from: number; to: number | undefined } & (
  { type: "alert"; episode: Episode } | { type: "outage"; outage: Outage }
);

/** One incident for all parts of one app that are closer than the gap; newest first. */
export function joinIncidents(
  episodes: readonly Episode[],
  outages: readonly Outage[],
  { gapMs, now }: { gapMs: number; now: number },
): Joined[] {
  const parts = new Map<string, Part[]>();
  const put = (key: string, part: Part) => parts.set(key, [...(parts.get(key) ?? []), part]);
  for (const episode of episodes) {
    const { scope = "", name, rule, from, to } = episode;
    put(name === undefined ? `rule ${rule}` : `app ${scope}/${name}`, { type: "alert", episode, from, to });
  }
  for (const outage of outages) {
    const { scope, name, from, to } = outage;
    put(`app ${scope}/${name}`, { type: "outage", outage, from, to });
  }
  const joined = [...parts.values()].flatMap((list) => split(list, gapMs).map((one) => incidentOf(one, now)));
  return joined.sort((a, b) => b.from - a.from || (a.id < b.id ? -1 : 1));
}

/** Runs of parts without a gap between them. */
function split(parts: readonly Part[], gapMs: number): Part[][] {
  const runs: Part[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const part of parts.toSorted((a, b) => a.from - b.from)) {
    const run = runs.at(-1);
    if (run === undefined || part.from > end + gapMs) runs.push([part]);
    else run.push(part);
    end = Math.max(end, part.to ?? Number.POSITIVE_INFINITY);
  }
  return runs;
}

function incidentOf(parts: readonly Part[], now: number): Joined {
  const episodes = parts.flatMap((part) => (part.type === "alert" ? [part.episode] : []));
  const outages = parts.flatMap((part) => (part.type === "outage" ? [part.outage] : []));
  const isDown = ({ rule }: Episode) => Number(rule === "down");
  const [worst] = episodes.toSorted(
    (a, b) => severityRank[a.severity] - severityRank[b.severity] || isDown(b) - isDown(a),
  );
  const { scope, name } = episodes[0] ?? outages[0] ?? { scope: undefined, name: undefined };
  const isOpen = parts.some(({ to }) => to === undefined);
  return {
    id: episodes[0]?.id ?? `outage-${outages[0]?.seq}`,
    scope,
    name,
    title: worst?.title ?? `${scope}/${name} was down`,
    severity: worst?.severity ?? "warning",
    from: Math.min(...parts.map(({ from }) => from)),
    to: isOpen ? undefined : Math.max(...parts.map(({ to }) => to ?? now)),
    downMs: covered(outages, { from: Number.NEGATIVE_INFINITY, to: now }),
    failedRequests: outages.reduce((sum, { failedRequests }) => sum + failedRequests, 0),
    episodes,
  };
}

/** How much of a span some spans cover; what two of them share counts once. */
export function covered(
  spans: readonly { from: number; to: number | undefined }[],
  within: { from: number; to: number },
): number {
  let end = within.from;
  let sum = 0;
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const from = Math.max(span.from, end);
    const to = Math.min(span.to ?? within.to, within.to);
    if (to > from) sum += to - from;
    end = Math.max(end, to);
  }
  return sum;
}
