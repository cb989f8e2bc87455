import { Failure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import type { ManifestKey, Spec } from "../../api/manifest.ts";
import { envFromTarget } from "../../core/env-from.ts";
import { containerName } from "../../core/naming.ts";
import { isOwn, type Maker } from "../../core/plugins/maker.ts";
import { namedPlace } from "../../core/plugins/named-app.ts";
import type { Context } from "../state/context.ts";
import type { Place } from "../state/plugin-room.ts";

export function placeText({ scope, name }: Partial<Place>): string {
  return scope ? `"${scope}/${name ?? ""}"` : `"${name ?? ""}"`;
}

export function isAmong(places: readonly Place[], { scope, name }: Place): boolean {
  return places.some((place) => place.scope === scope && place.name === name);
}

/** Whether something of this scope and name is a block of the plugin, or came from one. */
export function isOfPlugin({ store }: Context, plugin: Maker, { scope, name }: Place): boolean {
  const isIts = (key: ManifestKey | undefined) => {
    const block = key && store.blocks.get(key);
    return block !== undefined && isOwn(block, plugin);
  };
  if (store.blocks.list({ scope, name }).some((block) => isOwn(block, plugin))) return true;
  return store.manifests.list({ scope, name }).some((manifest) => isIts(store.blocks.ownerOf(manifest)));
}

/** A run that a pod asked for has no business with other blocks of the plugin, whatever the pod told it. Fails `forbidden`. */
export function requireOnly(
  context: Context,
  { plugin, only }: { plugin: Maker; only: readonly Place[] },
  { scope, name }: Partial<Place>,
): void {
  const isNamed = scope !== undefined && name !== undefined;
  if (isNamed && (!isOfPlugin(context, plugin, { scope, name }) || isAmong(only, { scope, name }))) return;
  const text = `this run was asked for by a pod of ${only[0] === undefined ? "no block" : placeText(only[0])}`;
  const what = isNamed ? placeText({ scope, name }) : "a call without scope and name";
  throw new Failure("forbidden", `${text}; ${what} is not for it`);
}

/** The block of the plugin that the words of a command are about; none where they are about something else. */
export function blockOfWords({ store }: Context, plugin: Maker, words: readonly string[]): ManifestKey | undefined {
  const place = namedPlace(words);
  const isIt = (block: ManifestKey) => block.scope === place?.scope && block.name === place.name;
  const block = store.blocks.keys().find((one) => isOwn(one, plugin) && isIt(one));
  return block && keyOf(block);
}

/** What the operator wrote into the block of the plugin that a manifest came from. */
export function ownBlockSpec({ store }: Context, plugin: Maker): (key: ManifestKey) => Spec | undefined {
  return ({ kind, scope, name }) => {
    const owner = store.blocks.ownerOf({ kind, scope, name });
    const block = owner === undefined ? undefined : store.blocks.get(owner);
    return block !== undefined && isOwn(block, plugin) ? block.spec : undefined;
  };
}

/**
 * What the pods of a block may ask about: the block, what it became, and what its operator tied it to by writing
 * `scope/name` into its spec, or its plugin by `env_from` (whose config the pods have anyway). The block is the first.
 */
export function placesOf({ store }: Context, block: ManifestKey): Place[] {
  const children = store.blocks.children(block);
  const tied = children.flatMap((child) => {
    const entries: unknown = store.manifests.get(child)?.spec.env_from;
    const texts = Array.isArray(entries) ? entries.filter((entry) => typeof entry === "string") : [];
    return texts.flatMap((entry) => envFromTarget(entry, child.scope) ?? []);
  });
  const written = textsIn(store.blocks.get(block)?.spec)
    .filter((text) => text.includes("/"))
    .flatMap((text) => envFromTarget(text, block.scope) ?? []);
  return [block, ...children, ...tied, ...written].map(({ scope, name }) => ({ scope, name }));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Whose pod has this name: one that runs, or one of the plugin's own that has no container just now. */
export function ownerOfPod({ pods, store }: Context, plugin: Maker, pod: string): Place | undefined {
  const known = pods.byName(pod)?.key;
  if (known !== undefined) return known;
  const own = store.blocks.list().filter((block) => isOwn(block, plugin));
  return own
    .flatMap((block) => store.blocks.children(block))
    .find(({ scope, name }) => {
      const start = containerName(scope, name, "");
      return pod.startsWith(start) && /^[a-z0-9]+$/.test(pod.slice(start.length));
    });
}
