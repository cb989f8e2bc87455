import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../engine.ts";
import { epochMs } from "./formats.ts";
import type { DockerClient } from "./client.ts";
import { unlessStatus } from "./errors.ts";
import { engineInfo } from "./info.ts";

/**
 * See `Engine.logDropped`. The engine makes the first file of a log before it starts the container, renames full files,
 * and removes the oldest: where the last one that it keeps was made after the start, there was one before it.
 */
export function createLogFiles(engine: DockerClient): Pick<Engine, "logDropped" | "logFile"> {
  let rootDir: string | undefined;
  return {
    async logFile({ id }) {
      // An engine that does not say where its files are says nothing for good.
      rootDir ??= (await engineInfo(engine)).rootDir;
      return rootDir === "" ? undefined : join(rootDir, "containers", id, `${id}-json.log`);
    },
    async logDropped({ id: nameOrId }) {
      if (!engine.local) return undefined;
      const attempt = { verb: "inspect", subject: `container "${nameOrId}"` };
      const info = await engine.call(attempt, (docker, abortSignal) => {
        const options: object = { abortSignal };
        return docker.getContainer(nameOrId).inspect(options).catch(unlessStatus(404));
      });
      const config: Record<string, string> | undefined = info?.HostConfig.LogConfig?.Config;
      const files = Number(config?.["max-file"] ?? 1);
      const startedAt = epochMs(info?.State.StartedAt);
      // One file alone is emptied when it is full, which leaves no trace.
      if (!info?.LogPath || files < 2 || startedAt === undefined) return undefined;
      try {
        const { birthtimeMs } = await stat(`${info.LogPath}.${files - 1}`);
        return birthtimeMs === 0 ? undefined : birthtimeMs > startedAt;
      } catch (error) {
        return error instanceof Error && "code" in error && error.code === "ENOENT" ? false : undefined;
      }
    },
  };
}
