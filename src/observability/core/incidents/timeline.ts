import { isoTime } from "../../../base/pure/iso-time.ts";
import type { Release } from "../../../orchestration/api/releases.ts";
import type { Why } from "../../../orchestration/api/why.ts";
import type { AccessEntry } from "../../../ingress/api/access-log.ts";
import type { TimelineEntry } from "../../api/incidents.ts";
import { changeText, isChange } from "../alerts/brief.ts";
import { deathText } from "./causes.ts";
import type { Episode, Outage } from "./join.ts";

interface TimelineInput {
  from: number;
  to: number;
  why?: Why | undefined;
  releases?: readonly Release[];
  episodes: readonly Episode[];
  outages: readonly Outage[];
  /** Failed requests of visitors. */
  failed?: readonly AccessEntry[];
  /** Lines that report errors, and figures that stood out, as other rooms tell them. */
  others?: readonly TimelineEntry[];
}

const entriesMax = 300;
const minuteMs = 60_000;

/** All that happened to an app in a span, oldest first. */
export function timelineOf(input: TimelineInput): TimelineEntry[] {
  const { from, to, why, releases = [], episodes, outages, failed = [], others = [] } = input;
  const entries = [
    ...(why?.events
      .filter(isChange)
      .map((event) => entry("change", Date.parse(event.at), changeText(event).slice(10))) ?? []),
    ...(why?.death === undefined
      ? []
      : [entry("death", Date.parse(why.death.at), deathText(why.death), { bad: true })]),
    ...runEntries(why),
    ...releases.flatMap(releaseEntries),
    ...episodes.flatMap(alertEntries),
    ...outages.flatMap(outageEntries),
    ...requestEntries(failed),
    ...others,
  ];
  const within = entries.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to);
  return within.sort((a, b) => Date.parse(a.at) - Date.parse(b.at)).slice(-entriesMax);
}

function entry(
  type: TimelineEntry["type"],
  at: number,
  text: string,
  more: Pick<TimelineEntry, "ref" | "bad"> = {},
): TimelineEntry {
  return { at: isoTime(at), type, text, ...more };
}

function runEntries(why: Why | undefined): TimelineEntry[] {
  const run = why?.failed_run;
  const at = run?.ended_at ?? run?.started_at ?? run?.instant;
  if (run === undefined || at === undefined) return [];
  return [
    entry("run", Date.parse(at), `run ${run.run_id} ${run.status}: ${run.error ?? ""}`, { ref: run.run_id, bad: true }),
  ];
}

function releaseEntries({ id, cause, image, status, started_at, ended_at, error, actor }: Release): TimelineEntry[] {
  const by = actor === undefined ? "" : ` by ${actor}`;
  const began = entry("deploy", Date.parse(started_at), `release ${id} began (${cause}${by}), image ${image ?? "-"}`, {
    ref: id,
  });
  if (ended_at === undefined) return [began];
  const at = Date.parse(ended_at);
  if (status !== "failed") return [began, entry("deploy", at, `release ${id} ${status}`, { ref: id })];
  return [
    began,
    entry("failed_deploy", at, `release ${id} failed: ${error ?? "no reason is on record"}`, { ref: id, bad: true }),
  ];
}

function alertEntries({ id, title, severity, from, to }: Episode): TimelineEntry[] {
  const fired = entry("alert", from, `${severity}: ${title}`, { ref: id, bad: true });
  return to === undefined ? [fired] : [fired, entry("resolved", to, `resolved: ${title}`, { ref: id })];
}

function outageEntries({ from, to }: Outage): TimelineEntry[] {
  const down = entry("down", from, "no replica was ready", { bad: true });
  return to === undefined ? [down] : [down, entry("up", to, "a replica was ready again")];
}

/** One entry for each minute in which requests failed. */
function requestEntries(failed: readonly AccessEntry[]): TimelineEntry[] {
  const minutes = Map.groupBy(failed, ({ time }) => Math.floor(Date.parse(time) / minuteMs) * minuteMs);
  return [...minutes].map(([at, requests]) => {
    const [first] = requests;
    const example =
      first === undefined ? "" : `, such as ${first.method} ${first.path} (${first.status ?? "no answer"})`;
    return entry("requests", at, `${requests.length} failed requests${example}`, { bad: true });
  });
}
