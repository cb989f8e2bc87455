import type { ImageReference } from "../../src/orchestration/core/image-reference.ts";

/** The full form: `docker.io/library/nginx:1.27`. */
export function formatImageReference(image: ImageReference): string {
  return [
    `${image.registry}/${image.repository}`,
    image.tag === undefined ? "" : `:${image.tag}`,
    image.digest === undefined ? "" : `@${image.digest}`,
  ].join("");
}
