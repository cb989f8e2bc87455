import { Failure } from "../../../base/wire/failure.ts";
import { keptImageTag, keptRepository } from "../../core/naming.ts";
import type { Image } from "../../engine/machine.ts";
import type { Context } from "../state/context.ts";

/** Who needs an image. */
interface Needing {
  scope: string;
  name: string;
}

/**
 * Gives the image of a resource a name of the platform's own. An image without a name is what `docker image prune` takes, and
 * an image loses its name when the tag is built or loaded again, while no container may hold it: of an app that sleeps, of a
 * release to return to.
 */
export async function keepImage({ engine, names }: Context, { scope, name }: Needing, image: Image): Promise<void> {
  const tag = keptImageTag(names, { scope, name, imageId: image.id });
  if (!image.tags.includes(tag)) await engine.tagImage(image.id, tag);
}

/**
 * Brings the names of all images that are needed up to date: those that are missing are added, as after an upgrade, and those
 * of releases that are gone are removed. While a restore is not confirmed, names are only added.
 */
export async function keepImages(context: Context): Promise<void> {
  const { engine, names, store } = context;
  const images = await engine.listImages();
  // Read after the list: the code that adds a name records first who needs it.
  const wanted = new Map(store.images.keptFor().map((row) => [keptImageTag(names, row), row.imageId]));
  const present = new Set(images.map(({ id }) => id));
  const tagged = new Map(images.flatMap(({ id, tags }) => tags.map((tag) => [tag, id] as const)));
  for (const [tag, imageId] of wanted) {
    if (present.has(imageId) && tagged.get(tag) !== imageId) await engine.tagImage(imageId, tag);
  }
  if (store.collectionHeld) return;
  for (const tag of tagged.keys()) {
    if (tag.startsWith(`${keptRepository(names)}:`) && !wanted.has(tag)) await letGo(context, tag);
  }
}

/** Where a container still runs on an image without another name, the next look removes the name. */
async function letGo({ engine }: Context, tag: string): Promise<void> {
  try {
    await engine.removeImage(tag);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "conflict") throw error;
  }
}
