import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { tokenPrincipal } from "../../src/access/principal.ts";
import { Failure } from "../../src/base/wire/failure.ts";
import { plane, type Ask } from "../support/plane.ts";
import { acting, printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { world, type World } from "../support/world.ts";
import { waitFor } from "../support/wait.ts";
import { fixtureImage } from "../support/manifests.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

/** A plugin whose `attend` writes down what it was given; it fails while a file `broken` is beside it. */
const yml = `name: db
attend: {command: attend, unready: 3s}
commands:
  - {name: expand}
  - {name: attend}
  - {name: promote, exclusive: true}
  - {name: rejoin, exclusive: true}
  - {name: info}
`;
const spec = { image: fixtureImage, replicas: 2 };
const expansion = { status: "ok", data: [{ kind: "statefulset", name: "main", spec }] };

let it: World;
let ask: Ask;
let folder: string;
beforeEach(async () => {
  it = await world({ plugins: (layout) => testPlugins(layout) });
  ask = plane(it);
  folder = writePlugin(it.layout, "db", {
    yml,
    commands: {
      expand: printing(expansion),
      attend: `touch begun; while [ -e slow ]; do sleep 0.05; done
[ ! -e broken ] || { echo "cannot reach it" >&2; exit 1; }
cat >>calls; echo >>calls
if [ -e answer ]; then cat answer; else echo '{"status":"ok","data":{}}'; fi`,
      promote: 'while [ ! -e go ] && [ -e plugin.yml ]; do sleep 0.05; done; echo "$1 promoted"; [ ! -e fail ]',
      rejoin: "echo rejoined",
      info: "echo fine",
    },
  });
});
afterEach(() => it.close());

interface Asked {
  reason: string;
  block: { kind: string; scope: string; name: string; spec: object };
  unready: { pod: string; ms: number }[];
}
const calls = (): Asked[] => {
  const path = join(folder, "calls");
  const text = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line));
};
const applied = async () => {
  const answer = await ask("POST /apply", { kind: "db", scope: "data", name: "main", spec: { size: 1 } });
  expect({ status: answer.status, error: answer.error }).toEqual({ status: 200, error: "" });
  await it.settle();
};
/** Lets the server look again and again, for processes take real time. */
const looked = (what: string, isSo: () => boolean) =>
  waitFor(what, async () => {
    await it.advance(1_000);
    return isSo();
  });

test("a block whose pods are ready is left alone, and is asked about after a start of the server", async () => {
  await applied();
  await it.advance(30_000);
  expect(calls()).toEqual([]);
  await it.restart();
  await looked("the plugin to be asked", () => calls().length > 0);
  expect(calls()).toMatchObject([
    { reason: "start", block: { kind: "db", scope: "data", name: "main", spec: { size: 1 } }, unready: [] },
  ]);
});

test("pods that are not ready for the declared time are told with their times; what an operator stopped is not", async () => {
  await applied();
  await it.controller.stopPod("data-main.1", { freeze: true, actor: "test" });
  await it.advance(30_000);
  expect(calls()).toEqual([]);
  it.runtime.fail("create", new Failure("unavailable", "no room"));
  await it.runtime.remove(podRef("data-main.0"));
  await looked("the plugin to be asked", () => calls().length > 0);
  const [call] = calls();
  expect(call).toMatchObject({ reason: "unready", unready: [{ pod: "data-main.0" }] });
  expect(call?.unready[0]?.ms).toBeGreaterThanOrEqual(3_000);
  await it.advance(30_000);
  expect(calls()).toHaveLength(1);
});

test("a block of which no pod was ever ready is not down, however long it takes; once one was, also after a restart", async () => {
  it.runtime.fail("create", new Failure("unavailable", "no room"));
  const answer = await ask("POST /apply", { kind: "db", scope: "data", name: "main", spec: { size: 1 } });
  expect(answer.status).toBe(200);
  for (let second = 0; second < 30; second += 1) await it.advance(1_000);
  expect(calls()).toEqual([]);
  expect(it.events("plugin.attend")).toEqual([]);
  it.runtime.fail("create", undefined);
  await it.advance(60_000);
  await it.settle();
  it.runtime.fail("create", new Failure("unavailable", "no room"));
  for (const pod of ["data-main.0", "data-main.1"]) await it.runtime.remove(podRef(pod));
  await it.restart();
  await looked("the plugin to be asked about pods that were ready before the restart", () =>
    calls().some(({ unready }) => unready.some(({ ms }) => ms >= 3_000)),
  );
});

test("a plugin is asked again when it wants that, as long as pods are not ready", async () => {
  await applied();
  writeFileSync(join(folder, "answer"), JSON.stringify({ status: "ok", data: { again: "2s" } }));
  it.runtime.fail("create", new Failure("unavailable", "no room"));
  await it.runtime.remove(podRef("data-main.0"));
  await looked("the plugin to be asked three times", () => calls().length >= 3);
  const [first, second] = calls();
  expect((second?.unready[0]?.ms ?? 0) - (first?.unready[0]?.ms ?? 0)).toBeGreaterThanOrEqual(2_000);
  it.runtime.fail("create", undefined);
  await it.settle();
  await it.advance(60_000);
  // A process may still write down what it was asked while pods were not ready; nothing is asked after that.
  expect(calls().filter(({ unready }) => unready.length === 0)).toEqual([]);
});

test("a failure is told once as an event that why shows, and it is tried again until it works", async () => {
  await applied();
  writeFileSync(join(folder, "broken"), "");
  await it.restart();
  await looked("the failure to be told", () => it.events("plugin.attend").length > 0);
  await it.advance(60_000);
  expect(it.events("plugin.attend")).toMatchObject([
    { actor: "plugin db", scope: "data", name: "main", detail: { error: expect.stringContaining("cannot reach it") } },
  ]);
  const { events } = (await ask("GET /why?scope=data&name=main")).data as { events: { action: string }[] };
  expect(events.map(({ action }) => action)).toContain("plugin.attend");
  writeFileSync(join(folder, "answer"), acting([]).split("\n")[2] ?? "");
  rmSync(join(folder, "broken"));
  await looked("the plugin to be asked", () => calls().length > 0);
  await waitFor("what it did to be told", () => it.events("plugin.attend").length > 1);
  expect(it.events("plugin.attend").map(({ detail }) => detail?.message)).toContain("done");
});

test("an exclusive command keeps others about the same block away, and only those", async () => {
  await applied();
  const first = ask("POST /plugin/db/promote", { args: ["data/main"] });
  const second = await waitFor("the second to be refused", async () => {
    const answer = await ask("POST /plugin/db/rejoin", { args: ["data/main"] });
    return answer.status === 200 ? undefined : answer;
  });
  expect(second.status).toBe(409);
  expect(second.error).toContain('"db:promote" has been running for data/main for');
  expect((await ask("POST /plugin/db/info", { args: ["data/main"] })).status).toBe(200);
  expect((await ask("POST /plugin/db/rejoin", { args: ["data/other"] })).status).toBe(200);
  writeFileSync(join(folder, "go"), "");
  expect((await first).data.message).toBe("data/main promoted");
  expect((await ask("POST /plugin/db/rejoin", { args: ["data/main"] })).status).toBe(200);
  expect(calls()).toEqual([]);
});

test("a command that meets attend waits for it", async () => {
  await applied();
  writeFileSync(join(folder, "slow"), "");
  await it.restart();
  await looked("the plugin to be asked", () => existsSync(join(folder, "begun")));
  const answer = ask("POST /plugin/db/rejoin", { args: ["data/main"] });
  await Bun.sleep(100);
  rmSync(join(folder, "slow"));
  expect((await answer).data.message).toBe("rejoined");
});

test("after an exclusive command that failed the plugin looks at what it has left", async () => {
  await applied();
  for (const file of ["go", "fail"]) writeFileSync(join(folder, file), "");
  expect((await ask("POST /plugin/db/promote", { args: ["data/main"] })).status).toBe(400);
  await looked("the plugin to be asked", () => calls().length > 0);
  expect(calls()).toMatchObject([{ reason: "interrupted" }]);
});

test("a plugin that attends to the block of a token brings in nothing that reaches the machine; that of an operator may", async () => {
  const block = { kind: "db", scope: "data", name: "main", spec: { size: 1 } };
  const by = tokenPrincipal({ scopes: ["actions"], apps: [] });
  await it.apply(block, { by });
  await it.settle();
  const manifest = { kind: "job", scope: "data", name: "dump", spec: { image: fixtureImage, volumes: ["/srv:/dump"] } };
  const answer = { status: "ok", data: { actions: [{ type: "apply_manifest", manifest }] } };
  writeFileSync(join(folder, "answer"), JSON.stringify(answer));
  await it.restart();
  await looked("the refusal to be told", () => it.events("plugin.attend").length > 0);
  expect(it.events("plugin.attend")[0]?.detail).toMatchObject({
    error: expect.stringContaining("which takes the scope admin"),
  });
  expect(it.store.manifests.list({ kind: "job" })).toEqual([]);
  await it.apply(block);
  await it.restart();
  await looked("the job to be stored", () => it.store.manifests.list({ kind: "job" }).length > 0);
});
