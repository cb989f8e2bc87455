import { canonicalJson, sha256Hex } from "../../../base/pure/digest.ts";

/** What an image is made from. */
interface BuildInput {
  /** Digest of the folder. */
  context: string;
  /** Below the folder. */
  dockerfile: string;
  target: string | undefined;
  args: Readonly<Record<string, string>>;
}

/** Name of a build: the same input has the same, on every machine. 12 hex digits. */
export function buildId({ context, dockerfile, target, args }: BuildInput): string {
  return sha256Hex(canonicalJson({ context, dockerfile, target, args })).slice(0, 12);
}
