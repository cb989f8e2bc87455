import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Engine } from "../engine.ts";
import type { DockerClient } from "./client.ts";
import { type Attempt, refusal, timedOut } from "./errors.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { jsonLines, progressError } from "./json-lines.ts";
import { openStream } from "./open-stream.ts";

/** The engine answers once it has read the whole file. */
const loadMs = 6 * 60 * 60 * 1_000;

/** Images as files, as `docker save` writes them. Without any sign of progress for `idleMs`, each has failed. */
export function createImageFiles(engine: DockerClient, idleMs: number): Pick<Engine, "saveImage" | "loadImage"> {
  async function watched(attempt: Attempt, work: (watch: ReturnType<typeof createIdleWatch>) => Promise<void>) {
    const watch = createIdleWatch(idleMs, engine.held);
    try {
      await work(watch);
    } catch (error) {
      throw watch.idle() ? timedOut(attempt, idleMs) : engine.failure(error, attempt);
    } finally {
      watch.end();
    }
  }

  return {
    saveImage: (id, path) => {
      const attempt = { verb: "save", subject: `image "${id}"` };
      return watched(attempt, async (watch) => {
        const { signal } = watch;
        const request = { method: "GET", path: `/images/${id}/get`, query: {}, signal } as const;
        const bytes = await engine.call(attempt, (docker) => openStream(docker, request), idleMs);
        const file = await open(path, "wx", 0o600);
        try {
          for await (const piece of bytes) {
            watch.progress();
            await file.writeFile(piece);
          }
        } finally {
          await file.close();
        }
      });
    },
    loadImage: (path) => {
      const attempt = { verb: "load", subject: `image file "${path}"` };
      return watched(attempt, async (watch) => {
        const body = Readable.from(read(path, watch.progress));
        try {
          const options = { _query: { quiet: true }, _body: {}, abortSignal: watch.signal };
          const rows = await engine.call(attempt, (docker) => docker.loadImage(body, options), loadMs);
          for await (const row of jsonLines(rows as AsyncIterable<Uint8Array | string>)) {
            watch.progress();
            const words = progressError(row);
            if (words !== undefined) throw refusal({ status: undefined, words }, attempt);
          }
        } finally {
          body.destroy();
        }
      });
    },
  };
}

async function* read(path: string, onPiece: () => void): AsyncGenerator<Uint8Array> {
  for await (const piece of createReadStream(path)) {
    onPiece();
    yield piece as Uint8Array;
  }
}
