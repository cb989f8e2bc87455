import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { diskFailure } from "../../base/wire/disk-failure.ts";
import type { Change, Paths, ProxyFile, Running } from "../core/change.ts";
import { removeFiles, writeFiles } from "./files.ts";
import { changeText, changesPath, stateFile, statePath } from "./running-state.ts";

/** What was sent to the proxy, kept on disk. Other replicas of a few sites are one more line behind the last whole state. */
interface StateStore {
  /** Writes the files, and with them that the proxy has got all of `next`. Fails as `writeFiles` does. */
  write(files: readonly ProxyFile[], next: Running, replaced?: Change["replaced"]): Promise<void>;
  /** The next server knows nothing of what was sent, and loads the files. */
  forget(): Promise<void>;
}

/** `changesBytesMax`: with more lines than that, the state is written as a whole again. */
export function createStateStore(paths: Paths, changesBytesMax: number): StateStore {
  /** The last whole state, and how long the lines behind it are; undefined when they cannot be relied on. */
  let last: { id: string; bytes: number } | undefined;

  async function append(text: string): Promise<void> {
    const path = changesPath(paths);
    try {
      const file = await open(path, "a", 0o600);
      await file.appendFile(text).finally(() => file.close());
    } catch (error) {
      throw diskFailure(error, path);
    }
  }

  return {
    async forget() {
      last = undefined;
      await removeFiles([statePath(paths), changesPath(paths)]);
    },
    async write(files, next, replaced) {
      const before = last;
      last = undefined;
      const text = before && replaced && changeText(before.id, next, replaced);
      if (before !== undefined && text !== undefined && before.bytes + text.length <= changesBytesMax) {
        await writeFiles(files);
        await append(text);
        last = { id: before.id, bytes: before.bytes + text.length };
        return;
      }
      const id = randomUUID();
      await writeFiles([...files, stateFile(paths, next, id)]);
      await removeFiles([changesPath(paths)]);
      last = { id, bytes: 0 };
    },
  };
}
