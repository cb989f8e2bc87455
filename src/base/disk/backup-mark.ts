import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomic } from "./atomic-write.ts";
import type { Layout } from "./layout.ts";

const mode = 0o600;

/** Notes that a backup was made, wherever it was written to: the server looks at how old the newest is. */
export async function markBackup({ backups }: Pick<Layout, "backups">, now: number): Promise<void> {
  await writeAtomic(markOf(backups), `${new Date(now).toISOString()}\n`, mode);
}

/** When the newest backup was made, and when this server was installed; epoch milliseconds. */
export async function backupAge({ backups, key }: Pick<Layout, "backups" | "key">) {
  const { birthtimeMs, mtimeMs } = await stat(key);
  const installedAt = birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs;
  const text = await readFile(markOf(backups), "utf8").catch(() => "");
  const newestAt = Date.parse(text.trim());
  return { installedAt, ...(Number.isNaN(newestAt) ? {} : { newestAt }) };
}

function markOf(backups: string): string {
  return join(backups, "last");
}
