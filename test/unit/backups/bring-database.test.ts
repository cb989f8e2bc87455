import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { makeRecoveryKey } from "../../../src/backups/core/recovery-key.ts";
import type { Rclone } from "../../../src/backups/restic/rclone.ts";
import { createDatabases } from "../../../src/backups/service/databases.ts";
import { systemClock } from "../../../src/base/words/clock.ts";
import { pointInTimeLimits } from "../../../src/config/backup-limits.ts";
import { openGate } from "../../support/open-gate.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

const segmentBytes = 16 * 1024 * 1024;
const second = (at: number) => Date.UTC(2026, 10, 29, 10, 0, at);
const label = "20261129T100000Z";
const segment = (number: number) => `00000001000000000000000${number}`;
const paths = [
  `7/base/${label}/base.tar.gz`,
  `7/base/${label}/about.1.0000000002000028.0000000003000000.${second(5)}.${segmentBytes}`,
  ...[2, 3].map((number) => `7/wal/2026112910/${segment(number)}.0.${segmentBytes}.${second(number * 10)}.gz`),
];

/** What the target waits with: the base backup is read once this is resolved. */
let reading: PromiseWithResolvers<void>;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bring-database."));
  for (const name of ["one", "two"]) mkdirSync(join(root, name));
  reading = Promise.withResolvers();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const rclone: Rclone = {
  ssh: async () => ({}),
  async run({ words, into, from }) {
    const [verb, ...rest] = words;
    const place = rest.at(-1) ?? "";
    if (verb === "obscure") return "obscured\n";
    if (verb === "lsjson") {
      const at = paths.findIndex((path) => place.endsWith(`/${path.slice(0, path.lastIndexOf("/"))}`));
      const folder = at < 0 ? "" : `7/base/${label}/`;
      const listed = paths.filter((path) => path.startsWith(folder));
      return JSON.stringify(listed.map((path) => ({ Path: path.slice(folder.length), Size: 3 })));
    }
    if (verb === "copy") {
      for (const path of String(from).split("\n")) {
        mkdirSync(join(place, path, ".."), { recursive: true });
        writeFileSync(join(place, path), "wal");
      }
      return "";
    }
    if (into === undefined) return "version 17.2\nimage postgres:17\nimage_id sha256:0a";
    await reading.promise;
    writeFileSync(into, "base");
    return "";
  },
};

function databases(limits: Partial<typeof pointInTimeLimits> = {}) {
  const key = makeRecoveryKey("0123456789abcdef", new Uint8Array(200).fill(7)).text;
  const target = { name: "disk", url: "/srv/copies", credentials: {}, everyMs: 1, keep: "7d", createdAt: 0 };
  return createDatabases({
    records: { key: () => key, targets: () => [{ ...target, prunedAt: undefined }] },
    ...{ rclone, list: async () => [], staging: join(root, "staging"), gate: openGate, clock: systemClock },
    mountPointOf: async ({ name }) => (existsSync(join(root, name)) ? join(root, name) : undefined),
    ...{ log: silentLog, limits: { ...pointInTimeLimits, ...limits } },
  });
}

const of = { scope: "shop", name: "db" };
const into = (name: string) => ({ at: undefined, into: { scope: "shop", name } });
const filesOf = (name: string) => readdirSync(join(root, name, "restore")).sort();

test("a block is restored into by one restore at a time, another one meanwhile", async () => {
  const room = databases();
  expect(await room.bring(of, into("one"))).toMatchObject({ target: "disk", segments: 2, image: "postgres:17" });
  const refusal = (name: string) => room.bring(of, into(name)).catch((error: Error) => error.message);
  expect(await refusal("one")).toBe("shop/one is being restored already; wait for its end");
  expect(await refusal("none")).toBe("shop/none has no volume for a restore yet; try again in a moment");
  await room.bring(of, into("two"));
  reading.resolve();
  for (const name of ["one", "two"]) {
    await waitFor(`all of ${name}`, async () => filesOf(name).includes("ready"));
    expect(filesOf(name)).toEqual([
      ...[2, 3].map((number) => `${segment(number)}.gz`),
      "about",
      "base.tar.gz",
      "ready",
      "segment-bytes",
      "timeline",
    ]);
  }
  await waitFor("the end of the first", async () => !existsSync(join(root, "staging/restore/shop/one")));
  await waitFor("another restore", () =>
    room.bring(of, into("one")).then(
      () => true,
      () => false,
    ),
  );
});

test("what takes too long is given up, tells the pod that waits, and leaves the block free", async () => {
  const room = databases({ workMs: 1 });
  await room.bring(of, into("one"));
  // A later limit of the same kind: that of the restore is over before.
  const later = AbortSignal.timeout(50);
  await new Promise((done) => later.addEventListener("abort", done, { once: true }));
  reading.resolve();
  // The file is there a moment before its text.
  const said = () => readFileSync(join(root, "one/restore/failed"), "utf8");
  const why = await waitFor("the end", () => filesOf("one").includes("failed") && said() !== "" && said());
  expect(why).toBe("bringing the database took too long; try again with a nearer target");
  expect(filesOf("one")).not.toContain("ready");
  await waitFor("another restore", () =>
    room.bring(of, into("one")).then(
      () => true,
      () => false,
    ),
  );
});
