import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";

interface GrowthLimit {
  bytesMax: number;
  /** Between two looks. */
  everyMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Does work that fills `folder`, and aborts it when that grows beyond the limit: what is fetched by a program of its own
 * cannot be counted on its way. Fails `too_large` then, and as the work does otherwise.
 */
export async function whileSmall<T>(
  folder: string,
  { bytesMax, everyMs, signal }: GrowthLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    if ((await bytesIn(folder, bytesMax)) > bytesMax) over.abort();
    isLooking = false;
  };
  const timer = setInterval(() => void look(), everyMs);
  try {
    return await work(signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]));
  } catch (error) {
    if (!over.signal.aborted) throw error;
    throw new Failure("too_large", `what is fetched grows beyond ${bytesMax} bytes`, { cause: error });
  } finally {
    clearInterval(timer);
  }
}

/** Bytes of all files below, counted not much further than `enough`. What goes away meanwhile counts nothing. */
async function bytesIn(folder: string, enough: number): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (bytes > enough) break;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesIn(path, enough - bytes);
    else bytes += (await lstat(path).catch(() => ({ size: 0 }))).size;
  }
  return bytes;
}
