import { Failure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { builtForOther } from "../../core/build/built-for.ts";
import { builtImage, isUnbuilt } from "../../core/build/built-image.ts";
import { podOf } from "../../core/spec/decode.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { Image } from "../../engine/machine.ts";
import type { ReleaseRecord, Store, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { forgetLatest } from "./latest-name.ts";
import { buildOf, newestBuild } from "./newest-build.ts";
import { digestFor, pull, rememberDigest } from "./image-registry.ts";
import { keepImage, keepImages } from "./kept-images.ts";
import { broughtBack, type KnownImage, knownImage } from "./known-image.ts";

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
 * reference as written while it still means the pinned image, else the id. Where the pinned image is gone and no
 * registry has it under its digest, this fails `ImageMissing`: another image is a release of its own.
 */
export async function ensureImage(context: Context, workload: ImageUse): Promise<string> {
  const key = keyOf(workload);
  const earlier = earlierImage(context, workload);
  if (earlier !== undefined) return named(context, workload.image, await knownImage(context, workload, earlier));
  const pin = context.store.images.pinOf(key);
  // What waited for its first build is pinned under the name of that.
  const pinned = pin?.hash === workload.hash && (pin.ref === workload.image || isUnbuilt(workload));
  const asked = pin?.generation === workload.generation && workload.askEachTime !== true;
  const fresh = pinned && (asked || workload.pull !== "always");
  const image = fresh
    ? await knownImage(context, workload, { ...pin, pullable: workload.pullable })
    : await newImage(context, workload);
  if (!fresh || pin.imageId !== image.id || pin.generation !== workload.generation) {
    await writePin(context, workload, image);
  }
  await keepImage(context, workload, image);
  return named(context, workload.image, image);
}

async function named({ engine }: Context, ref: string, image: Image): Promise<string> {
  const present = await engine.inspectImage(ref);
  return present?.id === image.id ? ref : image.id;
}

/**
 * The image of replicas that are made from another spec than the newest release, which is pinned by now: while its commands
 * run, or where it failed. What they run on was chosen long ago.
 */
function earlierImage({ store }: Context, workload: ImageUse): KnownImage | undefined {
  const key = keyOf(workload);
  const releases = store.releases.list(key);
  const [latest] = releases;
  if (latest === undefined || latest.hash === workload.hash) return undefined;
  const { image: ref, pullable } = workload;
  const good = releases.find((release) => release.good && release.hash === workload.hash);
  const imageId = good?.imageId ?? store.images.pinOfSpec(key, workload.hash)?.imageId;
  return imageId === undefined ? undefined : { imageId, digest: undefined, ref, pullable };
}

/** An image beside the main one, such as that of an init. The first time that a spec is seen it is pinned as well. */
export async function ensureImageRef(context: Context, workload: ImageUse, ref: string): Promise<string> {
  const { engine, store } = context;
  const { kind, scope, name, hash } = workload;
  const imageId = store.images.initImageOf({ kind, scope, name }, hash, ref);
  const image =
    imageId === undefined
      ? ((await engine.inspectImage(ref)) ?? (await pull(context, { owner: workload, ref })))
      : await knownImage(context, workload, { imageId, digest: undefined, ref, pullable: true });
  if (image.id !== imageId) {
    await store.write((tx) => {
      tx.images.pinInit({ kind, scope, name, hash, ref, imageId: image.id });
      rememberDigest(tx, image, ref);
    });
  }
  await keepImage(context, workload, image);
  return named(context, ref, image);
}

async function newImage(context: Context, workload: ImageUse): Promise<Image> {
  if (isUnbuilt(workload)) return firstBuilt(context, workload);
  if (workload.pullable && workload.pull === "always") return pull(context, { owner: workload, ref: workload.image });
  const present = (await context.engine.inspectImage(workload.image)) ?? (await builtBefore(context, workload));
  if (present !== undefined) {
    if (!workload.pullable) requireOwnBuild(context, workload, present);
    return present;
  }
  if (workload.pullable) return pull(context, { owner: workload, ref: workload.image });
  throw new Failure(
    "conflict",
    `image "${workload.image}" is not on this machine and no image is set in ${formatKey(workload)}; set spec.image, or build it where its source is: ${context.names.prefix} apply -f FILE`,
    { reason: "ImageMissing" },
  );
}

/** Fails `conflict` for an image that has the name of this app and was built for another one. */
function requireOwnBuild({ names }: Context, workload: ImageUse, image: Image): void {
  const other = builtForOther(names, image.labels, workload);
  if (other === undefined) return;
  const message = `image "${workload.image}" was built for ${other}, whose images are named like those of ${formatKey(workload)}`;
  const wayOut = `build ${workload.scope}/${workload.name} again, or set spec.image`;
  throw new Failure("conflict", `${message}; ${wayOut}`, { reason: "ImageMissing" });
}

/** The image of the build that the spec names, from a copy outside of the machine. */
async function builtBefore(context: Context, { image: ref, pullable, ...app }: ImageUse): Promise<Image | undefined> {
  const build = pullable ? undefined : buildOf(context.store, app, ref.slice(ref.lastIndexOf(":") + 1));
  return build?.image === ref ? broughtBack(context, { imageId: build.imageId, ref }) : undefined;
}

/** For an app that was stored before it was built: the image of its newest build, never one that only has its name. */
async function firstBuilt(context: Context, workload: ImageUse): Promise<Image> {
  const { engine, store, names } = context;
  const build = newestBuild(store, workload);
  const image =
    build &&
    ((await engine.inspectImage(build.imageId)) ??
      (await broughtBack(context, { imageId: build.imageId, ref: build.image })));
  if (image !== undefined) return image;
  const state = build === undefined ? "is not built yet" : `was built as ${build.id}, and that image is gone`;
  throw new Failure(
    "conflict",
    `the image of ${formatKey(workload)} ${state}; build it where its source is: ${names.prefix} apply -f FILE`,
    { reason: "ImageMissing" },
  );
}

async function writePin(context: Context, workload: ImageUse, image: Image): Promise<void> {
  const { kind, scope, name, hash, generation, image: ref } = workload;
  const pin = { kind, scope, name, hash, generation, ref, imageId: image.id, digest: digestFor(image, ref) };
  await context.store.write((tx) => {
    tx.images.pin({ ...pin, at: context.clock.now() });
    rememberDigest(tx, image, ref);
  });
}

/**
 * The image that a release brings along takes effect: replicas of its spec that run on another one are recreated, and
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
export function imageIdOf({ images }: Pick<Store, "images">, key: ManifestKey, hash: string): string | undefined {
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
  const ref = release.image === "" ? builtImage(scope, name, podOf(release)) : release.image;
  const digest = tx.images.digestOf(imageId);
  tx.images.pin({ kind, scope, name, hash, generation, ref, imageId, digest, at: now });
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
  await keepImages(context);
  const removed: string[] = [];
  for (const { imageId, ref } of unusedImages(context)) {
    await forgetLatest(context, imageId, ref);
    if (!(await removeUnused(context, imageId))) continue;
    await context.store.write((tx) => tx.images.forgetPulled(imageId));
    removed.push(imageId);
  }
  await context.store.write((tx) => tx.images.trim(), { durable: false });
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
