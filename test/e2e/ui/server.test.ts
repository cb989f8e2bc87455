import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployment } from "../../support/manifests.ts";
import { freePort } from "../../support/ports.ts";
import { type Rig, rig } from "../../support/rig.ts";
import { openBrowser } from "../../support/ui/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { takePictures } from "../../support/ui/pictures.ts";

setDefaultTimeout(120_000);

/** The executable with real containers, and a browser that was signed in by `berth ui`. */
let berth: Rig;
let address: string;

/** What the test rolls back must not roll back by itself before. */
const rollout = { min_ready: "0s", auto_rollback: false };
const page = "mkdir -p /www && echo page >/www/index.html && exec httpd -f -p 8080 -h /www";

const { chromium, tab } = await openBrowser();

beforeAll(async () => {
  address = `127.0.0.1:${await freePort()}`;
  berth = await rig({ flags: ["--observability-addr", address] });
  await berth.apply(deployment("shop", "web", { command: ["sh", "-c", page], replicas: 2, rollout }));
  await berth.ready("deployment", "shop", "web");
});

afterAll(async () => {
  await berth?.close();
});

/** The link that `berth ui` prints. */
async function link(...flags: string[]): Promise<string> {
  const run = await berth.cli(["ui", "--print", ...flags]);
  const found = /http:\/\/\S+/.exec(run.stdout)?.[0];
  if (found === undefined) throw new Error(`berth ui printed no link: ${run.stdout}${run.stderr}`);
  return found;
}

const stateOf = (name: string) =>
  tab.read<string>(
    `[...document.querySelectorAll('.tile')].find((one) => one.innerText.includes(${JSON.stringify(name)}))?.querySelector('.state')?.innerText ?? ""`,
  );

describe("the web UI of the executable", () => {
  test("without a session there is only the page to sign in", async () => {
    await tab.open(`http://${address}/apps/shop/web`);
    await tab.shows("Sign in to berth");
  });

  test("the link of berth ui signs in, once, and leaves no code in the address", async () => {
    const once = await link();
    await tab.open(once);
    await tab.shows("shop/web");
    expect(await tab.read<string>("location.href")).toBe(`http://${address}/`);
    expect(await tab.read<string>("document.cookie")).toBe("");
    const other = await chromium.tab();
    await other.open(once);
    await other.shows("Sign in");
    expect(await other.read<string>("document.body.innerText")).not.toContain("shop/web");
  });

  test("the overview shows the app as it is", async () => {
    await tab.shows("Nothing needs attention");
    expect(await stateOf("shop/web")).toBe("ready");
    await takePictures(tab, "server-overview");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("the page of an app: replicas, and a restart that says first what it does and then happens", async () => {
    await tab.open(`http://${address}/apps/shop/web`);
    await tab.shows("Replicas: 2 of 2 ready");
    await takePictures(tab, "server-app");
    expect(await axeFaults(tab)).toEqual([]);
    const before = (await berth.pods("shop", "web")).map(({ name }) => name);
    await tab.press("Restart…");
    await tab.shows("2 replicas of the same release are replaced");
    await tab.press("Restart");
    await tab.shows("The restart of shop/web has begun");
    await waitFor("other replicas", async () => {
      const pods = await berth.pods("shop", "web");
      return pods.length === 2 && pods.every(({ name, ready }) => ready && !before.includes(name));
    });
  });

  test("config: keys are stored after a review, and no value is in the page before it is revealed", async () => {
    await tab.open(`http://${address}/apps/shop/web/config`);
    await tab.shows("No config yet");
    await tab.read("document.querySelector('#config-value').focus()");
    await tab.type("API_TOKEN=s3cret-value");
    await tab.press("Add to the changes");
    await tab.press("Review 1 change…");
    await tab.shows("API_TOKEN is new");
    await tab.press("Store");
    await tab.shows("1 key changed");
    expect(await tab.read<string>("document.documentElement.outerHTML")).not.toContain("s3cret-value");
    await tab.press("Reveal");
    await tab.shows("s3cret-value");
    expect((await berth.cli(["config", "get", "shop/web", "API_TOKEN"])).stdout).toBe("s3cret-value\n");
  });

  test("a new release that cannot start is deployed from a manifest with its plan, seen as broken, and rolled back", async () => {
    await berth.ready("deployment", "shop", "web");
    await tab.open(`http://${address}/new?of=shop%2Fweb`);
    await tab.shows("Change shop/web");
    await waitFor("the manifest", () =>
      tab.read<boolean>("document.querySelector('#manifest').value.includes('httpd')"),
    );
    await tab.read(
      `(() => { const area = document.querySelector("#manifest"); area.value = area.value.replace(/exec httpd[^"\\n]*/, "echo 'cannot connect to main-0.data:5432'; exit 1"); area.dispatchEvent(new Event("input", { bubbles: true })); })()`,
    );
    await tab.press("Show the plan");
    await tab.shows("2 replicas are replaced");
    await takePictures(tab, "server-plan");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Deploy");
    await tab.at(/\/apps\/shop\/web$/);
    await waitFor("a release that fails or waits", async () => {
      await tab.open(`http://${address}/`);
      await tab.shows("shop/web");
      return !["ready", ""].includes(await stateOf("shop/web"));
    });
    await takePictures(tab, "server-broken");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.open(`http://${address}/apps/shop/web/deploys`);
    await tab.shows("Roll back to this…");
    await takePictures(tab, "server-deploys");
    await tab.press("Roll back to this…");
    await tab.shows("command: ");
    await tab.press("Roll back");
    await tab.shows("The rollback of shop/web has begun");
    await berth.ready("deployment", "shop", "web");
    await tab.open(`http://${address}/`);
    await waitFor("the app to be well", async () => (await stateOf("shop/web")) === "ready");
  });

  test.each([
    ["/logs?app=shop%2Fweb", "Live"],
    ["/logs?app=shop%2Fweb&from=1h", "the newest"],
    ["/metrics", "Machine"],
    ["/apps/shop/web/metrics", "A line per replica"],
    ["/deploys", "Took"],
    ["/jobs", "No jobs yet"],
    ["/apps/shop/web/why", "Why"],
    ["/apps/shop/web/events", "was applied"],
    ["/events", "was applied"],
    ["/audit", "Outcome"],
    ["/domains", "Domains"],
    ["/requests", "Requests"],
    ["/alerts/incidents", "Incidents"],
    ["/alerts/rules", "crash"],
    ["/alerts/channels", "No channel"],
    ["/alerts", "Alerts"],
    ["/identity", "No instance yet"],
    ["/databases", "No databases yet"],
    ["/plugins", "part of berth"],
    ["/access", "Access"],
  ])("the screen %s has what it asks for, in both themes and by axe", async (path, text) => {
    await tab.open(`http://${address}${path}`);
    await tab.shows(text);
    await waitFor(
      "the screen to load",
      async () => (await tab.read<number>("document.querySelectorAll('.bones').length")) === 0,
    );
    expect(await tab.read<string>("document.querySelector('main').innerText")).not.toContain("Could not load");
    await takePictures(tab, `server${path.replaceAll(/[^a-z]+/g, "-")}`);
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("a route of a plugin leads to a container of its own block, and to no other", async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-desk-"));
    const yml =
      "name: desk\nversion: 1\nroutes: { port: 8080 }\npermissions: { actions: [], scopes: ['*'], root: true }\n";
    const spec = { ...deployment("", "").spec, command: ["sh", "-c", page], rollout };
    const manifests = { status: "ok", data: [{ kind: "deployment", name: "tool", spec }] };
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "plugin.yml"), yml);
    writeFileSync(join(folder, "bin/expand"), `#!/bin/sh\ncat >/dev/null\necho '${JSON.stringify(manifests)}'\n`, {
      mode: 0o755,
    });
    const installed = await berth.cli(["plugins", "install", folder, "--yes"]);
    expect(installed.stderr + installed.stdout).toContain("installed desk 1");
    await berth.apply({ kind: "desk", scope: "shop", name: "tool", spec: {} });
    await berth.ready("deployment", "shop", "tool");
    const token = (await berth.cli(["pat", "create", "desk", "--scope=read"])).stdout.split("\n")[0] ?? "";
    const ask = (path: string, method = "GET") =>
      fetch(`http://${address}/api/pat/v1/desk/${path}`, { method, headers: { Authorization: `Bearer ${token}` } });
    const answer = await ask("shop/tool/index.html");
    expect([answer.status, await answer.text()]).toEqual([200, "page\n"]);
    expect(answer.headers.get("content-security-policy")).toBe("sandbox");
    expect((await ask("shop/web/index.html")).status).toBe(404);
    expect((await ask("shop/tool/index.html", "POST")).status).toBe(403);
    rmSync(folder, { recursive: true });
  });

  test("a token that is revoked while the page is open ends the session", async () => {
    const list = await berth.cli(["pat", "list", "-o", "json"]);
    const { pats } = (JSON.parse(list.stdout) as { data: { pats: { id: string }[] } }).data;
    for (const { id } of pats) await berth.cli(["pat", "revoke", id, "-y"]);
    await tab.press("Overview");
    await tab.open(`http://${address}/deploys`);
    await tab.shows("Sign in to berth");
  });

  test("no page complained of its policy", () => expect(chromium.complaints).toEqual([]));
});
