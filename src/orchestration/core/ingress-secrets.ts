import type { Spec } from "../api/manifest.ts";
import { childPath } from "../../base/pure/path.ts";
import { isFields } from "../../base/pure/fields.ts";

/** A secret inside a spec, and what it is sent to: a mask never carries a secret over to another address. */
export interface SecretSlot {
  path: string;
  value: string;
  /** `token`, or the list of webhooks and the header: `on_deploy.success headers.Authorization`. */
  place: string;
  target: string;
}

type MapSlot = (slot: SecretSlot) => string;
type Fields = Record<string, unknown>;

const credentialName = /authori[sz]ation|cookie|token|secret|password|api-?key/i;

/** The spec of an ingress with every secret replaced by what `f` returns. */
export function mapIngressSlots(spec: Spec, f: MapSlot): Spec {
  const { basic_auth: users, tls, headers } = spec;
  return {
    ...spec,
    ...(isFields(users) ? { basic_auth: mapTexts(users, "basic_auth", { f, isSecret: () => true }) } : {}),
    ...(isFields(tls) ? { tls: mapTls(tls, f) } : {}),
    ...(isFields(headers) ? { headers: mapHeaders(headers, f) } : {}),
  };
}

function mapTls(tls: Fields, f: MapSlot): Fields {
  if (!isFields(tls.eab)) return tls;
  const target = typeof tls.directory === "string" ? tls.directory : "";
  return { ...tls, eab: mapTexts(tls.eab, "tls.eab", { f, isSecret: (name) => name === "hmac_key", target }) };
}

function mapHeaders(headers: Fields, f: MapSlot): Fields {
  const mapped = Object.entries(headers).map(([direction, changes]): [string, unknown] => {
    if (!isFields(changes) || !isFields(changes.set)) return [direction, changes];
    const path = `headers.${direction}.set`;
    return [
      direction,
      { ...changes, set: mapTexts(changes.set, path, { f, isSecret: (name) => credentialName.test(name) }) },
    ];
  });
  return Object.fromEntries(mapped);
}

interface Secrets {
  f: MapSlot;
  isSecret: (name: string) => boolean;
  target?: string;
}

function mapTexts(fields: Fields, path: string, { f, isSecret, target = "" }: Secrets): Fields {
  const mapped = Object.entries(fields).map(([name, value]): [string, unknown] => {
    if (typeof value !== "string" || !isSecret(name)) return [name, value];
    const at = childPath(path, name);
    return [name, f({ path: at, value, place: at, target })];
  });
  return Object.fromEntries(mapped);
}
