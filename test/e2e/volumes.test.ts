import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";

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
const podOf = async (scope: string) => (await berth.pods(scope, "web"))[0]?.name ?? "";
const read = async (scope: string) => berth.docker(["exec", await podOf(scope), "cat", "/data/note"]);

async function up(scope: string, spec = {}): Promise<void> {
  expect((await berth.apply(web(scope, spec))).body.error).toBeUndefined();
  await berth.ready("deployment", scope, "web");
}

async function write(scope: string, text: string): Promise<void> {
  berth.docker(["exec", await podOf(scope), "sh", "-c", `echo ${text} > /data/note`]);
}

/** Takes the database back to the schema in which volumes had no scope. */
function forgetScopes(): void {
  const db = new Database(join(berth.root, "state.db"));
  db.run("drop table named_volumes");
  db.run("pragma user_version = 3");
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
  berth.docker(["volume", "create", plain]);
  await up("shop", { volumes: [`${plain}:/data:external`] });
  await write("shop", "kept");
  await berth.stop();
  const db = new Database(join(berth.root, "state.db"));
  const text = (table: string) => `update ${table} set spec = replace(spec, ':/data:external', ':/data')`;
  db.run(text("manifests"));
  db.run(text("releases"));
  db.close();
  forgetScopes();
  await berth.start();
  expect(await read("shop")).toBe("kept");
  await up("shop", { env: { CHANGED: "1" } });
  expect(await read("shop")).toBe("kept");
  expect(volumes().filter((name) => name.endsWith(plain))).toEqual([plain]);
});
