import { describe, expect, test } from "bun:test";
import type { BlockView } from "../../../src/observability/api/plugins.ts";
import type { PluginInfo, PluginPreview } from "../../../src/orchestration/api/plugins.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { appFixture, overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { takePictures } from "../../support/ui/pictures.ts";
import { waitFor } from "../../support/wait.ts";

const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();
const stamp = (secondsAgo: number) => at(secondsAgo).replace(/[-:]|\.\d+/g, "");

const plugin = (over: Partial<PluginInfo>): PluginInfo => ({
  ...{ name: "postgres", version: "0.1.0", description: "PostgreSQL with standbys and backups", homepage: "" },
  ...{ aliases: ["pg"], kinds: ["postgres", "pg"], env: {}, origin: "bundled", enabled: true, full_grant: false },
  commands: [
    { name: "backup", help: "takes a backup now" },
    { name: "restore", help: "restores a database", destructive: true },
  ],
  permissions: { actions: ["config_set", "apply_manifest"], scopes: ["*"], docker: false, root: false },
  ...over,
});
const greet = plugin({
  ...{ name: "greet", aliases: [], kinds: ["greet"], description: "says hello", version: "1.1", origin: "installed" },
  ...{ source: "acme/greet", commit: "4d1f0b7c2a9e8d3f", installed_at: at(9_000), previous: "1.0" },
});
const preview: PluginPreview = {
  ...{ preview: true, name: "greet", version: "1.2", description: "says hello", homepage: "", aliases: [], kinds: [] },
  ...{ commands: [], env: {}, source: "acme/greet", digest: "0".repeat(64), full_grant: false, hooks: ["install"] },
  grant: { actions: ["run_job"], scopes: ["data"], docker: true },
  ...{ more: ["run_job", "docker"], warnings: ["the release has no checksum file"] },
  replaces: { version: "1.1", origin: "installed" },
};
const run = (over: object) => ({
  ...{ run_id: "r1", plugin: "postgres", version: "0.1.0", command: "backup", args: ["data/main"], actor: "ci" },
  ...{ status: "succeeded", started_at: at(90), ended_at: at(60), applied: [], tail: ["counting rows"] },
  ...over,
});
const commands = (names: string): BlockView["commands"] =>
  names.split(" ").map((name) => ({
    name,
    destructive: /restore|promote|failover|delete|^expose/.test(name),
    reads: false,
    reveals: false,
  }));
const shared = "info backups backup restore backups:delete link unlink expose unexpose query";
const block = (over: Partial<BlockView>): BlockView => ({
  ...{ plugin: "postgres", kind: "postgres", scope: "data", name: "main", version: "0.1.0", state: "ready" },
  ...{ summary: "2 of 2 replicas are ready", image: "postgres:17", desired: 2, ready: 2 },
  ...{ children: ["statefulset/data/main"], commands: commands(`${shared} promote times`), ...over },
});
const message = (value: unknown) => ({
  ...{ message: JSON.stringify(value), applied: [], exec_local: [], fetch_file: [], run_id: "r" },
});
const facts = {
  ...{ version: "17.2", primary: 0, connections: { used: 12, max: 100 } },
  pods: [
    { ordinal: 0, role: "primary", ready: true },
    { ordinal: 1, role: "standby", ready: true, lag: 4096 },
  ],
  databases: [{ name: "shop", bytes: 734_003_200, owner: "shop" }],
  links: [{ app: "shop/web", key: "DATABASE_URL", user: "shop" }],
};
const newest = stamp(40_000);
const operation = {
  ...{ id: "op-1", type: "postgres:restore", app: { kind: "postgres", scope: "data", name: "main" } },
  ...{ state: "running", text: "about to begin", actor: "pat:Ab3dEf", started_at: at(0) },
};

/** Plugins and databases in a browser, with a plane that the test plays. */
const { plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture({ apps: [appFixture("web"), appFixture("api")] }),
  "GET /plugins": { plugins: [plugin({}), greet], errors: ["broken: there is no program to run"] },
  "GET /plugins/runs": {
    runs: [run({}), run({ run_id: "r2", status: "failed", error: "no space left on device", command: "restore" })],
  },
  "POST /plugins/install": preview,
  "POST /plugins/greet/update": preview,
  "DELETE /plugins/greet": { name: "greet", removed: true },
  "GET /databases": {
    blocks: [
      block({}),
      block({
        ...{ plugin: "redis", kind: "redis", name: "cache", image: "redis:7", state: "down", desired: 1 },
        ready: 0,
      }),
      block({ plugin: "greet", kind: "greet", scope: "demo", name: "hello" }),
    ],
  },
  "GET /databases/postgres/data/main/info": message(facts),
  "GET /databases/postgres/data/main/backups": message([
    { id: newest, bytes: 52_428_800, holds: "shop", check: "failed", reason: "rows differ" },
  ]),
  "GET /databases/postgres/data/main/times": message({
    target: "far",
    ranges: [{ from: at(90_000), to: at(20) }],
    bases: [],
  }),
  "POST /databases/postgres/data/main/restore": { operation },
  "POST /databases/postgres/data/main/link": { operation: { ...operation, id: "op-2", type: "postgres:link" } },
  "POST /databases/postgres/data/main/query/reveal": message({
    ...{
      columns: ["id", "mail"],
      rows: [
        [1, "<b>ana@example.com</b>"],
        [2, null],
      ],
      more: true,
    },
  }),
});

/** As a person does, so that the page hears of it. */
async function write(selector: string, text: string): Promise<void> {
  await tab.fill(selector, "");
  await tab.type(text);
}

/** The page draws a button that can be pressed a moment after the field before it was filled. */
async function pressReady(text: string): Promise<void> {
  await waitFor(`"${text}" to be pressable`, () =>
    tab.read<boolean>(
      `[...document.querySelectorAll("button")].some((one) => one.innerText === ${JSON.stringify(text)} && !one.disabled)`,
    ),
  );
  await tab.press(text);
}

const lastAsked = (request: string) => plane.asked.findLast(({ method, path }) => `${method} ${path}` === request);

describe("plugins", () => {
  test("are listed with what they may do, their commands and the output of their runs", async () => {
    await tab.open(`${plane.url}/plugins`);
    await tab.shows("Not usable: broken: there is no program to run");
    await tab.shows("config_set, apply_manifest in every scope");
    await tab.shows("acme/greet");
    await tab.read("for (const each of document.querySelectorAll('details')) each.open = true; true");
    await tab.shows("no space left on device");
    await takePictures(tab, "plugins");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("an install shows what it grants before anything happens", async () => {
    await write("#source", "acme/greet");
    await pressReady("Show what it asks for");
    await tab.shows("greet 1.2 takes the place of 1.1 (installed)");
    await tab.shows("It uses the container engine, so it can do everything on this machine");
    await tab.shows("Its install hook runs now");
    expect(lastAsked("POST /plugins/install")?.body).toEqual({ source: "acme/greet", preview: true });
    await takePictures(tab, "plugins-install");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Install");
    await tab.shows("greet is installed");
    const body = { source: "acme/greet", replace: true, expect: preview.digest };
    expect(lastAsked("POST /plugins/install")?.body).toEqual(body);
  });

  test("an update names new permissions, and grants them only when it is pressed", async () => {
    await tab.press("Update…");
    await tab.shows("New permissions: run_job, docker");
    await tab.press("Update and grant");
    await tab.shows("greet is updated");
    expect(lastAsked("POST /plugins/greet/update")?.body).toEqual({ expect: preview.digest, grant: preview.grant });
  });

  test("a removal names what goes, and wants the name", async () => {
    await tab.press("Remove…");
    await tab.shows("can no longer be changed or backed up: greet/demo/hello");
    await write("#typed", "greet");
    await pressReady("Remove");
    await waitFor("the removal", () => lastAsked("DELETE /plugins/greet") !== undefined);
  });
});

describe("databases", () => {
  test("are listed; one has its pods, lag, size, connections, backups and links", async () => {
    await tab.open(`${plane.url}/databases`);
    await tab.shows("data/cache");
    await takePictures(tab, "databases");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("data/main");
    await tab.shows("12 of 100");
    for (const text of ["17.2", "700 MiB", "4 KiB", newest, "50 MiB", "failed: rows differ", "DATABASE_URL"])
      await tab.shows(text);
    await takePictures(tab, "database");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("a restore says what is lost, and wants the name of the database", async () => {
    await tab.press("Restore…");
    await tab.shows("what was written since is not in it");
    await tab.shows("Its check failed, so this may fail too: rows differ");
    await takePictures(tab, "database-restore");
    expect(await axeFaults(tab)).toEqual([]);
    expect(await tab.read<boolean>("document.querySelector('dialog .button.main').disabled")).toBe(true);
    await write("#typed", "data/main");
    await pressReady("Restore");
    await tab.shows("The postgres:restore of data/main has begun");
    expect(lastAsked("POST /databases/postgres/data/main/restore")).toMatchObject({
      query: { confirm: "data/main" },
      body: { args: [newest, "--replace"] },
    });
  });

  test("a restore to a point in time shows the range, refuses a time outside of it, and goes beside", async () => {
    await tab.press("Restore to a time…");
    await tab.shows("A new block beside it gets the data of that time from far");
    await takePictures(tab, "database-restore-at");
    expect(await axeFaults(tab)).toEqual([]);
    const set = (secondsAgo: number) =>
      tab.read(`{
        const field = document.querySelector("#time");
        const at = new Date("${at(secondsAgo)}");
        field.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
        field.dispatchEvent(new Event("input", { bubbles: true }));
        document.querySelector("dialog form").noValidate = true;
      } true`);
    const args = () =>
      (lastAsked("POST /databases/postgres/data/main/restore") as { body: { args: string[] } }).body.args;
    await set(200_000);
    await tab.press("Restore");
    await tab.shows("cannot be restored: choose a time from");
    expect(args()).toEqual([newest, "--replace"]);
    await set(3_600);
    await tab.press("Restore");
    await waitFor("the restore", () => args()[0] === "--at");
    expect(Math.abs(Date.parse(args()[1] ?? "") - Date.parse(at(3_600)))).toBeLessThan(60_000);
  });

  test("an app is linked", async () => {
    await tab.press("Link an app…");
    await tab.shows("The app gets the URL with a password in its config");
    await tab.press("Link");
    await tab.shows("The postgres:link of data/main has begun");
    expect(lastAsked("POST /databases/postgres/data/main/link")?.body).toEqual({ args: ["shop/api"] });
  });

  test("the box for reading shows rows as text, and faults of the server", async () => {
    await write("#query", "select id, mail from users");
    await pressReady("Run");
    await tab.shows("2 rows, and there are more");
    await tab.shows("<b>ana@example.com</b>");
    expect(lastAsked("POST /databases/postgres/data/main/query/reveal")?.body).toEqual({
      args: ["-c", "select id, mail from users", "-o", "json"],
    });
    await tab.read("document.querySelector('#query').scrollIntoView(); true");
    await takePictures(tab, "database-query");
    expect(await axeFaults(tab)).toEqual([]);
    plane.answers["POST /databases/postgres/data/main/query/reveal"] = Response.json(
      { status: "error", error: "cannot execute INSERT in a read-only transaction" },
      { status: 400 },
    );
    await pressReady("Run");
    await tab.shows("cannot execute INSERT in a read-only transaction");
  });

  test("a token that may only read sees why it can do nothing else", async () => {
    plane.answers["GET /whoami"] = { ...whoFixture, scopes: ["read"] };
    await tab.open(`${plane.url}/databases/postgres/data/main`);
    await tab.shows("12 of 100");
    const why = (text: string) =>
      tab.read<string>(`[...document.querySelectorAll("button")].find((one) => one.innerText === "${text}").title`);
    expect(await why("Back up now…")).toContain("no scope actions");
    expect(await why("Run")).toContain("no scope config:reveal");
  });
});
