import type { FailureCode } from "../../base/wire/failure.ts";
import { containerKinds, type CoreKind, formatKey, type ManifestKey, type Spec } from "../api/manifest.ts";
import { registryHost } from "./image-reference.ts";
import type { Claim } from "./claim.ts";
import { ingressClaims } from "./ingress-claims.ts";
import { appId } from "./naming.ts";
import { decodeSpec } from "./spec/decode.ts";

export interface Claimant {
  kind: CoreKind;
  scope: string;
  name: string;
  spec: Spec;
}

/** Everything that a manifest's identity and spec occupy beyond the identity itself. */
export function claimsOf(manifest: Claimant): Claim[] {
  if (manifest.kind === "ingress") return ingressClaims(manifest);
  if (manifest.kind === "registry") return registryClaims(manifest);
  if (!isContainerKind(manifest.kind)) return [];
  return [...appClaims(manifest), ...volumeClaims(manifest), ...aliasClaims(manifest)];
}

/** Two entries of one batch that claim the same for different owners; indexes into the batch, `first` < `second`. */
export function duplicateClaims(batch: readonly Claimant[]): { claim: string; first: number; second: number }[] {
  const holders = new Map<string, { owner: string; index: number }>();
  const found: { claim: string; first: number; second: number }[] = [];
  batch.forEach((manifest, index) => {
    for (const { claim, owner } of claimsOf(manifest)) {
      const holder = holders.get(claim);
      if (holder === undefined) holders.set(claim, { owner, index });
      else if (holder.owner !== owner) found.push({ claim, first: holder.index, second: index });
    }
  });
  return found;
}

const ofIngresses = /^(?:host|domain|share|tls|tcp|route):/;

/** A taken host or port is a fault of the manifest; a taken name is a conflict with what is stored. */
export function claimConflictCode(claim: string): Extract<FailureCode, "invalid" | "conflict"> {
  return ofIngresses.test(claim) ? "invalid" : "conflict";
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

/** The field of the manifest that a claim comes from, for the path of a problem. */
export function claimField(claim: string): string {
  return fieldOf[claim.slice(0, claim.indexOf(":"))] ?? "name";
}

/** Why a claim cannot be had, naming who has it and the way out. */
export function conflictText(claim: string, heldBy: ManifestKey): string {
  const holder = formatKey(heldBy);
  const colon = claim.indexOf(":");
  const name = claim.slice(colon + 1);
  switch (claim.slice(0, colon)) {
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
function portText(claimed: string, holder: string): string {
  const [port, name] = claimed.split("/");
  if (name !== undefined) return `"${name}" on port ${port} already leads to ${holder}; use another host or port`;
  return `port ${port} already leads to ${holder}; use another port, or in both tls, hosts that differ and the same tcp.address`;
}

function appClaims({ kind, scope, name, spec }: Claimant): Claim[] {
  const owner = `${scope}/${name}`;
  const id = appId(scope, name);
  const claims = [{ claim: `app:${id}`, owner }];
  // The containers of release commands are named after this.
  if (kind === "deployment" && spec.release !== undefined) claims.push({ claim: `app:${id}-release`, owner });
  return claims;
}

function volumeClaims({ kind, scope, name, spec }: Claimant): Claim[] {
  if (kind !== "statefulset") return [];
  const { claims } = decodeSpec(kind, spec);
  return claims.map((claim) => ({ claim: `volume:${appId(scope, name)}-${claim.name}`, owner: `${scope}/${name}` }));
}

/**
 * The pods of statefulset `db` are `db-0.<scope>`, `db-1.<scope>` …: no other resource may be called `db-<number>`,
 * however many replicas there are now. Resources that are called so by themselves do not disturb each other.
 */
function aliasClaims({ kind, scope, name }: Claimant): Claim[] {
  if (kind !== "deployment" && kind !== "statefulset") return [];
  const numbered = /^(.+)-\d+$/.exec(name)?.[1];
  const plain = numbered === undefined ? [] : [{ claim: `alias:${numbered}-#.${scope}`, owner: "plain" }];
  if (kind === "deployment") return plain;
  return [...plain, { claim: `alias:${name}-#.${scope}`, owner: `statefulset:${name}` }];
}

function registryClaims({ name, spec }: Claimant): Claim[] {
  const host = registryHost(decodeSpec("registry", spec).url ?? "");
  return host === undefined ? [] : [{ claim: `registry:${host}`, owner: `registry/${name}` }];
}

function isContainerKind(kind: CoreKind): boolean {
  return containerKinds.some((one) => one === kind);
}
