import { Failure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import { formatKey, type ManifestKey, type Spec } from "../../api/manifest.ts";
import { builtImage } from "../../core/build/built-image.ts";
import { decodeSpec, podOf } from "../../core/spec/decode.ts";
import { parseImageReference, registryHost } from "../../core/image-reference.ts";
import { MASK } from "../../core/mask.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { Image, RegistryAuth } from "../../engine/machine.ts";
import type { ImagePin, ReleaseRecord, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";

/** What is known of a workload or a job when its image is looked for. */
export interface ImageUse extends Pick<
  ResolvedWorkload,
  "scope" | "name" | "hash" | "generation" | "image" | "pullable" | "pull"
> {
  kind: string;
  /** With `pull: always` the registry is asked each time, not once per restart. */
  askEachTime?: boolean;
}

/**
 * The image a workload runs on, present on the machine. The first time a spec is seen its image id is pinned: making
 * a replica of it again never asks a registry and never takes a moved tag. Returns what `create` is given: the
 * reference as written while it still means the pinned image, else the id.
 */
export async function ensureImage(context: Context, workload: ImageUse): Promise<string> {
  const key = keyOf(workload);
  const pin = context.store.images.pinOf(key);
  const pinned = pin !== undefined && pin.ref === workload.image && pin.hash === workload.hash;
  const asked = pin?.generation === workload.generation && workload.askEachTime !== true;
  const fresh = pinned && (asked || workload.pull !== "always");
  const image = fresh ? await pinnedImage(context, workload, pin) : await newImage(context, workload);
  if (!fresh || pin.imageId !== image.id || pin.generation !== workload.generation) {
    await writePin(context, workload, image);
  }
  const named = await context.engine.inspectImage(workload.image);
  return named?.id === image.id ? workload.image : image.id;
}

/** An image beside the pinned one, such as that of an init: brought here when missing. */
export async function ensureImageRef(context: Context, workload: ImageUse, ref: string): Promise<string> {
  if ((await context.engine.inspectImage(ref)) === undefined) await pull(context, { owner: workload, ref });
  return ref;
}

async function pinnedImage(context: Context, workload: ImageUse, pin: ImagePin): Promise<Image> {
  const present = await context.engine.inspectImage(pin.imageId);
  if (present !== undefined) return present;
  return pin.digest === undefined ? newImage(context, workload) : pull(context, { owner: workload, ref: pin.digest });
}

async function newImage(context: Context, workload: ImageUse): Promise<Image> {
  if (workload.pullable && workload.pull === "always") return pull(context, { owner: workload, ref: workload.image });
  const present = await context.engine.inspectImage(workload.image);
  if (present !== undefined) return present;
  if (workload.pullable) return pull(context, { owner: workload, ref: workload.image });
  throw new Failure(
    "conflict",
    `image "${workload.image}" is not on this machine and no image is set in ${formatKey(workload)}; build it here or set spec.image`,
    { reason: "ImageMissing" },
  );
}

interface Pull {
  /** Who needs it, for the event. */
  owner: ManifestKey;
  ref: string;
  /** Specs of registries that are not stored yet. */
  registries?: readonly Spec[];
}

/** Asks the registry, whether or not an image of that name is present. */
export async function pull(context: Context, { owner, ref, registries = [] }: Pull): Promise<Image> {
  await refuseWhenFull(context, ref);
  const stored = context.store.manifests.list({ kind: "registry" }).map(({ spec }) => spec);
  const image = await context.engine.pull(ref, registryAuth([...registries, ...stored], ref));
  const now = context.clock.now();
  await context.store.write((tx) => {
    tx.images.pulled(image.id, ref, now);
    const { kind, scope, name } = owner;
    tx.events.append(
      { actor: "reconciler", action: "image.pull", kind, scope, name, detail: { ref, id: image.id } },
      now,
    );
  });
  return image;
}

async function refuseWhenFull(context: Context, ref: string): Promise<void> {
  const free = await context.engine.freeBytes();
  const floor = context.limits.diskFloorBytes;
  if (free === undefined || free >= floor) return;
  const mib = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MiB`;
  throw new Failure(
    "storage_full",
    `not pulling "${ref}": ${mib(free)} free where images are kept, the floor is ${mib(floor)}; free some space (docker image prune)`,
    { reason: "DiskLow" },
  );
}

/** Login from the registry spec of the reference's host; undefined when there is none. A masked secret is no secret. */
function registryAuth(registries: readonly Spec[], ref: string): RegistryAuth | undefined {
  const host = parseImageReference(ref)?.registry;
  for (const spec of registries) {
    const { url, username, secret } = decodeSpec("registry", spec);
    if (url === undefined || registryHost(url) !== host) continue;
    if (username === undefined || secret === undefined || secret === MASK) continue;
    return { username, password: secret, serverAddress: stripScheme(url) };
  }
  return undefined;
}

function stripScheme(url: string): string {
  return url.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
}

async function writePin(context: Context, workload: ImageUse, image: Image): Promise<void> {
  const { kind, scope, name, hash, generation, image: ref } = workload;
  const pin = { kind, scope, name, hash, generation, ref, imageId: image.id, digest: image.digests[0] };
  await context.store.write((tx) => tx.images.pin({ ...pin, at: context.clock.now() }));
}

/**
 * The image that a release brings along takes effect: replicas of its spec that run on another one are made anew, and
 * those that are yet to be made start from it. Part of a transaction.
 */
export function takeImage(tx: Transaction, release: ReleaseRecord, now: number): void {
  const { kind, scope, name, hash, imageId } = release;
  const key = { kind, scope, name };
  const present = tx.manifests.get(key);
  const pin = tx.images.pinOf(key);
  if (imageId === undefined || present === undefined) return;
  if (pin?.hash === hash && pin.imageId === imageId) return;
  const generation = pin?.hash === hash ? tx.manifests.raiseGeneration(key) : present.generation;
  pinImage(tx, release, { generation, now });
}

/** The image that replicas of this spec are made from; undefined where the last ones were made from another spec. */
export function imageIdOf({ images }: Pick<Transaction, "images">, key: ManifestKey, hash: string): string | undefined {
  const pin = images.pinOf(key);
  return pin?.hash === hash ? pin.imageId : undefined;
}

/** Replicas of the release's spec are made from its image from now on; one without a known image changes nothing. */
export function pinImage(
  tx: Transaction,
  release: ReleaseRecord,
  { generation, now }: { generation: number; now: number },
): void {
  const { kind, scope, name, hash, imageId } = release;
  if (imageId === undefined) return;
  const ref = release.image === "" ? builtImage(scope, name, { buildId: podOf(release)?.buildId }) : release.image;
  tx.images.pin({ kind, scope, name, hash, generation, ref, imageId, digest: undefined, at: now });
}

/** Images that a pod runs on, or a rollback goes back to, or a build has just made. */
export function imagesInNeed({ store, clock, limits, pods }: Context): Set<string> {
  const kept = store.images.kept();
  // Built, and not applied yet.
  for (const imageId of store.builds.imagesSince(clock.now() - limits.builtImageGraceMs)) kept.add(imageId);
  for (const pod of pods.all()) kept.add(pod.imageId);
  return kept;
}

/** Images that we brought to the machine and that nothing needs any more. */
export function unusedImages(context: Context): { imageId: string; ref: string }[] {
  const needed = imagesInNeed(context);
  return context.store.images.pulledList().filter(({ imageId }) => !needed.has(imageId));
}

/**
 * Removes images that we brought to the machine and that neither a container nor a pin (the present one or one kept
 * for rollback) refers to. Images that others made or pulled are never touched.
 */
export async function collectImages(context: Context): Promise<string[]> {
  const removed: string[] = [];
  for (const { imageId } of unusedImages(context)) {
    if (!(await removeUnused(context, imageId))) continue;
    await context.store.write((tx) => tx.images.forgetPulled(imageId));
    removed.push(imageId);
  }
  return removed;
}

/** False when somebody else's container uses it. */
async function removeUnused(context: Context, imageId: string): Promise<boolean> {
  try {
    await context.engine.removeImage(imageId);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.code === "conflict") return false;
    throw error;
  }
}
