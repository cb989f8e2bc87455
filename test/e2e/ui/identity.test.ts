import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth, serve, type Server } from "../../support/executable.ts";
import { freePort } from "../../support/ports.ts";
import { openBrowser } from "../../support/ui/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { takePictures } from "../../support/ui/pictures.ts";

setDefaultTimeout(120_000);

/** The executable with an instance and users, and the screens of the identity service in a browser. */
let server: Server;
let folder: string;
let endpoint: string;
let ui: string;
let instance: string;

const hostile = "<img src=x onerror=alert(1)>";

async function run(...args: string[]): Promise<string> {
  const done = await berth(args, { env: { BERTH_ENDPOINT: endpoint } });
  if (done.exitCode !== 0) throw new Error(`berth ${args.join(" ")}: ${done.stderr}${done.stdout}`);
  return done.stdout;
}

const { chromium, tab } = await openBrowser();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "identity-ui-"));
  const [plane, identity, web] = [await freePort(), await freePort(), await freePort()];
  endpoint = `http://127.0.0.1:${plane}`;
  ui = `http://127.0.0.1:${web}`;
  server = await serve([
    ...["--root", folder, "--addr", `127.0.0.1:${plane}`, "--docker-host", "unix:///nonexistent.sock"],
    ...["--identity-addr", `127.0.0.1:${identity}`, "--observability-addr", `127.0.0.1:${web}`],
  ]);
  const redirect = "http://localhost:3000/callback";
  const made = await run("identity", "quickstart", "--redirect", redirect, "--title", "My shop", "-o", "json");
  instance = (JSON.parse(made) as { data: { instance_id: string } }).data.instance_id;
  const password = "correct horse battery";
  await run("identity", "user", "create", "--email", "ana@example.com", "--name", hostile, "--password", password);
  await tab.open(/http:\/\/\S+/.exec(await run("ui", "--print"))?.[0] ?? "");
  await tab.shows("Overview");
});

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** As a person writes: what was in the field is replaced. */
async function write(selector: string, text: string): Promise<void> {
  await waitFor(selector, () => tab.read<boolean>(`document.querySelector('${selector}') !== null`));
  await tab.read(`document.querySelector('${selector}').select(); true`);
  await tab.type(text);
}

async function look(path: string, text: string, picture: string): Promise<void> {
  await tab.open(`${ui}${path}`);
  await tab.shows(text);
  await waitFor("the screen", async () => (await tab.read<number>("document.querySelectorAll('.bones').length")) === 0);
  await takePictures(tab, picture);
  expect(await axeFaults(tab)).toEqual([]);
}

describe("the screens of the identity service", () => {
  test("the list leads to an instance", async () => {
    await look("/identity", "development", "identity-list");
    await tab.read("document.querySelector('main td a').click()");
    await tab.shows("ana@example.com");
    await tab.shows(hostile);
    expect(await tab.read<number>("document.querySelectorAll('main img, [onerror]').length")).toBe(0);
  });

  test("users: a new one, banned, and deleted only after its address is typed", async () => {
    await tab.press("New user…");
    await tab.shows("you vouch for it");
    await write("#user-email", "bo@example.com");
    await tab.press("Create");
    await tab.shows("bo@example.com is a user now");
    await look(`/identity/${instance}`, "bo@example.com", "identity-users");
    await tab.press("Ban…");
    await tab.shows("Every session ends at once");
    await tab.press("Ban");
    await tab.shows("bo@example.com is banned");
    await tab.press("Delete…");
    await tab.shows("for good");
    await takePictures(tab, "identity-delete");
    await write("#typed", "bo@example.com");
    await tab.click("dialog button[type=submit]");
    await waitFor(
      "the user to be gone",
      async () => !(await run("identity", "user", "list")).includes("bo@example.com"),
    );
    await tab.open(`${ui}/identity/${instance}?q=nobody`);
    await tab.shows("No user matches");
  });

  test("keys: a new one is shown once", async () => {
    await look(`/identity/${instance}/keys`, "API and signing", "identity-keys");
    await tab.press("New API key…");
    await tab.press("Create");
    await tab.shows("Store it now");
    expect(await tab.read<string>("document.querySelector('.note code').innerText")).toStartWith("ak_test_");
    await tab.open(`${ui}/identity/${instance}/keys`);
    await tab.shows("Revoke…");
    expect(await tab.read<number>("document.querySelectorAll('.note code').length")).toBe(0);
  });

  test("the sign-in page with another look, before and after it is stored", async () => {
    await tab.open(`${ui}/identity/${instance}/page`);
    await tab.shows("Colour of buttons");
    await write("#look-title", "Night shop");
    await write("#look-accent", "purple");
    await tab.press("Preview");
    await tab.shows("accent");
    await write("#look-accent", "#8a1c5c");
    await tab.press("Preview");
    const shown = "new URL(document.querySelector('iframe').src).searchParams.get('title')";
    await waitFor("the preview", async () => (await tab.read<string>(shown)) === "Night shop");
    await takePictures(tab, "identity-page");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Store…");
    await tab.shows("title becomes Night shop");
    await tab.press("Store");
    await tab.shows("The sign-in page has the new look");
    expect(await run("identity", "instance", "show", instance)).toContain("Night shop");
  });

  test("settings: one is changed, and marked", async () => {
    await look(`/identity/${instance}/settings`, "min_password_length", "identity-settings");
    await run("identity", "instance", "set", instance, "email_signup=false");
    await tab.open(`${ui}/identity/${instance}/settings`);
    await waitFor("the mark", () =>
      tab.read<boolean>("[...document.querySelectorAll('strong')].some((one) => one.innerText === 'false')"),
    );
  });

  test.each([
    ["sessions", "No session"],
    ["audit", "instance.update"],
  ])("the tab %s", async (name, text) => look(`/identity/${instance}/${name}`, text, `identity-${name}`));

  test("nothing broke the policy", () => expect(chromium.complaints).toEqual([]));
});
