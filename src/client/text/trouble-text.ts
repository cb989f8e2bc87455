import type { IngressSite } from "../../ingress/api/ingress.ts";
import type { Alert } from "../../observability/api/alerts.ts";
import { printable } from "../basics/style.ts";

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
