import type { BuildRecord } from "../../store/build-records.ts";
import type { Store } from "../../store/store.ts";

/** How many builds of one app are looked at: more are hardly kept. */
const looked = 100;

/** The build that a spec names; the newest one where it names none. */
export function buildOf(
  store: Pick<Store, "builds">,
  { scope, name }: { scope: string; name: string },
  id: string | undefined,
): (BuildRecord & { imageId: string }) | undefined {
  if (id === undefined) return newestBuild(store, { scope, name });
  const build = store.builds.get(scope, name, id);
  return build?.imageId === undefined ? undefined : { ...build, imageId: build.imageId };
}

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
