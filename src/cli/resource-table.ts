import type { Manifest } from "../api/manifest.ts";
import type { PodRecord } from "../api/orchestration/pods.ts";
import { ageOf } from "./time-text.ts";
import { isReplica } from "./look.ts";
import { printable, type Style } from "./style.ts";
import { tableText } from "./table-text.ts";

export interface TableSetup {
  style: Style;
  width: number;
  /** Epoch milliseconds. */
  now: number;
}

/**
 * Manifests of one kind as a table, with the columns that matter for that kind. Without `pods` nobody knows what runs.
 */
export function resourceTable(
  kind: string,
  manifests: readonly Manifest[],
  { pods, ...setup }: TableSetup & { pods: readonly PodRecord[] | undefined },
): string {
  const columns = columnsOf(kind);
  const rows = manifests.map((manifest) => {
    const cells = Object.values(columns).map((cell) => printable(cell(manifest, pods)));
    return [reference(manifest), ...cells, ageOf(manifest.metadata?.created_at, setup.now)];
  });
  return tableText([["NAME", ...Object.keys(columns), "AGE"], ...rows], { width: setup.width, head: setup.style.dim });
}

type Cell = (manifest: Manifest, pods: readonly PodRecord[] | undefined) => string;
type Columns = Record<string, Cell>;

const text =
  (field: string): Cell =>
  ({ spec }) =>
    typeof spec[field] === "string" || typeof spec[field] === "number" ? String(spec[field]) : "-";

const podColumns: Columns = { READY: readyCount, IMAGE: text("image") };

const columnTable: Record<string, Columns> = {
  deployment: podColumns,
  statefulset: podColumns,
  ingress: {
    HOST: hosts,
    SERVICE: text("service"),
    PORT: text("port"),
    TLS: ({ spec }) => (hasTls(spec.tls) ? "yes" : "no"),
  },
  job: { IMAGE: text("image") },
  cronjob: { SCHEDULE: text("schedule"), TIMEZONE: text("timezone"), SUSPENDED: suspended },
  asset: { FILES: ({ spec }) => Object.keys(asObject(spec.files)).join(", ") },
  registry: { URL: text("url"), USERNAME: text("username") },
};

function columnsOf(kind: string): Columns {
  return columnTable[kind] ?? {};
}

function reference({ scope, name }: Manifest): string {
  return scope ? `${scope}/${name}` : name;
}

/** Ready replicas of the wanted ones, counted from what runs. */
function readyCount(manifest: Manifest, pods: readonly PodRecord[] | undefined): string {
  if (pods === undefined) return "unknown";
  const own = pods.filter((pod) => isReplica(pod) && isOf(pod, manifest));
  const autoscale = asObject(manifest.spec.autoscale);
  const wanted = manifest.spec.replicas ?? autoscale.min ?? 1;
  return `${own.filter((pod) => pod.ready).length}/${wanted}`;
}

function isOf(pod: PodRecord, manifest: Manifest): boolean {
  const sameScope = (pod.scope ?? "") === (manifest.scope ?? "");
  return pod.kind === manifest.kind && sameScope && pod.resource_name === manifest.name;
}

function hosts({ spec }: Manifest): string {
  const list = Array.isArray(spec.hosts) ? spec.hosts : [spec.host ?? "-"];
  return list.join(", ");
}

function hasTls(tls: unknown): boolean {
  return typeof tls === "object" && tls !== null && asObject(tls).enabled !== false;
}

function suspended({ spec }: Manifest): string {
  return spec.suspend === true ? "yes" : "no";
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
