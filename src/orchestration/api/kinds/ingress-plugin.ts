import { isFields } from "../../../base/pure/fields.ts";
import { hostsOf } from "../../../base/pure/hosts.ts";
import type { Spec } from "../manifest.ts";

/** What the protocol of plugins carries of an ingress. */
const carried = ["plugin", "host", "shared", "tls", "locations", "lb", "service", "ordinal", "port"];
const carriedOfTls = ["enabled", "provider", "email", "on_demand", "ask"];
const carriedProviders = ["letsencrypt", "letsencrypt_staging", "internal"];

/** A field that does not reach a plugin; `path` starts at `spec`. */
interface BeyondPlugin {
  path: string;
  message: string;
}

/**
 * The fields of an ingress that a plugin which routes it would never see. An ingress with one of them is not handed to a
 * plugin: it would do something else than it says.
 */
export function beyondPlugin(spec: Spec): BeyondPlugin[] {
  const ofTls = tlsBeyond(spec.tls);
  const provider = ofTls.filter(({ path }) => path === "spec.tls.provider");
  // The other fields belong to this provider.
  return [...fieldsBeyond(spec), ...(provider.length > 0 ? provider : ofTls)];
}

/** Texts of an ingress that a plugin writes into its own files and commands: nothing in them may end a line or a word there. */
const handedOn = [
  {
    path: ["lb", "policy"],
    pattern: /^[A-Za-z0-9_.:=, -]{1,200}$/,
    message: 'is not a policy; use up to 200 letters, digits, spaces and "_", ".", ":", "=", ",", "-"',
  },
  {
    path: ["tls", "email"],
    pattern: /^[A-Za-z0-9._%+='~&/!#*?^-]{1,64}@[A-Za-z0-9.-]{1,253}$/,
    message: "is not a mail address",
  },
  {
    path: ["tls", "ask"],
    pattern: /^https?:\/\/[^\x00-\x20\x7f-\uffff"'`{}\\<>^|]{1,2000}$/i,
    message: 'is not an http address; write it like "https://host/path", without spaces, quotes and braces',
  },
] as const;

/** What of an ingress no plugin may be given as it is written, and HAProxy has no use for. Values are cut: they can be long. */
export function unfitTexts(spec: Spec): BeyondPlugin[] {
  return handedOn.flatMap(({ path: [block, field], pattern, message }) => {
    const fields = spec[block];
    const text = isFields(fields) ? fields[field] : undefined;
    if (typeof text !== "string" || pattern.test(text)) return [];
    return [{ path: `spec.${block}.${field}`, message: `${JSON.stringify(text.slice(0, 80))} ${message}` }];
  });
}

/** The ingress as a plugin can route it, and the paths that it loses; undefined for a TCP port, which only HAProxy serves. */
export function movedToPlugin(spec: Spec, plugin: string): { spec: Spec; lost: string[] } | undefined {
  if (spec.tcp !== undefined) return undefined;
  const { hosts: _, ...written } = spec;
  const lost = [...fieldsBeyond(spec), ...tlsBeyond(spec.tls)].map(({ path }) => path);
  const kept = (fields: Spec, path: string): Spec =>
    Object.fromEntries(Object.entries(fields).filter(([field]) => !lost.includes(`${path}.${field}`)));
  const tls = isFields(spec.tls) ? { tls: kept(spec.tls, "spec.tls") } : {};
  return { spec: { ...kept(written, "spec"), host: hostsOf(spec)[0], ...tls, plugin }, lost };
}

/** What keeps clients out of a site, or some of their requests. None of it reaches a plugin. */
export const closingFields = ["allow", "deny", "basic_auth", "rate_limit", "limits", "maintenance"] as const;
export type ClosingField = (typeof closingFields)[number];

/** The closing fields that a site has and will no longer have. */
export function lostClosings(stands: Spec, wanted: Spec): ClosingField[] {
  return closingFields.filter((field) => closes(stands[field]) && !closes(wanted[field]));
}

/** An empty list or block, and a switch that is off, keep no visitor out. */
function closes(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false;
}

/** The closing fields of a list such as `allow,basic_auth`, and the first word that is none. */
export function readClosings(text: string): { fields: ClosingField[]; unknown: string | undefined } {
  const words = text.split(",").map((word) => word.trim().replace(/^spec\./, ""));
  const named = words.filter((word) => word !== "");
  return {
    fields: closingFields.filter((field) => named.includes(field)),
    unknown: named.find((word) => !closingFields.some((field) => field === word)),
  };
}

function fieldsBeyond(spec: Spec): BeyondPlugin[] {
  return Object.entries(spec).flatMap(([field, value]) => {
    if (value === undefined || value === null || carried.includes(field)) return [];
    const isOneHost = field === "hosts" && hostsOf(spec).length <= 1;
    if (isOneHost) return [];
    const message = "does not reach a plugin, which gets one host, service, port, tls, locations and lb";
    return [{ path: `spec.${field}`, message }];
  });
}

function tlsBeyond(tls: unknown): BeyondPlugin[] {
  if (!isFields(tls) || tls.enabled === false) return [];
  return Object.entries(tls).flatMap(([field, value]) => {
    if (value === undefined || value === null) return [];
    const path = `spec.tls.${field}`;
    if (field === "provider" && !carriedProviders.some((known) => known === value)) {
      return [{ path, message: `${String(value)} does not work with a plugin; write ${carriedProviders.join(", ")}` }];
    }
    if (carriedOfTls.includes(field)) return [];
    return [{ path, message: `does not reach a plugin, which gets ${carriedOfTls.join(", ")} of tls` }];
  });
}
