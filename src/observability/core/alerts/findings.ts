import { keyOf } from "../../../orchestration/api/manifest-key.ts";
import type { Condition, Watch } from "../../api/alert-rules.ts";
import { type AppFact, askText, type Facts, type MetricValue, type RunFact } from "./facts.ts";
import { isAbout, type Labels } from "./labels.ts";
import { type ActiveRule, logAsk, metricAsk } from "./rules.ts";
import { failingShare } from "./site-facts.ts";

/** One thing that is bad right now. */
export interface Finding {
  labels: Labels;
  /** `shop/web is down` */
  title: string;
  /** What was seen, in a line. */
  detail: string;
  value?: number;
}

type RequestWatch = Extract<Watch, { type: "requests" }>;

const day = 86_400_000;
const minRequests = 20;
/** A failed deploy that no other followed is news for this long. */
const deployNewsMs = day;

/** All that a rule finds bad; undefined where the facts that it needs could not be read. */
export function findings(rule: ActiveRule, facts: Facts): Finding[] | undefined {
  const found = look(rule, facts)?.filter(({ labels }) => isAbout(labels, rule.apps));
  return rule.title === undefined ? found : found?.map((one) => ({ ...one, title: filled(rule.title ?? "", one) }));
}

/** While the engine is away, how replicas are is not known: what fires goes on, and nothing begins or ends. */
const aboutReplicas: readonly Condition[] = ["down", "not_ready", "crash_loop", "out_of_memory"];

function look({ watch }: ActiveRule, facts: Facts): Finding[] | undefined {
  switch (watch.type) {
    case "platform":
      if (facts.engine?.up === false && aboutReplicas.includes(watch.condition)) return undefined;
      return platform[watch.condition](facts, watch.limit);
    case "requests":
      return requestFindings(watch, facts);
    case "metric":
      return metricFindings(watch, facts);
    case "log":
      return logFindings(watch, facts);
  }
}

const platform: Record<Condition, (facts: Facts, limit: number | undefined) => Finding[] | undefined> = {
  down: ({ apps }) => apps?.filter(isDown).map((app) => appFinding(app, "is down", stateText(app))),
  not_ready: ({ apps }) =>
    apps
      ?.filter((app) => isMeantToRun(app) && app.ready > 0 && app.ready < app.wanted)
      .map((app) => appFinding(app, `has ${app.ready} of ${app.wanted} replicas ready`, stateText(app))),
  crash_loop: ({ apps }) =>
    apps?.filter(({ reason }) => reason === "CrashLoop").map((app) => appFinding(app, "keeps crashing", app.message)),
  out_of_memory: ({ apps }) =>
    apps
      ?.filter(({ reason, starved }) => reason === "OutOfMemory" || starved !== undefined)
      .map((app) => appFinding(app, "ran out of memory", starvedText(app))),
  deploy_failed: deployFindings,
  run_failed: ({ runs }) =>
    runs
      ?.filter(({ status }) => status === "failed" || status === "timed_out")
      .map((run) => runFinding(run, run.status === "failed" ? "failed" : "took too long")),
  run_missed: ({ runs }) =>
    runs?.filter(({ status }) => status === "missed").map((run) => runFinding(run, "missed its schedule")),
  certificate: certificateFindings,
  backup: backupFindings,
  engine: ({ engine }) =>
    engine && (engine.up ? [] : [{ labels: {}, title: "the container engine does not answer", detail: engine.error }]),
  ingress: ({ ingress }) =>
    ingress &&
    (ingress.problem === "" ? [] : [{ labels: {}, title: "the ingress has a problem", detail: ingress.problem }]),
  drain: drainFindings,
  disk_full: ({ disks }, limit = 90) =>
    disks
      ?.filter(({ usedPercent, readOnly }) => usedPercent > limit || readOnly)
      .map(({ mount, usedPercent, freeBytes, readOnly }) => ({
        labels: { mount },
        title: readOnly ? `disk ${mount} is read-only` : `disk ${mount} is ${Math.floor(usedPercent)} % full`,
        detail: readOnly ? "a disk with errors becomes so: see dmesg" : `${Math.floor(freeBytes / 2 ** 20)} MiB free`,
        value: usedPercent,
      })),
};

/** What sleeps or was stopped is as somebody wanted it. */
function isMeantToRun({ phase, wanted }: AppFact): boolean {
  return wanted > 0 && phase !== "asleep" && phase !== "stopped";
}

/** One that comes up for the first time is not down yet, unless that has failed. */
export function isDown(app: AppFact): boolean {
  const isSetUp = app.hasServed || app.phase === "failing" || app.phase === "failed";
  return isMeantToRun(app) && app.ready === 0 && isSetUp;
}

function stateText({ ready, wanted, message }: AppFact): string {
  const count = `${ready} of ${wanted} replicas ready`;
  if (message === "") return count;
  return message.startsWith(`${ready} of ${wanted}`) || message.startsWith(`${ready}/${wanted}`)
    ? message
    : `${count}: ${message}`;
}

function starvedText({ reason, message, starved }: AppFact): string {
  return reason === "OutOfMemory" ? message : `${starved} was killed, because it used more memory than it may`;
}

function appFinding(app: AppFact, what: string, detail: string): Finding {
  return { labels: keyOf(app), title: `${app.scope}/${app.name} ${what}`, detail };
}

function runFinding(run: RunFact, what: string): Finding {
  const noun = run.kind === "cronjob" ? "cron job" : "job";
  return { labels: keyOf(run), title: `${noun} ${run.scope}/${run.name} ${what}`, detail: run.error };
}

function deployFindings({ apps, now }: Facts): Finding[] | undefined {
  return apps?.flatMap((app) => {
    const { release } = app;
    if (release === undefined || release.status !== "failed") return [];
    if (now - (release.endedAt ?? now) > deployNewsMs) return [];
    const back = release.takenBack ? "; the release before it serves again" : "";
    return [appFinding(app, `deploy failed (${release.id})`, `${release.error}${back}`)];
  });
}

function certificateFindings({ certificates, now }: Facts, limit = 14): Finding[] | undefined {
  return certificates?.flatMap(({ host, state, expiresAt, error }) => {
    const labels = { host };
    if (state === "failed") return [{ labels, title: `no certificate for ${host}`, detail: error }];
    if (expiresAt === undefined || expiresAt - now > limit * day) return [];
    const days = Math.floor((expiresAt - now) / day);
    const title =
      days < 0 ? `the certificate of ${host} has expired` : `the certificate of ${host} ends in ${days} days`;
    return [{ labels, title, detail: error === "" ? "it was not renewed" : error, value: days }];
  });
}

/** Titles of what is watched beside the copies of volumes. */
const watchedTitles: Record<string, (target: string, of: string) => string> = {
  state: (target) => `copies to ${target} fail`,
  list: (target) => `copies are missing at ${target}`,
  check: (target) => `the copies at ${target} are damaged`,
  size: (target) => `${target} is larger than it may be`,
  drill: (_, of) => `no good drill of ${of}`,
  restore: (target, of) => `the restore of ${of} from ${target} failed`,
};

/** On a fresh server the time counts from the installation. */
function backupFindings({ backup, now }: Facts, limit = 8): Finding[] | undefined {
  if (backup === undefined) return undefined;
  const { newestAt, installedAt, failing = [] } = backup;
  const failed = failing.map(({ target, what, sinceAt, error }): Finding => {
    const [word = "", of = ""] = what.split(" ");
    const labels = { ...(word !== "drill" && { target }), ...(word !== "state" && { what }) };
    const title = watchedTitles[word]?.(target, of) ?? `copies of ${what} to ${target} fail`;
    return { labels, title, detail: `since ${new Date(sinceAt).toISOString()}: ${error}` };
  });
  // A clock that was ahead has dated it: how old it is, nothing tells.
  const isAhead = newestAt !== undefined && newestAt > now + day;
  const days = Math.floor((now - (isAhead ? installedAt : (newestAt ?? installedAt))) / day);
  if (days < limit) return failed;
  const title =
    newestAt === undefined
      ? `no backup for ${days} days`
      : isAhead
        ? "the newest backup is dated after today"
        : `the newest backup is ${days} days old`;
  const detail = "make one with: berth backup target add, or berth backup FILE";
  return [...failed, { labels: {}, title, detail, value: days }];
}

function drainFindings({ drains, now }: Facts, limit = 10): Finding[] | undefined {
  return drains?.flatMap(({ name, oldestAt, error }) => {
    const minutes = Math.floor((now - oldestAt) / 60_000);
    if (minutes < limit) return [];
    const detail = error === "" ? "the other side takes lines more slowly than they come" : error;
    return [
      { labels: { drain: name }, title: `the log drain ${name} is ${minutes} min behind`, detail, value: minutes },
    ];
  });
}

function requestFindings(watch: RequestWatch, { sites }: Facts): Finding[] | undefined {
  const { p99_ms: p99 = Infinity, min_requests: least } = watch;
  return sites
    ?.filter(({ requests }) => requests >= (least ?? 0))
    .flatMap((site) => {
      const labels = { scope: site.scope, name: site.name };
      const app = `${site.scope}/${site.name}`;
      const failing = failingShare(site, watch.failed_percent_of?.[app] ?? watch.failed_percent ?? Infinity);
      if (failing !== undefined) {
        const { share, detail } = failing;
        return [{ labels, title: `${app} fails ${share.toFixed(1)} % of its requests`, detail, value: share }];
      }
      if (site.requests < (least ?? minRequests) || site.p99Ms === undefined || site.p99Ms <= p99) return [];
      const detail = `99th percentile of ${site.requests} requests of the last minute; the limit is ${p99} ms`;
      return [{ labels, title: `${app} is slow: p99 ${site.p99Ms} ms`, detail, value: site.p99Ms }];
    });
}

type MetricWatch = Parameters<typeof metricAsk>[0];

function metricFindings(watch: MetricWatch, { metrics }: Facts): Finding[] | undefined {
  const ask = metricAsk(watch);
  const isBad = ({ value }: MetricValue) =>
    value > (watch.above ?? Number.POSITIVE_INFINITY) || value < (watch.below ?? Number.NEGATIVE_INFINITY);
  return metrics
    ?.get(askText(ask))
    ?.filter(isBad)
    .map(({ labels, value }) => {
      const [word, limit] =
        value > (watch.above ?? Number.POSITIVE_INFINITY) ? ["above", watch.above] : ["below", watch.below];
      const title = `${subject(labels)}${ask.metric} is ${round(value)}`;
      return { labels, title, detail: `${ask.agg} over ${ask.overMs / 1_000} s, ${word} ${limit}`, value };
    });
}

function logFindings(watch: Parameters<typeof logAsk>[0], { logs }: Facts): Finding[] | undefined {
  const ask = logAsk(watch);
  const most = watch.more_than ?? 0;
  return logs
    ?.get(askText(ask))
    ?.filter(({ value }) => value > most)
    .map(({ labels, value }) => ({
      labels,
      title: `${subject(labels)}"${ask.pattern}" in ${value} log lines`,
      detail: `within ${ask.withinMs / 1_000} s; more than ${most} fire this`,
      value,
    }));
}

function subject(labels: Labels): string {
  const { scope, name, kind: _, ...rest } = labels;
  const app = name === undefined ? [] : [scope === undefined ? name : `${scope}/${name}`];
  const parts = [...app, ...Object.values(rest)];
  return parts.length === 0 ? "" : `${parts.join(" ")}: `;
}

function round(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

/** `{name}` and the like in the title of a rule. */
function filled(title: string, { labels, detail, value }: Finding): string {
  const app = labels.name === undefined ? "" : `${labels.scope ?? ""}/${labels.name}`;
  const words: Record<string, string> = { app, ...labels, detail, value: value === undefined ? "" : round(value) };
  return title.replaceAll(/\{(\w+)\}/g, (whole, word: string) => words[word] ?? whole);
}
