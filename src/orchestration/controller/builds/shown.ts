import { spanTimes } from "../../../base/pure/iso-time.ts";
import { podKinds } from "../../api/manifest.ts";
import type { Build } from "../../api/builds.ts";
import type { BuildRecord } from "../../store/build-records.ts";
import type { ReleaseRecord } from "../../store/records.ts";
import type { Context } from "../state/context.ts";

/** Builds as callers see them, with the releases that run on each image and whether it is kept. */
export function showBuilds({ store }: Pick<Context, "store">, records: readonly BuildRecord[]): Build[] {
  const kept = store.images.kept();
  const known = new Map<string, ReleaseRecord[]>();
  const releasesOf = ({ scope, name }: BuildRecord): ReleaseRecord[] => {
    const key = `${scope}/${name}`;
    const found = known.get(key) ?? podKinds.flatMap((kind) => store.releases.list({ kind, scope, name }));
    known.set(key, found);
    return found;
  };
  return records.map((record) => {
    const { imageId, imageBytes, target, startedAt, endedAt, error, git, log: _, asked: __, ...build } = record;
    const onIt = imageId === undefined ? [] : releasesOf(record).filter((release) => release.imageId === imageId);
    return {
      ...build,
      ...(target === undefined ? {} : { target }),
      ...(imageId === undefined ? {} : { image_id: imageId }),
      ...(imageBytes === undefined ? {} : { image_bytes: imageBytes }),
      ...(git === undefined ? {} : { git }),
      ...spanTimes(startedAt, endedAt),
      ...(error === undefined ? {} : { error }),
      releases: onIt.map(({ id }) => id),
      kept: imageId !== undefined && kept.has(imageId),
    };
  });
}
