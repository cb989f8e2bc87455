import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, existsSync, openSync, renameSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { berth as run } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

/** The database is gone or unreadable: the apps run on, and the server says what is wrong instead of starting. */
describe("a lost database", () => {
  let berth: Rig;
  let database: string;
  let running: string;
  beforeEach(async () => {
    berth = await rig();
    database = join(berth.root, "state.db");
    await berth.apply(deployment("lost", "web", { replicas: 2 }));
    await berth.ready("deployment", "lost", "web");
    running = containers();
    await berth.stop();
  });
  afterEach(() => berth.close());

  function containers(): string {
    return berth.docker(["ps", "--no-trunc", "--filter", `label=createdby=${berth.prefix}`, "--format", "{{.ID}}"]);
  }

  async function refusal(): Promise<string> {
    const { exitCode, stderr } = await run(["serve", ...berth.flags]);
    expect(exitCode).toBe(1);
    expect(stderr).not.toContain("a bug in berth");
    expect(containers()).toBe(running);
    return stderr;
  }

  const damages: [string, () => void, string][] = [
    ["moved away", () => renameSync(database, `${database}.away`), "is missing: put the database back"],
    ["cut off", () => truncateSync(database, 0), "the file is empty"],
    ["overwritten with garbage", () => writeFileSync(database, "garbage ".repeat(2_000)), "not a database"],
    ["damaged in the middle", () => overwriteMiddle(database), "is damaged"],
  ];
  for (const [how, damage, text] of damages) {
    test(`${how}: named with the way out, containers untouched`, async () => {
      damage();
      const told = await refusal();
      expect(told).toContain(database);
      expect(told).toContain(text);
      expect(told).toContain("berth restore FILE");
    });
  }

  test("a missing key is named, and no other is made in its place", async () => {
    renameSync(join(berth.root, "key"), join(berth.root, "key.away"));
    expect(await refusal()).toContain("its key");
    renameSync(join(berth.root, "key.away"), join(berth.root, "key"));
    await berth.start();
    await berth.ready("deployment", "lost", "web");
    expect(containers()).toBe(running);
  });

  test("users that have gone are missed, and the way out without them is told", async () => {
    const users = join(berth.root, "identity.db");
    const index = join(berth.root, "identity-search.db");
    await berth.start();
    await berth.call("POST", "/identity/apps", { name: "shop" });
    expect((await berth.call("POST", "/identity/instances", { app: "shop" })).status).toBe(200);
    await berth.stop();
    await berth.start();
    await waitFor("an index of the users", () => existsSync(index));
    await berth.stop();
    renameSync(users, `${users}.away`);
    const told = await refusal();
    expect(told).toContain(`"${users}" is missing`);
    expect(told).toContain(`to begin without users, move "${index}" away too`);
    renameSync(index, `${index}.away`);
    await berth.start();
    expect((await berth.call("GET", "/identity/users?instance=none")).status).not.toBe(500);
  });

  test("an empty store of another installation leaves the containers of the first alone", async () => {
    renameSync(database, `${database}.away`);
    renameSync(join(berth.root, "key"), join(berth.root, "key.away"));
    for (const file of ["identity.db", "observability.db"]) {
      renameSync(join(berth.root, file), join(berth.root, `${file}.away`));
    }
    await berth.start();
    expect(await berth.pods("lost")).toEqual([]);
    expect((await berth.call("DELETE", "/scope?scope=lost&prune=true")).status).toBe(200);
    expect(containers()).toBe(running);
  });
});

/** Pages in the middle, where rows are: the header stays whole. */
function overwriteMiddle(file: string): void {
  const handle = openSync(file, "r+");
  const { size } = statSync(file);
  for (let at = 4096; at < size; at += 4096) writeSync(handle, Buffer.alloc(2048, 0xa5), 0, 2048, at);
  closeSync(handle);
}
