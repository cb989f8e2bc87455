import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(90_000);

let berth: Rig;
/** Unlike every volume of another test on this Docker. */
let plain: string;
beforeEach(async () => {
  berth = await rig();
  plain = `${berth.prefix}data`;
});
afterEach(async () => {
  await berth?.close();
  if (volumes().includes(plain)) berth.docker(["volume", "rm", plain]);
});

const web = (scope: string, spec = {}) => deployment(scope, "web", { volumes: [`${plain}:/data`], ...spec });
const volumes = () => berth.docker(["volume", "ls", "-q"]).split("\n");
const podOf = (scope: string) => waitFor("a pod to be listed", async () => (await berth.pods(scope, "web"))[0]?.name);
const read = async (scope: string) => berth.docker(["exec", await podOf(scope), "cat", "/data/note"]);

async function up(scope: string, spec = {}): Promise<void> {
  expect((await berth.apply(web(scope, spec))).body.error).toBeUndefined();
  await berth.ready("deployment", scope, "web");
}

async function write(scope: string, text: string): Promise<void> {
  berth.docker(["exec", await podOf(scope), "sh", "-c", `echo ${text} > /data/note`]);
}

/** What the migration notes of a database in which volumes had no scope. */
function usedBefore(): void {
  const db = new Database(join(berth.root, "state.db"));
  db.query(
    "insert into named_volumes (kind, scope, name, owner, volume, plain, created_at)" +
      " values ('deployment', 'shop', 'web', 'shop', ?, 1, 0)",
  ).run(plain);
  db.close();
}

test("two scopes that name the same volume see nothing of each other's files", async () => {
  await up("shop");
  await up("blog");
  await write("shop", "secret");
  expect(berth.docker(["exec", await podOf("blog"), "ls", "/data"])).toBe("");
  const name = `${berth.prefix}_shop_${plain}`;
  expect(berth.docker(["volume", "inspect", "--format", "{{json .Labels}}", name])).toContain(
    `"${berth.prefix}.scope":"shop"`,
  );
  const { stdout } = await berth.cli(["delete", "shop/web", "--prune", "-y"]);
  expect(stdout).toContain(`removed volume ${name}`);
  expect(volumes()).not.toContain(name);
  expect(volumes()).toContain(`${berth.prefix}_blog_${plain}`);
});

test("an app keeps the plain volume of before, its containers and its files, also when it is changed", async () => {
  await berth.stop();
  usedBefore();
  await berth.start();
  await up("shop");
  expect(volumes().filter((name) => name.endsWith(plain))).toEqual([plain]);
  await write("shop", "kept");
  const pod = await podOf("shop");
  await berth.stop();
  await berth.start();
  await berth.ready("deployment", "shop", "web");
  expect(await podOf("shop")).toBe(pod);
  await up("shop", { env: { CHANGED: "1" } });
  expect(await podOf("shop")).not.toBe(pod);
  expect(await read("shop")).toBe("kept");
  await up("blog");
  expect(berth.docker(["exec", await podOf("blog"), "ls", "/data"])).toBe("");
});
