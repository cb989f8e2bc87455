import { own } from "../../base/pure/fields.ts";
import type { CoreKind, PodKind, Spec } from "../api/manifest.ts";
import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import { hostOk } from "../../base/pure/hosts.ts";
import { type Naming, networkAliases } from "./naming.ts";
import { containerOf, decodeSpec } from "./spec/decode.ts";
import type { DecodedIngress } from "./spec/ingress.ts";
import { didYouMean } from "../../base/pure/suggest.ts";

/** A stored manifest that `${ref.KIND.NAME.FIELD}` names. */
export interface ReferencedManifest {
  kind: CoreKind;
  scope: string;
  name: string;
  spec: Spec;
  /** For an asset: sha256 hex by file; undefined until the content of every file is here. */
  digests?: Record<string, string>;
}

/** The fields that a kind can report; what one of its manifests does report depends on its spec. */
const fieldsByKind: Partial<Record<CoreKind, readonly string[]>> = {
  deployment: ["host", "port"],
  statefulset: ["host", "host_0", "port"],
  ingress: ["host", "url"],
  asset: ["digest"],
};

const ordinalField = /^host_(0|[1-9]\d{0,5})$/;

export function reportsValues(kind: string): kind is CoreKind {
  return Object.hasOwn(fieldsByKind, kind);
}

/** What is wrong with the kind or the field of a reference, whatever is stored; undefined when nothing is. */
export function referenceFault(kind: string, field: string): string | undefined {
  if (!reportsValues(kind)) {
    const known = Object.keys(fieldsByKind);
    return `"${kind}" reports no values${didYouMean(kind, known)}; kinds that do are ${known.join(", ")}`;
  }
  const fields = fieldsByKind[kind] ?? [];
  if (fields.includes(field) || (kind === "statefulset" && ordinalField.test(field))) return undefined;
  return `a value "${field}" is not among those of the kind ${kind}${didYouMean(field, fields)}; it has ${fields.join(", ")}`;
}

/**
 * All that a manifest reports, by field, from nothing but itself and the naming: `host` is a name that containers on
 * the platform network resolve (of an ingress: its first host), `port` the first container port, `url` scheme and host.
 */
export function reportedValues(referenced: ReferencedManifest, names: Naming): Record<string, string> {
  switch (referenced.kind) {
    case "deployment":
    case "statefulset":
      return podFields({ ...referenced, kind: referenced.kind }, names);
    case "ingress":
      return ingressFields(decodeSpec("ingress", referenced.spec));
    case "asset":
      return referenced.digests === undefined ? {} : { digest: sha256Hex(canonicalJson(referenced.digests)) };
    default:
      return {};
  }
}

/**
 * One of them; undefined when there is none. The name of an ordinal does not depend on how many replicas there are
 * right now, so that scaling down takes no value away from who runs with it.
 */
export function reportedValue(referenced: ReferencedManifest, field: string, names: Naming): string | undefined {
  const [, ordinal] = referenced.kind === "statefulset" ? (ordinalField.exec(field) ?? []) : [];
  if (ordinal !== undefined) return aliasOf(referenced, names, Number(ordinal));
  const values = reportedValues(referenced, names);
  return own(values, field);
}

function podFields(referenced: ReferencedManifest & { kind: PodKind }, names: Naming): Record<string, string> {
  const { kind, spec } = referenced;
  const pod = decodeSpec(kind, spec);
  const ordinals = Array.from({ length: kind === "statefulset" ? pod.replicas : 0 }, (_, ordinal) => ordinal);
  const [port] = pod.ports;
  const fields = {
    host: aliasOf(referenced, names, undefined),
    ...Object.fromEntries(ordinals.map((ordinal) => [`host_${ordinal}`, aliasOf(referenced, names, ordinal)])),
    port: port?.read.ok === true ? String(port.read.value.containerPort) : undefined,
  };
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** The long name: it ends in no domain of the internet, so that no other name server is asked while no replica runs. */
function aliasOf(referenced: ReferencedManifest, names: Naming, ordinal: number | undefined): string | undefined {
  const mode = containerOf(referenced.kind, referenced.spec)?.container.networkMode;
  const end = `.${referenced.scope}.${names.dnsSuffix}`;
  return mode === "bridge"
    ? networkAliases(names, referenced, ordinal).find((alias) => alias.endsWith(end))
    : undefined;
}

/** A wildcard is not an address, and neither is what an older version may have stored unchecked. A TCP port has no URL. */
function ingressFields({ hosts, tcp, tls }: DecodedIngress): Record<string, string> {
  const host = hosts.find((one) => hostOk(one) && !one.startsWith("*."));
  if (host === undefined) return {};
  return tcp !== undefined ? { host } : { host, url: `${tls === undefined ? "http" : "https"}://${host}` };
}
