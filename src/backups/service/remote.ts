import type { Rclone } from "../restic/rclone.ts";
import { type RemoteFile, readRemoteFiles, remoteName } from "../core/rclone-remote.ts";
import { Failure } from "../../base/wire/failure.ts";

/** The encrypted files of one database at one target. Every call fails `unavailable` with the cause where the target does not do it. */
export interface Remote {
  /** Everything below a folder, by its path below it; nothing where there is no such folder. */
  list(folder: string): Promise<RemoteFile[]>;
  /** Brings everything below a folder of the server's own there. */
  send(folder: string): Promise<void>;
  /** Writes one file of so many bytes from an open one, or from text. */
  write(path: string, from: number | string, bytes: number): Promise<void>;
  /** Reads one file into an open one. */
  read(path: string, into: number): Promise<void>;
  text(path: string): Promise<string>;
  /** Brings files into a folder of the server's own, under their paths. */
  bring(paths: readonly string[], folder: string): Promise<void>;
  remove(paths: readonly string[]): Promise<void>;
}

/** `folder` is that of the database: `shop/db`. */
export function createRemote(
  rclone: Rclone,
  {
    env,
    folder: base,
    limits,
    signal,
  }: {
    env: Readonly<Record<string, string>>;
    folder: string;
    limits: { askMs: number; workMs: number };
    signal: AbortSignal;
  },
): Remote {
  const { askMs, workMs } = limits;
  const at = (path: string) => `${remoteName}:${[base, path].filter((part) => part !== "").join("/")}`;
  const run = (
    words: string[],
    more: { timeoutMs?: number; from?: number | string; into?: number; isLong?: boolean } = {},
  ) => rclone.run({ words, env, timeoutMs: askMs, signal, ...more });
  return {
    async list(folder) {
      try {
        const words = ["lsjson", "-R", "--fast-list", "--files-only", "--no-modtime", "--no-mimetype", at(folder)];
        return readRemoteFiles(await run(words));
      } catch (error) {
        if (error instanceof Failure && error.code === "not_found") return [];
        throw error;
      }
    },
    send: async (folder) => void (await run(["copy", "--no-traverse", folder, at("")], { timeoutMs: workMs })),
    write: async (path, from, bytes) =>
      void (await run(["rcat", "--size", String(bytes), at(path)], { timeoutMs: workMs, isLong: true, from })),
    read: async (path, into) => void (await run(["cat", at(path)], { timeoutMs: workMs, isLong: true, into })),
    text: (path) => run(["cat", at(path)]),
    async bring(paths, folder) {
      const words = ["copy", "--files-from-raw", "-", "--no-traverse", "--transfers", "8", at(""), folder];
      await run(words, { timeoutMs: workMs, isLong: true, from: paths.join("\n") });
    },
    async remove(paths) {
      if (paths.length === 0) return;
      await run(["delete", "--files-from-raw", "-", at("")], {
        timeoutMs: workMs,
        isLong: true,
        from: paths.join("\n"),
      });
    },
  };
}
