import type { Problem } from "../../base/wire/failure.ts";
import type { Spec } from "../api/manifest.ts";
import { registryHost } from "./image-reference.ts";
import { mapIngressSlots, type SecretSlot } from "./ingress-secrets.ts";
import { isFields } from "../../base/pure/fields.ts";
import { childPath } from "../../base/pure/path.ts";

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
