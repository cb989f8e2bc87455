import type { Spec } from "../../api/manifest.ts";
import { fieldsOf, textOf } from "../lenient.ts";
import { appId } from "../naming.ts";

/** The image of a spec that names none: that of its build, or the one that somebody made on the machine under that name. */
export function builtImage(scope: string, name: string, { build }: Spec): string {
  return `${appId(scope, name)}:${textOf(fieldsOf(build).id) ?? "latest"}`;
}
