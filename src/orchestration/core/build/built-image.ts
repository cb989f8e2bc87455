import { appId } from "../naming.ts";

/** What a spec says of its build. */
interface Built {
  buildId: string | undefined;
  /** It is built, also where no build is named. */
  isBuilt: boolean;
}

const unbuiltTag = "unbuilt";

/**
 * The image of a spec that names none: that of its build, or the one that somebody made on the machine under that name.
 * Where the build has no id yet, it is a name that no image has: see `isUnbuilt`.
 */
export function builtImage(scope: string, name: string, { buildId, isBuilt }: Partial<Built> = {}): string {
  return `${appId(scope, name)}:${buildId ?? (isBuilt === true ? unbuiltTag : "latest")}`;
}

/** Whether that image is still to be found among the builds of the app: an image of another app must not stand in for it. */
export function isUnbuilt({ image, pullable }: { image: string; pullable: boolean }): boolean {
  return !pullable && image.endsWith(`:${unbuiltTag}`);
}
