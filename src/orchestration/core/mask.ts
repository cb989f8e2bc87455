import type { Problem } from "../../base/wire/failure.ts";
import type { Spec } from "../api/manifest.ts";
import { registryHost } from "./image-reference.ts";
import { isFields } from "../../base/pure/fields.ts";
import { childPath } from "../../base/pure/path.ts";

/** A secret inside a spec, and what it is sent to: a mask never carries a secret over to another address. */
interface SecretSlot {
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

/** What stands in answers where a secret is stored. Applied again, it keeps the stored value. */
export const MASK = "********";

const registrySecrets = ["token", "password"];
const webhookBlocks = [
  { block: "on_deploy", events: ["success", "failure"] },
  { block: "on_probe", events: ["failure", "recovery"] },
];

/**
 * The spec with every secret replaced by what `f` returns: registry token and password, webhook header values, and of
 * an ingress passwords, keys and headers that carry credentials.
 */
export function mapSecrets(kind: string, spec: Spec, f: (value: string, path: string) => string): Spec {
  return mapSlots(kind, spec, ({ value, path }) => f(value, path));
}

/** The spec as it may be shown. */
export function maskSpec(kind: string, spec: Spec): Spec {
  return mapSecrets(kind, spec, () => MASK);
}

/**
 * Puts stored secrets back where the incoming spec holds the mask. The stored value must belong to the same place and
 * the same address; a mask without one is a problem with the path of the field.
 */
export function restoreMasked(
  kind: string,
  incoming: Spec,
  stored: Spec | undefined,
): { spec: Spec; problems: Problem[] } {
  const known = stored === undefined ? [] : slotsOf(kind, stored);
  const problems: Problem[] = [];
  const spec = mapSlots(kind, incoming, (slot) => {
    if (slot.value !== MASK) return slot.value;
    const old = known.filter(({ place, target }) => place === slot.place && target === slot.target);
    const found = old.find(({ path }) => path === slot.path) ?? old[0];
    if (found === undefined) {
      problems.push({ path: `spec.${slot.path}`, message: "is masked and no value is stored for it; write the value" });
    }
    return found?.value ?? slot.value;
  });
  return { spec, problems };
}

function slotsOf(kind: string, spec: Spec): SecretSlot[] {
  const slots: SecretSlot[] = [];
  mapSlots(kind, spec, (slot) => {
    slots.push(slot);
    return slot.value;
  });
  return slots;
}

function mapSlots(kind: string, spec: Spec, f: (slot: SecretSlot) => string): Spec {
  if (kind === "registry") return mapRegistry(spec, f);
  if (kind === "ingress") return mapIngressSlots(spec, f);
  let mapped = spec;
  for (const { block, events } of webhookBlocks) {
    const lists = mapped[block];
    if (isFields(lists)) mapped = { ...mapped, [block]: mapWebhookLists(lists, block, { events, f }) };
  }
  return mapped;
}

function mapRegistry(spec: Spec, f: (slot: SecretSlot) => string): Spec {
  const target = registryHost(typeof spec.url === "string" ? spec.url : "") ?? "";
  const entries = Object.entries(spec).map(([field, value]): [string, unknown] => {
    const isSecret = registrySecrets.includes(field) && typeof value === "string";
    return [field, isSecret ? f({ path: field, value, place: field, target }) : value];
  });
  return Object.fromEntries(entries);
}

function mapWebhookLists(
  lists: Record<string, unknown>,
  block: string,
  { events, f }: { events: string[]; f: (slot: SecretSlot) => string },
): Record<string, unknown> {
  const entries = Object.entries(lists).map(([event, hooks]): [string, unknown] => {
    if (!events.includes(event) || !Array.isArray(hooks)) return [event, hooks];
    const place = `${block}.${event}`;
    return [event, hooks.map((hook, index) => mapWebhook(hook, { place, path: `${place}[${index}]`, f }))];
  });
  return Object.fromEntries(entries);
}

function mapWebhook(hook: unknown, at: { place: string; path: string; f: (slot: SecretSlot) => string }): unknown {
  if (!isFields(hook) || !isFields(hook.headers)) return hook;
  const target = typeof hook.url === "string" ? hook.url : "";
  const headers = Object.entries(hook.headers).map(([name, value]): [string, unknown] => {
    if (typeof value !== "string") return [name, value];
    const path = childPath(`${at.path}.headers`, name);
    return [name, at.f({ path, value, place: `${at.place} headers.${name}`, target })];
  });
  return { ...hook, headers: Object.fromEntries(headers) };
}
