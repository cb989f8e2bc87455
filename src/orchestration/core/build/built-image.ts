import { appId } from "../naming.ts";

/** The image of a spec that names none: that of its build, or the one that somebody made on the machine under that name. */
export function builtImage(scope: string, name: string, { buildId }: { buildId: string | undefined }): string {
  return `${appId(scope, name)}:${buildId ?? "latest"}`;
}
