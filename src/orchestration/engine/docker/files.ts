import { Readable } from "node:stream";
import type { FileStat } from "../session.ts";
import type { Engine } from "../engine.ts";
import type { PodRef } from "../pod.ts";
import type { DockerClient } from "./client.ts";
import { timedOut, unlessStatus } from "./errors.ts";
import { folderIn, ownerOf, textIn, withOwner } from "./file-owner.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { openStream } from "./open-stream.ts";

/** A copy has no deadline of its own, as long as bytes go on. */
const foreverMs = 2 ** 31 - 1;

type Files = Pick<Engine, "statFile" | "readFiles" | "writeFiles" | "folderAccess">;

/** See `Engine.statFile` and its neighbours: the engine's archives, which need no program in the container. */
export function createFiles(engine: DockerClient, idleMs: number): Files {
  const files: Files = {
    async statFile({ id: nameOrId }, path) {
      const attempt = { verb: "look at", subject: `"${path}" in container "${nameOrId}"` };
      const answer: unknown = await engine.call(attempt, (docker, abortSignal) => {
        const options: object = { path, abortSignal };
        return docker.getContainer(nameOrId).infoArchive(options).catch(unlessStatus(404));
      });
      return answer === undefined ? undefined : statOf(answer);
    },
    async *readFiles({ id: nameOrId }, path, signal) {
      const attempt = { verb: "read", subject: `"${path}" of container "${nameOrId}"` };
      const watch = createIdleWatch(idleMs, AbortSignal.any([engine.held, signal]));
      try {
        const request = { method: "GET", query: { path }, signal: watch.signal } as const;
        const place = `/containers/${encodeURIComponent(nameOrId)}/archive`;
        const parts = await engine.call(attempt, (docker) => openStream(docker, { ...request, path: place }));
        for await (const part of parts) {
          // The reader takes its time: only the engine's silence counts.
          watch.pause();
          yield part;
          watch.progress();
        }
      } catch (error) {
        throw watch.idle() ? timedOut(attempt, idleMs) : engine.failure(error, attempt);
      } finally {
        watch.end();
      }
    },
    async writeFiles(pod, { folder, archive, signal }) {
      const attempt = { verb: "write to", subject: `"${folder}" in container "${pod.id}"` };
      const stop = AbortSignal.any([engine.held, signal]);
      const owner = await ownerIn(pod);
      const body = Readable.from(withOwner(archive, owner), { objectMode: false });
      try {
        // The engine's own way to an owner reads the accounts of the machine. A file never replaces a folder here.
        const options: object = { path: folder, noOverwriteDirNonDir: "true", abortSignal: stop };
        await engine.call(
          attempt,
          (docker) => docker.getContainer(pod.id).putArchive(body, options as never),
          foreverMs,
        );
      } catch (error) {
        throw engine.failure(error, attempt);
      } finally {
        body.destroy();
      }
    },
    async folderAccess(pod, path) {
      const there = await files.statFile(pod, path);
      if (there?.kind !== "folder") return undefined;
      const folder = await folderIn(files.readFiles(pod, path, engine.held));
      return folder === undefined ? undefined : { folder, user: await ownerIn(pod) };
    },
  };
  const ownerIn = async (pod: PodRef) => {
    const attempt = { verb: "look at", subject: `container "${pod.id}"` };
    const facts = await engine.call(attempt, (docker, abortSignal) =>
      docker.getContainer(pod.id).inspect({ abortSignal }),
    );
    return ownerOf(facts.Config.User ?? "", async (path) => {
      const there = await files.statFile(pod, path);
      return there?.kind === "file" ? textIn(files.readFiles(pod, path, engine.held)) : undefined;
    });
  };
  return files;
}

/** The engine tells in a header: JSON with the mode bits of Go (io/fs, FileMode). */
function statOf(answer: unknown): FileStat {
  const { headers } = answer as { headers: Record<string, string | undefined> };
  // Its body is empty; unread it would keep the connection, and the process with it.
  (answer as Readable).resume();
  const text = Buffer.from(headers["x-docker-container-path-stat"] ?? "", "base64").toString();
  const { size, mode, linkTarget } = JSON.parse(text) as { size: number; mode: number; linkTarget: string };
  const has = (bit: number) => Math.floor(mode / 2 ** bit) % 2 === 1;
  const isOther = [26, 25, 24, 21, 19].some(has);
  return {
    kind: has(31) ? "folder" : has(27) ? "link" : isOther ? "other" : "file",
    sizeBytes: size,
    mode: mode & 0o777,
    linkTarget: linkTarget === "" ? undefined : linkTarget,
  };
}
