import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchBytes } from "../../../src/backups/restic/watch-bytes.ts";
import { waitFor } from "../../support/wait.ts";

test("bytes that a command writes into a folder are counted until it is told to stop", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-watch."));
  const seen: number[] = [];
  const stop = watchBytes({ folder: join(folder, "later"), onBytes: () => seen.push(-1) }, 1);
  const stopFull = watchBytes({ folder, onBytes: (bytes) => seen.push(bytes) }, 1);
  try {
    writeFileSync(join(folder, "file"), new Uint8Array(3_000_000).fill(7));
    await waitFor("its bytes", () => seen.some((bytes) => bytes >= 3_000_000));
    // A folder that is not there yet has none.
    expect(seen).not.toContain(-1);
  } finally {
    stop();
    stopFull();
    rmSync(folder, { recursive: true });
  }
});
