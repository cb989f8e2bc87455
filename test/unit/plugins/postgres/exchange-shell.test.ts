import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";

const plugins = join(import.meta.dir, "../../../../plugins");
const [kit, script] = ["kit/restore.sh", "postgres/restore.sh"].map((name) =>
  readFileSync(join(plugins, name), "utf8"),
);

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-exchange."));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Makes folders of data, each with who it is of. */
function put(data: Record<string, string>): void {
  for (const [name, of] of Object.entries(data)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "PG_VERSION"), of);
  }
}
const found = () =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.startsWith("pgdata"))
      .map((name) => [name, readFileSync(join(folder, name, "PG_VERSION"), "utf8")]),
  );

/** Runs words of restore.sh; each move is one of the programs that it calls, and it is killed before the move with that number. */
function run(words: string, killedBefore = 99): void {
  const world = `
set -eu
say() { :; }
die() { printf '%s\\n' "$*" >&2; exit 1; }
moves=0
mv() { [ "$moves" -lt ${killedBefore} ] || kill -KILL $$; moves=$((moves + 1)); command mv "$@"; }
rm() { [ "$moves" -lt ${killedBefore} ] || kill -KILL $$; moves=$((moves + 1)); command rm "$@"; }
volume=${folder} backups=${folder}/backups PGDATA=${folder}/pgdata restored=${folder}/berth.restored
${kit}
${script?.replace(/^\. \/berth\/.*$/gm, "")}
${words}
`;
  Bun.spawnSync(["sh", "-c", world], { env: { PATH: process.env.PATH ?? "" } });
}

test("a kill at each step of an exchange loses neither the old data nor the new", () => {
  for (let step = 0; step < 8; step += 1) {
    rmSync(folder, { recursive: true });
    mkdirSync(join(folder, "backups/point-in-time"), { recursive: true });
    put({ pgdata: "old", "pgdata.new": "new", "pgdata.before": "older" });
    writeFileSync(join(folder, "berth.exchange"), "");
    run("exchange", step);
    expect(Object.values(found())).toEqual(expect.arrayContaining(["old", "new"]));
    run("exchange");
    expect([step, found()]).toEqual([step, { pgdata: "new", "pgdata.before": "old" }]);
    expect(existsSync(join(folder, "berth.exchange"))).toBe(false);
    run("exchange");
    expect(found()).toEqual({ pgdata: "new", "pgdata.before": "old" });
  }
});

test("what was replaced goes after a week, and not before", () => {
  put({ pgdata: "new", "pgdata.before": "old" });
  writeFileSync(join(folder, "berth.replaced"), "");
  run("forget_before");
  expect(found()).toEqual({ pgdata: "new", "pgdata.before": "old" });
  const longAgo = Date.now() / 1000 - 9 * 86_400;
  utimesSync(join(folder, "berth.replaced"), longAgo, longAgo);
  run("forget_before");
  expect(found()).toEqual({ pgdata: "new" });
});
