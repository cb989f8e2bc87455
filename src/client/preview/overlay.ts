import { routingFields } from "../../orchestration/api/kinds/routing.ts";
import { previewScope } from "../../orchestration/core/preview-scope.ts";
import { isFields } from "../../base/pure/fields.ts";
import { normalKind } from "../basics/kinds.ts";

type Written = Record<string, unknown>;

/** The manifests of a branch: what of them becomes what in a scope of its own. */
interface BranchPlan {
  scope: string;
  manifests: Written[];
  /** Indexes of the manifests in those that were given. */
  kept: number[];
  host: string | undefined;
  /** Length of time. */
  ttl: string;
  /** What the operator should know. */
  notes: string[];
}

const ttlUsual = "3d";

/**
 * What a branch of the scope `of` runs. Undefined where no app has `preview` settings, or the scope's name leaves no room.
 * Hosts come from the settings alone; cron jobs are suspended, and ingresses left out.
 */
export function branchPlan(manifests: readonly Written[], of: string, branch: string): BranchPlan | undefined {
  const place = previewScope(of, branch);
  const settings = manifests.map(settingsOf).filter((one) => one !== undefined);
  if (place === undefined || settings.length === 0) return undefined;
  const plan: BranchPlan = {
    scope: place.scope,
    manifests: [],
    kept: [],
    host: undefined,
    ttl: (settings.map(({ ttl }) => ttl).find((ttl) => typeof ttl === "string") as string | undefined) ?? ttlUsual,
    notes: [],
  };
  const hosts = hostsOfScope(manifests, of);
  for (const [index, manifest] of manifests.entries()) {
    const kind = kindOf(manifest);
    if (kind === "ingress") {
      plan.notes.push(`ingress/${String(manifest.name)} is left out: only apps with preview.host have an address`);
      continue;
    }
    const own = renamed(manifest, { of, scope: place.scope, hosts }) as Written;
    if (isFields(own.spec)) own.spec = specOf(own.spec, kind, place.label);
    if (kind === "cronjob") plan.notes.push(`cronjob/${String(manifest.name)} is suspended`);
    if (kind === "app" && isFields(own.spec) && typeof own.spec.host === "string") plan.host ??= own.spec.host;
    plan.manifests.push(own);
    plan.kept.push(index);
  }
  return plan;
}

function kindOf({ kind }: Written): string {
  return typeof kind === "string" ? normalKind(kind).toLowerCase() : "";
}

function settingsOf(manifest: Written): Written | undefined {
  if (kindOf(manifest) !== "app" || !isFields(manifest.spec)) return undefined;
  return isFields(manifest.spec.preview) ? manifest.spec.preview : undefined;
}

function specOf(spec: Written, kind: string, label: string): Written {
  if (kind === "cronjob") return { ...spec, suspend: true };
  if (kind === "app") return appSpec(spec, label);
  return kind === "deployment" || kind === "statefulset" ? smallSpec(spec, 1) : spec;
}

function appSpec({ preview, ...spec }: Written, label: string): Written {
  const settings = isFields(preview) ? preview : {};
  const host = typeof settings.host === "string" ? settings.host.replaceAll("{branch}", label) : undefined;
  const fields = Object.entries(spec).filter(([field]) => {
    if (["host", "hosts", "tcp", "shared"].includes(field)) return false;
    return host !== undefined || !Object.hasOwn(routingFields, field);
  });
  const env = isFields(settings.env) ? { ...(isFields(spec.env) ? spec.env : {}), ...settings.env } : spec.env;
  const from = settings.env_from ?? spec.env_from;
  const { replicas = 1 } = settings;
  return {
    ...smallSpec(Object.fromEntries(fields), replicas),
    ...(host === undefined ? {} : { host }),
    ...(env === undefined ? {} : { env }),
    ...(from === undefined ? {} : { env_from: from }),
  };
}

/** Few replicas, and no ports of the machine: those are taken by the app itself. */
function smallSpec({ autoscale: _, wake: __, idle_after: ___, ...spec }: Written, replicas: unknown): Written {
  const ports = Array.isArray(spec.ports) ? spec.ports.map(insidePort) : undefined;
  return { ...spec, replicas, ...(ports === undefined ? {} : { ports }) };
}

/** `127.0.0.1:8080:80/tcp` is `80/tcp` inside. */
function insidePort(port: unknown): unknown {
  return typeof port === "string" ? port.slice(port.lastIndexOf(":") + 1) : port;
}

interface Renaming {
  of: string;
  scope: string;
  /** Names inside of the platform, in which the scope stands. */
  hosts: RegExp;
}

/** `web.shop`, `db-0.shop` and the same with the suffix of the platform; never a part of a longer name. */
function hostsOfScope(manifests: readonly Written[], of: string): RegExp {
  const names = manifests.flatMap(({ name }) => (typeof name === "string" && name !== "" ? [escaped(name)] : []));
  return new RegExp(`(?<![\\w.-])((?:${names.join("|")})(?:-\\d+)?)\\.${escaped(of)}(?=(?:\\.berth)?(?![\\w.-]))`, "g");
}

function escaped(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, "\\$&");
}

/** The manifest with its own scope under the new name, also where it names assets and services of its scope. */
function renamed(value: unknown, to: Renaming, path = ""): unknown {
  if (typeof value === "string")
    return path.startsWith(".spec.") ? renamedText(value, to, path) : renamedScope(value, to, path);
  if (Array.isArray(value)) return value.map((item) => renamed(item, to, path));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renamed(item, to, `${path}.${key}`)]));
}

function renamedScope(value: string, { of, scope }: Renaming, path: string): string {
  return path === ".scope" && value === of ? scope : value;
}

function renamedText(value: string, { of, scope, hosts }: Renaming, path: string): string {
  if (/^\.spec(?:\.job)?\.depends_on\.assets$/.test(path)) {
    const parts = value.split(".");
    return parts.length === 3 && parts[0] === of ? [scope, ...parts.slice(1)].join(".") : value;
  }
  return value.replaceAll(`\${asset.${of}.`, `\${asset.${scope}.`).replace(hosts, `$1.${scope}`);
}
