import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { parseImageReference } from "../../core/image-reference.ts";
import type { Image } from "../../engine/machine.ts";
import type { Context } from "../state/context.ts";
import { pull } from "./image-registry.ts";

/** An image that was chosen before, and where it may be had again. */
export interface KnownImage {
  imageId: string;
  digest: string | undefined;
  /** The reference that it was found under. */
  ref: string;
  /** Whether a registry may have the reference. */
  pullable: boolean;
}

/** The very image, brought here again where a registry has it. */
export async function knownImage(context: Context, owner: ManifestKey, known: KnownImage): Promise<Image> {
  const found = await findKnown(context, known);
  if (found.image !== undefined) return found.image;
  if (found.pull === undefined) throw imageGone(owner, known);
  const image = await pull(context, { owner, ref: found.pull }).catch((error: unknown) => {
    const isRefused = error instanceof Failure && error.reason === "ImagePull";
    throw isRefused ? imageGone(owner, known, error) : error;
  });
  // A digest means one content, however the engine of this machine numbers it. A tag means anything.
  if (found.pull === known.ref && image.id !== known.imageId) throw imageGone(owner, known);
  return image;
}

/** What a rollback asks before it stores anything. Fails `ImageMissing` where the image can certainly not be had. */
export async function requireKnown(context: Context, owner: ManifestKey, known: KnownImage): Promise<void> {
  const { image, pull: again } = await findKnown(context, known);
  if (image === undefined && again === undefined) throw imageGone(owner, known);
}

/**
 * The image itself, also from a copy outside of the machine where no registry holds it, or what to ask a registry for. A tag
 * that means another image now is left alone.
 */
async function findKnown(context: Context, known: KnownImage): Promise<{ image?: Image; pull?: string }> {
  const { engine, store } = context;
  const { imageId, digest = store.images.digestOf(imageId), ref, pullable } = known;
  const image = await engine.inspectImage(imageId);
  if (image !== undefined) return { image };
  if (digest !== undefined) return { pull: digest };
  const back = await broughtBack(context, known);
  if (back !== undefined) return { image: back };
  return pullable && (await engine.inspectImage(ref)) === undefined ? { pull: ref } : {};
}

/**
 * The image from a copy outside of the machine. A copy has no name: without the one that the image was found under, the next
 * release would ask a registry for it.
 */
export async function broughtBack(
  { engine, bringImage }: Context,
  { imageId, ref }: Pick<KnownImage, "imageId" | "ref">,
): Promise<Image | undefined> {
  if ((await bringImage?.(imageId)) !== true) return undefined;
  const isTag = parseImageReference(ref)?.digest === undefined;
  if (isTag && (await engine.inspectImage(ref)) === undefined) await engine.tagImage(imageId, ref);
  return engine.inspectImage(imageId);
}

function imageGone(owner: ManifestKey, { imageId, ref, pullable }: KnownImage, cause?: Failure): Failure {
  const words = cause === undefined ? "" : ` (${cause.message})`;
  const message =
    `the image ${imageId} ("${ref}") that ${formatKey(owner)} runs on is not on this machine any more${words}; ` +
    (pullable
      ? `load it again, or release what "${ref}" means now: berth apply -f FILE --pull`
      : "build it again: berth up");
  return new Failure("conflict", message, { reason: "ImageMissing", cause });
}
