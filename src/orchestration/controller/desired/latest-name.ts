import type { BuildRequest } from "../../api/builds.ts";
import { builtImage } from "../../core/build/built-image.ts";
import type { BuildRecord } from "../../store/build-records.ts";
import type { Context } from "../state/context.ts";

/** `<scope>-<name>:latest` is this image from now on, where the caller asked for that. */
export async function nameLatest(
  { engine }: Context,
  { scope, name, imageId }: Pick<BuildRecord, "scope" | "name" | "imageId">,
  { latest }: Pick<BuildRequest, "latest">,
): Promise<void> {
  if (latest === true && imageId !== undefined) await engine.tagImage(imageId, builtImage(scope, name));
}

/** The name of an image that was built here. */
const ofBuild = /^([a-z0-9._-]+):[0-9a-f]{12}$/;

/** The engine removes no image by its id while it has two names. */
export async function forgetLatest({ engine }: Context, imageId: string, ref: string): Promise<void> {
  const [, app] = ofBuild.exec(ref) ?? [];
  if (app === undefined) return;
  const latest = `${app}:latest`;
  const image = await engine.inspectImage(imageId);
  if (image?.tags.includes(latest) === true) await engine.removeImage(latest);
}
