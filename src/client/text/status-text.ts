import type { BackupTarget } from "../../backups/api/backups.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import type { CertificateView } from "../../ingress/api/certificates.ts";
import type { Alert } from "../../observability/api/alerts.ts";
import type { App } from "../../observability/api/app-model.ts";
import type { Drain } from "../../observability/api/log-drains.ts";
import type { IngressStatus } from "../../ingress/api/ingress.ts";
import type { ListedManifest } from "../../orchestration/api/apply.ts";
import type { Event } from "../../orchestration/api/events.ts";
import type { system } from "../../orchestration/api/health.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { keyOf, keyText } from "../../orchestration/api/manifest-key.ts";
import { printable } from "../basics/style.ts";
import { isPodKind, isWell } from "../facts/look.ts";
import {
  type CopiedApp,
  missingVolumes,
  type Protection,
  protectionIn,
  protectionRows,
  targetWarnings,
} from "./protection-text.ts";
import { eventRows } from "./event-text.ts";
import { ingressText } from "./ingress-text.ts";
import { ingressWarnings } from "./ingress-warnings.ts";
import { troubledDrains } from "./drain-text.ts";
import { canaryCell, phaseOf, reasonCell } from "./resource-status.ts";
import type { TableSetup } from "./resource-table.ts";
import { badDisks, isFault, leadsTo } from "./trouble-text.ts";
import { isSaid } from "./said.ts";
import { sameFailures } from "./same-failures.ts";
import { listText } from "../basics/table-text.ts";
import { ageOf } from "./time-text.ts";

type Report = DataOf<typeof system>;

const dayMs = 86_400_000;
const failuresShown = 10;

/** Actions of the event log that an operator has to look at. */
const failureActions =
  /^(?:replica\.(?:crash|oom|restart)|release\.(?:failed|post_failed)|rollout\.halted|hook\.dropped|apply\.stuck|run\.(?:failed|timed_out|missed))$/;

interface Overview {
  /**
   * The engine answers, its disks have room, every app is ready or in a canary step that goes as was asked, every ingress
   * serves its visitors, and no alert fires.
   */
  well: boolean;
  server: Pick<Report, "version" | "started_at" | "root">;
  engine: Report["engine"];
  /** Those that are asleep are ready: the first request starts them. */
  apps: { total: number; ready: number; asleep: number; canary: number };
  protection: Protection;
  ingress: { state: IngressStatus["proxy"]["state"]; total: number; troubled: number };
  canaries: { kind: string; scope: string; name: string; text: string }[];
  not_ready: { kind: string; scope: string; name: string; status: string; reason: string }[];
  /** Ready, and yet a port that an ingress leads to is closed. */
  closed_ports: { kind: string; scope: string; name: string; ports: number[]; text: string }[];
  /** Those that fire, the most severe first. */
  alerts: Pick<Alert, "id" | "rule" | "severity" | "title">[];
  /** Log drains that fail, are behind for minutes, or had to leave lines out in the last day. */
  drains: { name: string; state: string; text: string }[];
  /** Failures of the last day, oldest first. */
  failures: Event[];
  warnings: string[];
}

interface Parts {
  report: Report;
  manifests: readonly ListedManifest[];
  events: readonly Event[];
  ingress: IngressStatus;
  certificates: readonly CertificateView[];
  /** Those that fire and are not silenced. */
  alerts: readonly Alert[];
  /** Apps that serve and whose visitors get errors. */
  failing?: readonly App[];
  drains: readonly Drain[];
  /** Why plugins cannot be used. */
  faults: readonly string[];
  targets: readonly BackupTarget[] | undefined;
  backups?: readonly CopiedApp[] | undefined;
  now: number;
}

export function overviewOf(parts: Parts): Overview {
  const { report, manifests, events, ingress, certificates, alerts, failing = [], drains, now } = parts;
  const { version, started_at, root, engine } = report;
  const apps = manifests.filter(({ kind }) => isPodKind(kind));
  const isAsleep = ({ status }: ListedManifest) => phaseOf(status) === "asleep";
  const isReady = ({ status }: ListedManifest) => isWell(phaseOf(status));
  const canaries = apps.filter((one) => canaryCell(one) !== "");
  const isWrong = (one: ListedManifest) => !isReady(one) && !canaries.includes(one);
  // An ingress to an app that fails its visitors has no fault of its own: its problems are among the warnings.
  const isTold = (one: ListedManifest) => ingress.sites.some((site) => leadsTo(site, one, failing));
  const notReady = manifests.filter((one) =>
    isPodKind(one.kind) ? isWrong(one) : phaseOf(one.status) === "failing" && !isTold(one),
  );
  const closed = apps.flatMap(closedPorts);
  const failures = events.filter(({ at, action }) => failureActions.test(action) && Date.parse(at) > now - dayMs);
  return {
    well:
      engine.up &&
      badDisks(report).length === 0 &&
      notReady.length === 0 &&
      failing.length === 0 &&
      closed.length === 0 &&
      !alerts.some(isFault),
    server: { version, started_at, root },
    engine,
    apps: {
      total: apps.length,
      ready: apps.filter((one) => isReady(one) && !failing.some((app) => keyText(app) === keyText(one))).length,
      asleep: apps.filter(isAsleep).length,
      canary: canaries.length,
    },
    protection: protectionIn(parts.backups, manifests, parts.targets?.length),
    ingress: {
      state: ingress.proxy.state,
      total: ingress.sites.length,
      troubled: ingress.sites.filter(({ problems }) => problems.length > 0).length,
    },
    canaries: canaries.map((one) => {
      const { kind, scope = "", name } = one;
      return { kind, scope, name, text: canaryCell(one) };
    }),
    not_ready: [
      ...failing.map((app) => ({ ...keyOf(app), status: app.state, reason: app.summary })),
      ...notReady.map((one) => ({ ...keyOf(one), status: phaseOf(one.status) || "unknown", reason: reasonCell(one) })),
    ],
    closed_ports: closed,
    alerts: alerts.map(({ id, rule, severity, title }) => ({ id, rule, severity, title })),
    drains: troubledDrains(drains, now),
    failures,
    warnings: [...badDisks(report), ...warningsOf(parts, notReady), ...ingressWarnings(ingress, certificates)],
  };
}

function closedPorts({ kind, scope = "", name, status }: ListedManifest): Overview["closed_ports"] {
  const ports: unknown = status?.closed_ports;
  if (!Array.isArray(ports) || ports.length === 0) return [];
  const warnings: unknown[] = Array.isArray(status?.warnings) ? status.warnings : [];
  const text = warnings.find((one) => typeof one === "string" && one.startsWith(`port ${ports[0]} `));
  return [{ kind, scope, name, ports, text: typeof text === "string" ? text : `port ${ports[0]} is closed` }];
}

function warningsOf(
  { report, faults, targets = [] }: Pick<Parts, "report" | "faults" | "targets">,
  notReady: ListedManifest[],
): string[] {
  const { engine, forwarding, store, held, reconciler } = report;
  const warnings = [...missingVolumes(notReady.map(reasonCell)), ...faults.map((fault) => `plugin ${fault}`)];
  warnings.push(...targetWarnings(targets));
  if (!engine.up) warnings.push(`Docker does not answer at ${engine.host}: ${engine.error ?? "no reason given"}`);
  if (engine.live_restore === false) {
    warnings.push(
      "Docker's live-restore is off: a restart of the Docker daemon stops every container; see berth doctor",
    );
  }
  if (forwarding?.state === "blocked") {
    warnings.push(`containers cannot reach each other: ${forwarding.detail}; see berth doctor`);
  }
  if (store.collection_held) {
    warnings.push("this state was restored and is not confirmed, so nothing is removed: berth restore --confirm");
  }
  if (held !== undefined && !store.collection_held)
    warnings.push(`cron jobs, webhooks, mails and backups wait: ${held}`);
  if (reconciler.failing > 0) warnings.push(`the server retries ${counted(reconciler.failing)} that it cannot update`);
  return warnings;
}

/** One screen. */
export function overviewText(overview: Overview, setup: TableSetup & { endpoint: string }): string {
  const { canaries, not_ready: notReady, failures, warnings, closed_ports: closed, alerts, drains } = overview;
  const { style, width } = setup;
  const section = (title: string, rows: readonly (readonly string[])[]) =>
    rows.length === 0 ? [] : ["", style.bold(title), listText(rows, { indent: "  ", width })];
  const faults = sameFailures(failures);
  const shown = faults.slice(-failuresShown);
  const more = faults.length > shown.length ? `, the newest ${shown.length} of ${faults.length}` : "";
  const [first] = notReady;
  return [
    headText(overview, setup),
    ...section(
      "canaries",
      canaries.map((one) => [formatKey(one), one.text]),
    ),
    ...section(
      "not ready",
      notReady.map((one) => [formatKey(one), one.status, one.reason]),
    ),
    ...section(
      "closed ports",
      closed.map((one) => [formatKey(one), printable(one.text)]),
    ),
    ...section(
      "alerts",
      alerts.map(({ id, severity, title }) => [id, severity, printable(title)]),
    ),
    ...section(
      "log drains",
      drains.map(({ name, state, text }) => [name, state, printable(text)]),
    ),
    ...section(
      `failures of the last day${more}`,
      shown.map((event) => failureRow(event, notReady)),
    ),
    ...warnings.map((warning, index) => `${index === 0 ? "\n" : ""}${style.yellow("!")} ${printable(warning)}`),
    ...(first === undefined ? [] : ["", `next: berth why ${[first.scope, first.name].filter(Boolean).join("/")}`]),
  ].join("\n");
}

/** Server, engine, apps and ingress, a line each. */
function headText(
  { server, engine, apps: { ready, total, asleep, canary }, ingress, protection }: Overview,
  { style, now, endpoint }: TableSetup & { endpoint: string },
): string {
  const inCanary = canary === 0 ? "" : `, ${canary} in a canary step`;
  const countText = `${ready} of ${total} ready${asleep === 0 ? "" : `, ${asleep} of them asleep`}${inCanary}`;
  const readyText = engine.up ? countText : `${total}; whether they run is not known`;
  const appsText = engine.up && ready + canary === total ? readyText : style.red(readyText);
  return listText([
    ["server", printable(`${server.version}, started ${ageOf(server.started_at, now)} ago, ${endpoint}`)],
    [
      "engine",
      engine.up
        ? printable(`Docker ${engine.version ?? ""} at ${engine.host}`)
        : style.red(`not reached for ${ageOf(engine.since, now)}`),
    ],
    ["apps", total === 0 ? "none yet: berth apply -f FILE" : appsText],
    ...(ingress.total === 0 ? [] : [["ingress", ingressText(ingress, style)]]),
    ...protectionRows(protection, style),
  ]);
}

/** The newest of those that say the same, with their count before what they say. */
function failureRow(event: Event, notReady: Overview["not_ready"]): string[] {
  const { times, ...all } = event.detail ?? {};
  const own = notReady.find((one) => one.kind === event.kind && one.scope === event.scope && one.name === event.name);
  const { error, ...rest } = all;
  const detail = isSaid(typeof error === "string" ? printable(error) : error, own?.reason) ? rest : all;
  const [at = "", , action = "", on = "", text = ""] = eventRows([{ ...event, detail }])[0] ?? [];
  return [at, action, on, typeof times === "number" ? `${times} times, the last: ${text}` : text];
}

function counted(count: number): string {
  return count === 1 ? "1 resource" : `${count} resources`;
}
