import { builtForOther } from "../../core/build/built-for.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { CoreKind, ManifestKey, Spec, StoredManifest } from "../../api/manifest.ts";
import type { ImagePull } from "../../api/restart.ts";
import type { Author } from "../../core/deploy-message.ts";
import { specHash } from "../../core/spec-hash.ts";
import { containerOf } from "../../core/spec/decode.ts";
import type { Image } from "../../engine/machine.ts";
import type { ReleaseRecord, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { pull } from "../desired/image-registry.ts";
import { mintRelease } from "./releases.ts";
import { isPodKind } from "../state/target.ts";

/** What asking a registry again came to. */
interface PulledImage extends ImagePull {
  /** The image that the reference means now. */
  present: Image;
}

/** By the reference as written. */
export type PulledImages = ReadonlyMap<string, PulledImage>;

interface PullingImages {
  manifests: readonly (ManifestKey & { kind: CoreKind; spec: Spec })[];
  /** Specs of registries that are not stored yet. */
  registries?: readonly Spec[];
}

/**
 * Asks the registries again for every image that the manifests name, one after the other. One that cannot be had is a
 * warning while a copy is on the machine, else `unavailable`.
 */
export async function pullImages(context: Context, pulling: PullingImages): Promise<PulledImages> {
  const { manifests, registries = [] } = pulling;
  const owners = new Map(manifests.flatMap((owner) => imagesOf(owner).map((image) => [image, owner] as const)));
  if (owners.size > 0) context.link.require();
  const pulled = new Map<string, PulledImage>();
  for (const [image, owner] of owners) {
    const before = await context.engine.inspectImage(image);
    try {
      const present = await pull(context, { owner, ref: image, registries });
      pulled.set(image, { image, updated: before?.id !== present.id, present });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (before === undefined) throw unavailable(error);
      pulled.set(image, { image, updated: false, warning: `${error.message}; the copy here stays`, present: before });
    }
  }
  return pulled;
}

function unavailable({ message, reason, cause }: Failure): Failure {
  return new Failure("unavailable", message, { cause, ...(reason === undefined ? {} : { reason }) });
}

/**
 * What was built once more after the image of a resource was gone: the same source makes another image, which an apply
 * releases. Empty while the engine cannot be asked.
 */
export async function builtAgain(
  { engine, link, names, store }: Context,
  pulling: PullingImages,
): Promise<PulledImages> {
  const built = new Map<string, PulledImage>();
  for (const { kind, scope, name, spec } of pulling.manifests) {
    const container = containerOf(kind, spec)?.container;
    const pin = store.images.pinOf({ kind, scope, name });
    if (container === undefined || container.image !== undefined || pin === undefined || !link.up()) continue;
    if (pin.hash !== specHash(kind, spec) || (await engine.inspectImage(pin.imageId)) !== undefined) continue;
    const present = await engine.inspectImage(pin.ref);
    if (present === undefined || builtForOther(names, present.labels, { scope, name }) !== undefined) continue;
    built.set(pin.ref, { image: pin.ref, updated: true, present });
  }
  return built;
}

/** Names of the images of a spec and of its inits. An image that is built here, or named by an asset, has none. */
function imagesOf({ kind, spec }: { kind: CoreKind; spec: Spec }): string[] {
  const container = containerOf(kind, spec)?.container;
  if (container === undefined) return [];
  const named = [container, ...container.inits].flatMap(({ image }) => image ?? []);
  return named.filter((image) => !image.includes("${"));
}

export function imagePullRows(pulled: PulledImages): ImagePull[] {
  return [...pulled.values()].map(({ present: _, ...row }) => row);
}

interface Moved {
  manifest: StoredManifest;
  pulled: PulledImages;
  author: Author;
  now: number;
}

/**
 * A release where the reference of a resource means another image than its replicas run on; undefined where they run
 * on it already, or are about to be made from another spec anyway. With a release block its phase passes first.
 */
export function releaseMoved(
  context: Context,
  tx: Transaction,
  { manifest, pulled, author, now }: Moved,
): ReleaseRecord | undefined {
  const hash = specHash(manifest.kind, manifest.spec);
  pinInits(tx, { manifest, hash, pulled });
  if (!isPodKind(manifest.kind)) {
    pinJob(tx, { manifest, hash, pulled, now });
    return undefined;
  }
  const pin = tx.images.pinOf(manifest);
  const image = pulled.get(pin?.ref ?? "")?.present;
  if (pin === undefined || image === undefined || pin.hash !== hash || pin.imageId === image.id) return undefined;
  const release = mintRelease(context, tx, { manifest, cause: "image", imageId: image.id, author, now });
  tx.manifests.touch(manifest);
  return release;
}

interface Pinning extends Pick<Moved, "manifest" | "pulled"> {
  hash: string;
}

/** Inits that run from now on take what their references mean now. */
function pinInits(tx: Transaction, { manifest: { kind, scope, name, spec }, hash, pulled }: Pinning): void {
  for (const { image: ref } of containerOf(kind, spec)?.container.inits ?? []) {
    const image = ref === undefined ? undefined : pulled.get(ref)?.present;
    if (ref !== undefined && image !== undefined) {
      tx.images.pinInit({ kind, scope, name, hash, ref, imageId: image.id });
    }
  }
}

/** A job has no releases: its next run takes what the reference means now. */
function pinJob(tx: Transaction, { manifest, hash, pulled, now }: Pinning & { now: number }): void {
  const pin = tx.images.pinOf(manifest);
  const image = pin === undefined ? undefined : pulled.get(pin.ref)?.present;
  if (pin?.hash !== hash || image === undefined || pin.imageId === image.id) return;
  tx.images.pin({ ...pin, imageId: image.id, digest: tx.images.digestOf(image.id), at: now });
}
