import { hidingOf } from "../../../base/pure/hide.ts";
import { MASK } from "../mask.ts";

/** Replaces the secrets of a build in what the build prints. */
export function createSecretHider(secrets: Readonly<Record<string, string>>): (text: string) => string {
  return hidingOf(Object.values(secrets), { mask: MASK, charactersMin: 4 });
}
