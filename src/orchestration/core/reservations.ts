import type { FailureCode } from "../../base/wire/failure.ts";
import { containerKinds, type CoreKind, formatKey, type ManifestKey } from "../api/manifest.ts";
import type { CoreDraft } from "./draft.ts";
import { registryHost } from "./image-reference.ts";
import type { Reservation } from "./reservation.ts";
import { ingressReservations } from "./ingress-reservations.ts";
import { appId } from "./naming.ts";
import { decodeSpec } from "./spec/decode.ts";

/** The derived names that a manifest reserves beside its key. */
export function reservationsOf(manifest: CoreDraft): Reservation[] {
  if (manifest.kind === "ingress") return ingressReservations(manifest);
  if (manifest.kind === "registry") return registryReservations(manifest);
  if (!isContainerKind(manifest.kind)) return [];
  return [...appReservations(manifest), ...volumeReservations(manifest), ...aliasReservations(manifest)];
}

/** Two entries of one batch that reserve one name for different owners; indexes into the batch, `first` < `second`. */
export function duplicateReservations(batch: readonly CoreDraft[]): { name: string; first: number; second: number }[] {
  const holders = new Map<string, { owner: string; index: number }>();
  const found: { name: string; first: number; second: number }[] = [];
  batch.forEach((manifest, index) => {
    for (const { name, owner } of reservationsOf(manifest)) {
      const holder = holders.get(name);
      if (holder === undefined) holders.set(name, { owner, index });
      else if (holder.owner !== owner) found.push({ name, first: holder.index, second: index });
    }
  });
  return found;
}

/** Keeps the first name of each host, of those that one manifest cannot have because of one other: one host reserves several. */
export function firstOfEachHost<T>(found: readonly T[], key: (one: T) => { name: string; between: string }): T[] {
  const seen = new Set<string>();
  return found.filter((one) => {
    const { name, between } = key(one);
    const [host] = name.slice(name.indexOf(":") + 1).split("/", 1);
    const text = `${between} ${reservedField(name)} ${host}`;
    return !seen.has(text) && seen.add(text);
  });
}

const ofIngresses = /^(?:host|domain|share|tls|tcp|route):/;

/** A taken host or port is a fault of the manifest; a taken name is a conflict with what is stored. */
export function conflictCode(reserved: string): Extract<FailureCode, "invalid" | "conflict"> {
  return ofIngresses.test(reserved) ? "invalid" : "conflict";
}

const fieldOf: Record<string, string> = {
  host: "spec.host",
  domain: "spec.host",
  share: "spec.host",
  tls: "spec.tls",
  tcp: "spec.tcp.port",
  route: "spec.plugin",
  registry: "spec.url",
  volume: "spec.volume_claims",
};

/** The field of the manifest that a reserved name comes from, for the path of a problem. */
export function reservedField(reserved: string): string {
  return fieldOf[reserved.slice(0, reserved.indexOf(":"))] ?? "name";
}

/** Why a name cannot be reserved: who has it, and the way out. */
export function conflictText(reserved: string, heldBy: ManifestKey): string {
  const holder = formatKey(heldBy);
  const colon = reserved.indexOf(":");
  const name = reserved.slice(colon + 1);
  switch (reserved.slice(0, colon)) {
    case "host":
      return `"${name}" is already served by ${holder}; use another host or path`;
    case "domain":
      return `"${name}" is also in ${holder}, and a host that one ingress redirects belongs to it as a whole; use another host`;
    case "share":
      return `"${name}" is also in ${holder}; for a host of several scopes, write shared: true in each of its ingresses`;
    case "tls":
      return `the certificate settings of "${name}" differ from those in ${holder}; write the same tls block in both and apply them together`;
    case "tcp":
      return portText(name, holder);
    case "route":
      return `the plugin knows this ingress and ${holder} by the same name, "${name.slice(name.indexOf("/") + 1)}"; choose another name`;
    case "registry":
      return `the login of "${name}" is already in ${holder}; change that one`;
    case "volume":
      return `volumes "${name}-<ordinal>" belong to ${holder}; choose another name or claim name`;
    case "alias":
      return `host names "${name}" (# is an ordinal) belong to ${holder}; choose another name`;
    default:
      return `the name "${name}" of containers and files belongs to ${holder}; choose another scope or name`;
  }
}

/** `5432`, or `5432/db.example.com`. */
function portText(reserved: string, holder: string): string {
  const [port, name] = reserved.split("/");
  if (name !== undefined) return `"${name}" on port ${port} already leads to ${holder}; use another host or port`;
  return `port ${port} already leads to ${holder}; use another port, or in both tls, hosts that differ and the same tcp.address`;
}

function appReservations({ kind, scope, name, spec }: CoreDraft): Reservation[] {
  const owner = `${scope}/${name}`;
  const id = appId(scope, name);
  const reserved = [{ name: `app:${id}`, owner }];
  // The containers of release commands are named after this.
  if (kind === "deployment" && spec.release !== undefined) reserved.push({ name: `app:${id}-release`, owner });
  return reserved;
}

function volumeReservations({ kind, scope, name, spec }: CoreDraft): Reservation[] {
  if (kind !== "statefulset") return [];
  const volume = `volume:${appId(scope, name)}`;
  return decodeSpec(kind, spec).volumeClaims.map((claim) => ({
    name: `${volume}-${claim.name}`,
    owner: `${scope}/${name}`,
  }));
}

/**
 * The pods of statefulset `db` are `db-0.<scope>`, `db-1.<scope>` …: no other resource may be called `db-<number>`,
 * however many replicas there are now. Resources that are called so by themselves do not disturb each other.
 */
function aliasReservations({ kind, scope, name }: CoreDraft): Reservation[] {
  if (kind !== "deployment" && kind !== "statefulset") return [];
  const numbered = /^(.+)-\d+$/.exec(name)?.[1];
  const plain = numbered === undefined ? [] : [{ name: `alias:${numbered}-#.${scope}`, owner: "plain" }];
  if (kind === "deployment") return plain;
  return [...plain, { name: `alias:${name}-#.${scope}`, owner: `statefulset:${name}` }];
}

function registryReservations({ name, spec }: CoreDraft): Reservation[] {
  const host = registryHost(decodeSpec("registry", spec).url ?? "");
  return host === undefined ? [] : [{ name: `registry:${host}`, owner: `registry/${name}` }];
}

function isContainerKind(kind: CoreKind): boolean {
  return containerKinds.some((one) => one === kind);
}
