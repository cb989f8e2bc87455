import type { Manifest } from "../../orchestration/api/manifest.ts";
import type { ListedManifest } from "../../orchestration/api/apply.ts";
import { builtImage } from "../../orchestration/core/build/built-image.ts";
import type { PodRecord } from "../../orchestration/api/pods.ts";
import { ageOf } from "./time-text.ts";
import { isPodKind, isReplica } from "../facts/look.ts";
import { portsText, reasonCell, statusCell } from "./resource-status.ts";
import { printable, type Style } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";

export interface TableSetup {
  style: Style;
  width: number;
  /** Epoch milliseconds. */
  now: number;
}

/**
 * Manifests of one kind as a table, with the columns that matter for that kind. Without `pods` it is not known what runs.
 */
export function resourceTable(
  kind: string,
  manifests: readonly ListedManifest[],
  { pods, ...setup }: TableSetup & { pods: readonly PodRecord[] | undefined },
): string {
  const reasons = manifests.map(reasonCell);
  const isTold = reasons.some((reason) => reason !== "");
  // A column that nothing stands in only takes room.
  const columns = Object.entries(columnTable[kind] ?? {}).filter(([title, cell]) => {
    return title !== "PORTS" || manifests.some((manifest) => cell(manifest, pods) !== "-");
  });
  const rows = manifests.map((manifest, index) => {
    const cells = columns.map(([, cell]) => printable(cell(manifest, pods)));
    const status = pods === undefined && isPodKind(kind) ? "unknown" : statusCell(manifest, setup);
    const age = ageOf(manifest.metadata?.created_at, setup.now);
    return [reference(manifest), status, ...cells, age, ...(isTold ? [reasons[index] ?? ""] : [])];
  });
  const head = ["NAME", "STATUS", ...columns.map(([title]) => title), "AGE", ...(isTold ? ["REASON"] : [])];
  return tableText([head, ...rows], { width: setup.width, head: setup.style.dim });
}

type Cell = (manifest: Manifest, pods: readonly PodRecord[] | undefined) => string;
type Columns = Record<string, Cell>;

const text =
  (field: string): Cell =>
  ({ spec }) =>
    typeof spec[field] === "string" || typeof spec[field] === "number" ? String(spec[field]) : "-";

const podColumns: Columns = { READY: readyCount, PORTS: ports, IMAGE: image };

const columnTable: Record<string, Columns> = {
  deployment: podColumns,
  statefulset: podColumns,
  ingress: {
    HOST: hosts,
    SERVICE: ({ spec, name }) => (typeof spec.service === "string" ? spec.service : name),
    PORT: text("port"),
    TLS: ({ spec }) => (hasTls(spec.tls) ? "yes" : "no"),
  },
  job: { IMAGE: image },
  cronjob: {
    SCHEDULE: text("schedule"),
    TIMEZONE: ({ spec }) => (typeof spec.timezone === "string" ? spec.timezone : "UTC"),
    SUSPENDED: suspended,
  },
  asset: { FILES: files },
  registry: { URL: text("url"), USERNAME: text("username") },
};

function reference({ scope, name }: Manifest): string {
  return scope ? `${scope}/${name}` : name;
}

/** The one that is written, or that of the last build. */
function image({ scope = "", name, spec }: Manifest): string {
  if (typeof spec.image === "string") return spec.image;
  const { id: buildId } = asObject(spec.build);
  return typeof buildId === "string" ? builtImage(scope, name, { buildId }) : "-";
}

/** Ready replicas of the wanted ones, counted from what runs: while replicas are replaced there are more. */
function readyCount(manifest: Manifest, pods: readonly PodRecord[] | undefined): string {
  if (pods === undefined) return "unknown";
  const own = pods.filter((pod) => isReplica(pod) && isOf(pod, manifest));
  const autoscale = asObject(manifest.spec.autoscale);
  const wanted = manifest.spec.replicas ?? autoscale.min ?? 1;
  const ready = own.filter((pod) => pod.ready).length;
  // Above the least that an autoscaler keeps, all are wanted.
  const most = manifest.spec.replicas === undefined && autoscale.min !== undefined ? ready : Number(wanted);
  return `${Math.min(ready, most)}/${wanted}`;
}

/** Where it is reached on the server, from what runs; what is only written stands as it is written. */
function ports(manifest: Manifest, pods: readonly PodRecord[] | undefined): string {
  const own = (pods ?? []).filter((pod) => isReplica(pod) && isOf(pod, manifest));
  const published = portsText(own.flatMap((pod) => pod.ports ?? []));
  if (published !== "") return published;
  return Array.isArray(manifest.spec.ports) ? manifest.spec.ports.join(", ") || "-" : "-";
}

function isOf(pod: PodRecord, manifest: Manifest): boolean {
  const sameScope = (pod.scope ?? "") === (manifest.scope ?? "");
  return pod.kind === manifest.kind && sameScope && pod.resource_name === manifest.name;
}

const filesShown = 3;

function files({ spec }: Manifest): string {
  const names = Object.keys(asObject(spec.files));
  const more = names.length - filesShown;
  return more > 1 ? `${names.slice(0, filesShown).join(", ")} and ${more} more` : names.join(", ");
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
