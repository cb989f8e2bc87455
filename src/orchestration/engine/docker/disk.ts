import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { EngineDisk } from "../machine.ts";
import type { DockerClient } from "./client.ts";

/** Measuring many volumes takes the engine a while. */
const measureMs = 300_000;

/** The engine's answer, as far as it is read; every field may be missing in some version. */
interface Facts {
  LayersSize?: number;
  Images?: { Id: string; RepoTags?: string[] | null; Size?: number; Containers?: number }[] | null;
  Containers?: { Id: string; Names?: string[]; SizeRw?: number }[] | null;
  Volumes?:
    { Name: string; Labels?: Record<string, string> | null; UsageData?: { Size: number; RefCount: number } }[] | null;
  BuildCache?: { Size?: number; InUse?: boolean; Shared?: boolean }[] | null;
}

/** What fills the disk of the engine, measured now. */
export async function diskUse(engine: DockerClient, rootDir: () => Promise<string>): Promise<EngineDisk> {
  const attempt = { verb: "measure", subject: "the disk use of the engine" };
  const facts = await engine.call(
    attempt,
    async (docker, abortSignal) => {
      const read: (options: object) => Promise<Facts> = docker.df.bind(docker);
      return read({ abortSignal });
    },
    measureMs,
  );
  const folder = engine.local ? await rootDir() : "";
  const cache = facts.BuildCache ?? [];
  const sizeOf = (rows: typeof cache) => rows.reduce((sum, { Size = 0, Shared }) => sum + (Shared ? 0 : Size), 0);
  return {
    layersBytes: facts.LayersSize ?? 0,
    images: (facts.Images ?? []).map(({ Id, RepoTags, Size = 0, Containers = 0 }) => ({
      id: Id,
      tags: (RepoTags ?? []).filter((tag) => !tag.startsWith("<none>")),
      bytes: Size,
      containers: Math.max(0, Containers),
    })),
    writableBytes: (facts.Containers ?? []).reduce((sum, { SizeRw = 0 }) => sum + SizeRw, 0),
    containers: facts.Containers?.length ?? 0,
    logBytes:
      folder === ""
        ? undefined
        : await logBytes(
            folder,
            (facts.Containers ?? []).map(({ Id }) => Id),
          ),
    volumes: (facts.Volumes ?? []).map(({ Name, Labels, UsageData }) => ({
      name: Name,
      labels: Labels ?? {},
      // The engine writes -1 where it did not measure.
      bytes: UsageData === undefined || UsageData.Size < 0 ? undefined : UsageData.Size,
      users: UsageData === undefined || UsageData.RefCount < 0 ? undefined : UsageData.RefCount,
    })),
    buildCacheBytes: sizeOf(cache),
    buildCacheUnusedBytes: sizeOf(cache.filter(({ InUse }) => InUse !== true)),
  };
}

/** Removes build cache that no build is using. The bytes that came free. */
export async function pruneBuildCache(engine: DockerClient): Promise<number> {
  const attempt = { verb: "remove", subject: "the build cache" };
  const answer = await engine.call(
    attempt,
    async (docker, abortSignal) => {
      const prune: (options: object) => Promise<{ SpaceReclaimed?: number }> = docker.pruneBuilder.bind(docker);
      return prune({ abortSignal });
    },
    measureMs,
  );
  return answer.SpaceReclaimed ?? 0;
}

/** Size of the files of the json-file driver; undefined where the files cannot be read from here. */
async function logBytes(rootDir: string, ids: readonly string[]): Promise<number | undefined> {
  let sum = 0;
  for (const id of ids) {
    const folder = join(rootDir, "containers", id);
    try {
      for (const name of await readdir(folder)) {
        if (name.includes("-json.log")) sum += (await stat(join(folder, name))).size;
      }
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EACCES") return undefined;
      // It was removed meanwhile.
    }
  }
  return sum;
}
