import { Failure } from "../../../src/base/wire/failure.ts";
import type { FileStat, FolderAccess } from "../../../src/orchestration/engine/session.ts";
import type { Engine } from "../../../src/orchestration/engine/engine.ts";
import type { Faults } from "./faults.ts";

/** A place in a container, and what reading it gives. */
export interface MemoryFile {
  stat: FileStat;
  /** Parts of an archive; a `Failure` among them breaks the reading off. */
  archive: readonly (Uint8Array | Failure)[];
}

/** Files of containers: none, unless a test says so. What is written is kept as it came. */
export interface MemoryFiles extends Pick<Engine, "statFile" | "readFiles" | "writeFiles" | "folderAccess"> {
  setFile(container: string, path: string, file: MemoryFile): void;
  setAccess(container: string, path: string, access: FolderAccess): void;
  /** What was written to a folder, whole; undefined before that. */
  written(container: string, folder: string): Uint8Array | undefined;
}

export function createMemoryFiles({ does }: Pick<Faults, "does">): MemoryFiles {
  const files = new Map<string, MemoryFile>();
  const accesses = new Map<string, FolderAccess>();
  const received = new Map<string, Uint8Array>();
  const keyOf = (container: string, path: string) => `${container}:${path}`;
  return {
    statFile: ({ id: container }, path) => does("statFile", container, () => files.get(keyOf(container, path))?.stat),
    async *readFiles({ id: container }, path) {
      const archive = await does("readFiles", container, () => files.get(keyOf(container, path))?.archive ?? []);
      for (const part of archive) {
        if (part instanceof Failure) throw part;
        yield part;
      }
    },
    async writeFiles({ id: container }, { folder, archive, signal }) {
      await does("writeFiles", container, () => undefined);
      const parts: Uint8Array[] = [];
      for await (const part of archive) parts.push(part);
      signal.throwIfAborted();
      received.set(keyOf(container, folder), Buffer.concat(parts));
    },
    folderAccess: ({ id: container }, path) =>
      does("folderAccess", container, () => accesses.get(keyOf(container, path))),
    setAccess: (container, path, access) => void accesses.set(keyOf(container, path), access),
    setFile: (container, path, file) => void files.set(keyOf(container, path), file),
    written: (container, folder) => received.get(keyOf(container, folder)),
  };
}
