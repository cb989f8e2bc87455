import type { ContextEntry } from "./source-tree.ts";

/** What the files of one app were, and since when. Times are in seconds, as archives have them. */
export interface ContentTimes {
  /** The latest time that was given. */
  newest: number;
  /** By path. */
  files: Map<string, { mark: string; time: number }>;
}

/**
 * The times of the files of a folder. A file that is what it was keeps its time, so that a browser's copy of it stays good.
 * One that changed or came gets a later time than every one before, also when the clock went back: web servers tell by time
 * and size whether a copy is old.
 */
export function nextTimes(
  before: ContentTimes | undefined,
  entries: readonly ContextEntry[],
  now: number,
): ContentTimes {
  const fresh = Math.max(now, (before?.newest ?? 0) + 1);
  let newest = before?.newest ?? 0;
  const files: ContentTimes["files"] = new Map();
  for (const { path, kind, digest } of entries) {
    const mark = `${kind}:${digest}`;
    const known = before?.files.get(path);
    if (known?.mark === mark) files.set(path, known);
    else {
      files.set(path, { mark, time: fresh });
      newest = fresh;
    }
  }
  return { newest, files };
}
