import type { BuildRecord } from "../../store/build-records.ts";
import type { Store } from "../../store/store.ts";

/** How many builds of one app are looked at: more are hardly kept. */
const looked = 100;

/** The newest build of an app that has made an image. */
export function newestBuild(
  { builds }: Pick<Store, "builds">,
  { scope, name }: { scope: string; name: string },
): (BuildRecord & { imageId: string }) | undefined {
  for (const build of builds.list({ scope, name }, looked)) {
    const { status, imageId } = build;
    if (status === "succeeded" && imageId !== undefined) return { ...build, imageId };
  }
  return undefined;
}
