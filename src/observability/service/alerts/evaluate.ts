import { why } from "../../../orchestration/api/why.ts";
import type { Condition } from "../../api/alert-rules.ts";
import type { AlertWhy } from "../../api/alerts.ts";
import { adviceOf, briefOf } from "../../core/alerts/brief.ts";
import type { Facts } from "../../core/alerts/facts.ts";
import { type Finding, findings } from "../../core/alerts/findings.ts";
import { causesOf } from "../../core/incidents/causes.ts";
import { appOf, type Labels, labelText } from "../../core/alerts/labels.ts";
import { type Change, type Seen, step } from "../../core/alerts/machine.ts";
import type { ActiveRule } from "../../core/alerts/rules.ts";
import type { AlertNouns } from "../../store/alerts/nouns.ts";
import type { AlertRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "../alert-parts.ts";
import type { ReadReleases } from "./release-reader.ts";
import { alertViews } from "./views.ts";
import { type Reading, readFacts } from "./read-facts.ts";

/** What one look at everything gave. */
interface Round {
  facts: Facts;
  /** Rules that could not be evaluated, and why. */
  blind: Map<string, string>;
}

interface Move {
  rule: ActiveRule | undefined;
  labels: Labels;
  fingerprint: string;
  previous: AlertRecord | undefined;
  finding: Finding | undefined;
  next: ReturnType<typeof step>["next"];
  change: Change | undefined;
  why?: AlertWhy;
}

/** Looks at everything once, and stores how each alert goes on. */
export async function evaluate(
  parts: AlertParts,
  rules: readonly ActiveRule[],
  readReleases: ReadReleases,
): Promise<Round> {
  const enabled = rules.filter((rule) => rule.enabled);
  const reading = await readFacts(parts, enabled, readReleases);
  const blind = new Map<string, string>();
  const moves = movesOf(parts, enabled, { reading, blind });
  const changed = moves.filter(isWorthWriting);
  if (changed.length > 0) {
    await explain(parts, changed, reading.facts);
    const isNews = changed.some(({ change }) => change !== undefined);
    const change = (nouns: AlertNouns) => changed.flatMap((move) => store(nouns, move, parts) ?? []);
    const ids = await parts.store.write(change, { durable: isNews });
    tell(parts, ids);
  }
  return { facts: reading.facts, blind };
}

interface Look {
  reading: Reading;
  blind: Map<string, string>;
}

function movesOf(parts: AlertParts, rules: readonly ActiveRule[], { reading, blind }: Look): Move[] {
  const open = Map.groupBy(parts.store.alerts.open(), ({ rule }) => rule);
  let room = parts.limits.openMax - [...open.values()].flat().length;
  const moves = rules.flatMap((rule) => {
    const known = open.get(rule.name) ?? [];
    open.delete(rule.name);
    const found = findings(rule, reading.facts);
    if (found === undefined) {
      blind.set(rule.name, blindText(rule, reading));
      return [];
    }
    const bad = new Map(found.slice(0, parts.limits.perRuleMax).map((one) => [fingerprintOf(rule, one.labels), one]));
    const previous = new Map(known.map((record) => [record.fingerprint, record]));
    const fresh = [...bad.keys()].filter((key) => !previous.has(key)).slice(0, Math.max(0, room));
    room -= fresh.length;
    return [...previous.keys(), ...fresh].map((fingerprint) =>
      moveOf(parts, { rule, fingerprint, previous: previous.get(fingerprint), finding: bad.get(fingerprint) }),
    );
  });
  // The rule of these was deleted or turned off.
  const orphans = [...open.values()].flat().map((previous): Move => {
    const { labels, fingerprint, state } = previous;
    const change = state === "firing" ? "resolved" : "vanished";
    return { rule: undefined, labels, fingerprint, previous, finding: undefined, next: undefined, change };
  });
  return [...moves, ...orphans];
}

function fingerprintOf({ name }: ActiveRule, labels: Labels): string {
  return `${name} ${labelText(labels)}`;
}

function blindText({ watch }: ActiveRule, { missing }: Reading): string {
  const part = watch.type === "platform" ? parts[watch.condition] : watch.type === "requests" ? "sites" : watch.type;
  const name = part === "metric" ? "metrics" : part === "log" ? "logs" : part;
  return missing.get(name) ?? "the server has no figures for it yet";
}

/** Which facts a condition is about. */
const parts: Record<Condition, keyof Facts> = {
  down: "apps",
  not_ready: "apps",
  crash_loop: "apps",
  out_of_memory: "apps",
  deploy_failed: "apps",
  run_failed: "runs",
  run_missed: "runs",
  certificate: "certificates",
  backup: "backup",
  engine: "engine",
  ingress: "ingress",
  disk_full: "disks",
  drain: "drains",
};

interface Subject {
  rule: ActiveRule;
  fingerprint: string;
  previous: AlertRecord | undefined;
  finding: Finding | undefined;
}

function moveOf({ store, clock, limits }: AlertParts, subject: Subject): Move {
  const { rule, fingerprint, previous, finding } = subject;
  const now = clock.now();
  const seen: Seen = finding === undefined ? "well" : "bad";
  const isCooling = previous?.state === "firing" && seen === "well";
  const fires = isCooling ? store.alerts.fires(fingerprint, now - limits.flapWindowMs) : 1;
  const timing = { forMs: rule.forMs, keepMs: rule.keepMs, keepMaxMs: limits.keepMaxMs, fires, now };
  const { next, change } = step(previous === undefined ? undefined : trackedOf(previous), seen, timing);
  return { ...subject, labels: finding?.labels ?? previous?.labels ?? {}, next, change };
}

function trackedOf({ state, since, firedAt, wellSince }: AlertRecord) {
  return {
    state: state === "firing" ? ("firing" as const) : ("pending" as const),
    since,
    ...(firedAt === undefined ? {} : { firedAt }),
    ...(wellSince === undefined ? {} : { wellSince }),
  };
}

function isWorthWriting({ previous, next, change, finding }: Move): boolean {
  if (change !== undefined) return true;
  if (previous === undefined || next === undefined) return false;
  const isOther = finding !== undefined && (finding.title !== previous.title || finding.detail !== previous.detail);
  return isOther || next.wellSince !== previous.wellSince;
}

/** Asks the platform why, for the first few that fire now: in a mass failure the first ones tell enough. */
async function explain({ client, limits }: AlertParts, moves: readonly Move[], { apps = [] }: Facts): Promise<void> {
  const fired = moves.filter(({ change }) => change === "fired");
  await Promise.all(
    fired.map(async (move, index) => {
      const app = appOf(move.labels);
      const advice = move.rule === undefined ? [] : adviceOf(move.rule, app);
      move.why = { changes: [], lines: [], next: advice };
      const { scope, name } = move.labels;
      // Requests are of an app, whatever kind it is of.
      const kind = move.labels.kind ?? apps.find((one) => one.scope === scope && one.name === name)?.kind;
      if (index >= limits.whysPerRound || kind === undefined || scope === undefined || name === undefined) return;
      try {
        const known = await client.call(why, { query: { kind, scope, name } });
        const began = causesOf(known, move.next?.since ?? 0).find((cause) => /^(?:deploy|config)$/.test(cause.kind));
        const brief = briefOf(known);
        move.why = { ...brief, began: began?.text, next: [...new Set([...brief.next, ...advice])] };
      } catch {
        // The alert matters more than its reasons.
      }
    }),
  );
}

/** For those that watch the alerts live. */
function tell(parts: AlertParts, ids: readonly string[]): void {
  const { told, store } = parts;
  if (told === undefined) return;
  const records = ids.flatMap((id) => store.alerts.get(id) ?? []);
  for (const alert of alertViews(parts, records)) told(alert);
}

/** The id of the alert where it is still there. */
function store({ alerts }: AlertNouns, move: Move, { clock, newId }: AlertParts): string | undefined {
  const { rule, labels, fingerprint, finding, next, change } = move;
  // Somebody may have acknowledged it meanwhile.
  const previous = move.previous === undefined ? undefined : alerts.get(move.previous.id);
  if (change === "vanished") {
    if (previous !== undefined) alerts.remove(previous.id);
    return undefined;
  }
  if (next === undefined) {
    if (previous !== undefined) alerts.update({ ...previous, state: "resolved", resolvedAt: clock.now() });
    return previous?.id;
  }
  const record = previous ?? emptyRecord(newId(), { rule: rule?.name ?? "", labels, fingerprint });
  const write = previous === undefined ? alerts.add : alerts.update;
  write({
    ...record,
    severity: rule?.severity ?? record.severity,
    state: next.state,
    title: finding?.title ?? record.title,
    detail: finding?.detail ?? record.detail,
    value: finding?.value ?? record.value,
    since: next.since,
    firedAt: next.firedAt,
    wellSince: next.wellSince,
    group: rule === undefined ? record.group : groupOf(rule, labels),
    why: move.why ?? record.why,
  });
  return record.id;
}

function groupOf({ name, groupBy }: ActiveRule, labels: Labels): string {
  return [name, ...groupBy.map((label) => labels[label] ?? "")].join(" ");
}

function emptyRecord(
  id: string,
  { rule, labels, fingerprint }: Pick<AlertRecord, "rule" | "labels" | "fingerprint">,
): Omit<AlertRecord, "seq"> {
  return {
    ...{ id, rule, labels, fingerprint, severity: "info", state: "pending", title: "", detail: "", since: 0 },
    ...{ value: undefined, firedAt: undefined, wellSince: undefined, resolvedAt: undefined, group: "", why: undefined },
    ...{ firstSentAt: undefined, sentAt: undefined, endSent: false, acknowledged: undefined },
  };
}
