import type { ImagePull } from "../../orchestration/api/restart.ts";
import { printable, type Style } from "../basics/style.ts";

/** What asking a registry again came to, in one line. */
export function imagePullText({ image, updated, warning }: ImagePull, style: Style): string {
  if (warning !== undefined) return `${style.yellow("!")} image ${printable(`${image}: ${warning}`)}`;
  return style.dim(`image ${printable(image)}: ${updated ? "new version pulled" : "up to date"}`);
}
