import { readFileSync } from "node:fs";

/** Bytes that processes of this machine can still take without swapping; undefined where the kernel does not say. */
export function availableMemoryBytes(): number | undefined {
  try {
    const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}
