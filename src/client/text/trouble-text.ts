import type { DataOf } from "../../base/wire/endpoint.ts";
import type { IngressSite } from "../../ingress/api/ingress.ts";
import type { Alert } from "../../observability/api/alerts.ts";
import type { system } from "../../orchestration/api/health.ts";
import { printable } from "../basics/style.ts";
import { bytesText } from "./stats-table.ts";

/** What is wrong for visitors, and what the server alerts of. */
export interface Troubles {
  sites: readonly Pick<IngressSite, "ingress" | "target" | "problems">[];
  /** Alerts that fire and are not silenced. */
  alerts: readonly Alert[];
}

/** Alerts that an operator has to act upon. */
export function firing(alerts: readonly Alert[]): Alert[] {
  return alerts.filter(({ state, silenced_by: silence }) => state === "firing" && silence === undefined);
}

/** A note is for people alone: nothing is wrong. */
export function isFault({ severity }: Pick<Alert, "severity">): boolean {
  return severity !== "info";
}

export function alertLine({ id, severity, title, acknowledged }: Alert): string {
  const by = acknowledged === undefined ? "" : `, acknowledged by ${acknowledged.by}`;
  return printable(`alert ${id} (${severity}${by}): ${title}`);
}

interface Subject {
  kind: string;
  scope?: string;
  name: string;
}

/** What is wrong around one resource, a line each: its ingresses, and alerts about it. Of an ingress its own status says the first. */
export function troublesOf({ kind, scope = "", name }: Subject, { sites, alerts }: Troubles): string[] {
  const id = `${scope}/${name}`;
  const leading = kind === "deployment" || kind === "statefulset" ? sites.filter(({ target }) => target === id) : [];
  const about = alerts.filter(({ labels }) => {
    return labels.scope === scope && labels.name === name && (labels.kind === undefined || labels.kind === kind);
  });
  return [
    ...leading.flatMap(({ ingress, problems }) => problems.map((text) => printable(`ingress/${ingress}: ${text}`))),
    ...about.map(alertLine),
  ];
}

/** Whether a resource is the ingress of a site, and it leads to one of these apps. */
export function leadsTo(
  { ingress, target }: Troubles["sites"][number],
  { kind, scope = "", name }: Subject,
  apps: readonly { scope: string; name: string }[],
): boolean {
  if (kind !== "ingress" || ingress !== `${scope}/${name}`) return false;
  return apps.some((app) => target === `${app.scope}/${app.name}`);
}

const repairText = "a disk with errors becomes so: dmesg says why; repair it, mount it writable, restart berth";

/** Said at once: the alert has a waiting time. A server of an older version tells of no disk. */
export function badDisks({ disks = [] }: Pick<DataOf<typeof system>, "disks">): string[] {
  const locked = disks.filter(({ read_only: isReadOnly }) => isReadOnly);
  const full = disks.filter(({ low, read_only: isReadOnly }) => low && !isReadOnly);
  const lockedText = locked.map(
    ({ path }) => `the disk at ${path} is read-only, so no change is stored; ${repairText}`,
  );
  const fullText = full.map(({ path, used_percent: used, free_bytes: free }) => {
    const share = `${Math.floor(used)} %`;
    return `the disk at ${path} is ${share} full, ${bytesText(free)} are free; berth disk shows what fills it, berth prune makes room`;
  });
  return [...lockedText, ...fullText];
}
