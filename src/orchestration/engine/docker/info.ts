import { stat, statfs } from "node:fs/promises";
import { type SteadyClock, systemClock } from "../../../base/words/clock.ts";
import type { EngineInfo } from "../machine.ts";
import type { Engine } from "../engine.ts";
import type { DockerClient } from "./client.ts";

/** What of the engine's own description is read; every field may be missing in some version. */
interface Facts {
  ServerVersion?: string;
  CgroupVersion?: string;
  LiveRestoreEnabled?: boolean;
  InitBinary?: string;
  /** `N/A` where the program cannot be started. */
  InitCommit?: { ID?: string };
  DockerRootDir?: string;
  OperatingSystem?: string;
  Architecture?: string;
  NCPU?: number;
}

export async function engineInfo(engine: DockerClient): Promise<EngineInfo> {
  const [facts, apiVersion] = await Promise.all([readFacts(engine), engine.apiVersion()]);
  return {
    version: facts.ServerVersion ?? "",
    apiVersion,
    cgroupVersion: facts.CgroupVersion === "2" ? 2 : 1,
    liveRestore: facts.LiveRestoreEnabled ?? false,
    hasInit: (facts.InitBinary ?? "") !== "" && facts.InitCommit?.ID !== "N/A",
    rootDir: facts.DockerRootDir ?? "",
    operatingSystem: facts.OperatingSystem ?? "",
    architecture: facts.Architecture ?? "",
    cpus: facts.NCPU,
  };
}

/** An engine that is started again may keep its data elsewhere. */
const rootDirMs = 5 * 60_000;

/** Free bytes for an unprivileged writer where the engine keeps its data; undefined when that folder is not to be seen from here. */
export function createFreeBytes(engine: DockerClient, clock: SteadyClock = systemClock): Engine["freeBytes"] {
  let known: { rootDir: string | undefined; at: number } | undefined;
  return async () => {
    if (!engine.local) return undefined;
    if (known === undefined || clock.steady() - known.at >= rootDirMs)
      known = { rootDir: (await readFacts(engine)).DockerRootDir, at: clock.steady() };
    const disk = known.rootDir === undefined ? undefined : await statfs(known.rootDir).catch(() => undefined);
    return disk === undefined ? undefined : disk.bavail * disk.bsize;
  };
}

/** As a service, the server has folders of its own here. */
const ownFolders = /^\/+(?:var\/+)?tmp(?:\/|$)/;

/** A link that leads nowhere is nothing: the engine would make a folder for its target. */
export async function hasHostPath(engine: DockerClient, path: string): Promise<boolean | undefined> {
  if (!engine.local || ownFolders.test(path)) return undefined;
  try {
    await stat(path);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "ENOENT" || code === "ENOTDIR" ? false : undefined;
  }
}

function readFacts(engine: DockerClient): Promise<Facts> {
  return engine.call({ verb: "read", subject: "the engine's description" }, async (docker, abortSignal) => {
    // The published types leave out the options that dockerode takes here, and know nothing of the answer.
    const read: (options: object) => Promise<Facts> = docker.info.bind(docker);
    return read({ abortSignal });
  });
}
