import type { ImageReference } from "../../src/orchestration/core/image-reference.ts";

/** The full form: `docker.io/library/nginx:1.27`. Without tag and digest the tag is `latest`. */
export function formatImageReference(image: ImageReference): string {
  const tag = image.tag ?? (image.digest === undefined ? "latest" : undefined);
  return [
    `${image.registry}/${image.repository}`,
    tag === undefined ? "" : `:${tag}`,
    image.digest === undefined ? "" : `@${image.digest}`,
  ].join("");
}
