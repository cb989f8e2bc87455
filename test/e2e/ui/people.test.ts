import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tab } from "../../support/chromium.ts";
import { berth, serve, type Server } from "../../support/executable.ts";
import { freePort } from "../../support/ports.ts";
import { openBrowser } from "../../support/ui/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { takePictures } from "../../support/ui/pictures.ts";

setDefaultTimeout(120_000);

/** The executable with its identity service, and a browser in which people sign in to the web UI. */
let server: Server;
let folder: string;
let endpoint: string;
let ui: string;
let instance: string;

const password = "correct horse battery";
const email = "ana@example.com";

async function run(args: string[], stdin?: string) {
  const done = await berth(args, { env: { BERTH_ENDPOINT: endpoint }, ...(stdin === undefined ? {} : { stdin }) });
  if (done.exitCode !== 0) throw new Error(`berth ${args.join(" ")}: ${done.stderr}${done.stdout}`);
  return done;
}

const { chromium, tab } = await openBrowser();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "people-"));
  const [plane, identity, web] = [await freePort(), await freePort(), await freePort()];
  endpoint = `http://127.0.0.1:${plane}`;
  ui = `http://127.0.0.1:${web}`;
  server = await serve([
    ...["--root", folder, "--addr", `127.0.0.1:${plane}`, "--docker-host", "unix:///nonexistent.sock"],
    ...["--identity-addr", `127.0.0.1:${identity}`, "--observability-addr", `127.0.0.1:${web}`],
  ]);
});

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function signIn(on: Tab, at = "/"): Promise<void> {
  await on.open(`${ui}${at}`);
  await on.press("Sign in with your berth account");
  await on.shows("Password");
  await on.fill("#email", email);
  await on.fill("#password", password);
  await on.click("form[action$='/sign-in'] button");
}

describe("people sign in to the web UI", () => {
  test("berth people turns it on, and says what is missing", async () => {
    const made = await run(["people", "enable", "-o", "json"]);
    ({ instance } = (JSON.parse(made.stdout) as { data: { instance: string } }).data);
    const set = await run(["people", "set", email, "admin"]);
    expect(set.stdout).toBe(`${email} is admin\n`);
    expect(set.stderr).toContain(`berth identity user create --instance ${instance} --email ${email} --password -`);
    await run(["identity", "user", "create", "--instance", instance, "--email", email, "--password", password]);
    expect((await run(["people", "list"])).stdout).toMatch(/ana@example\.com +admin +all +never +0/);
  });

  test("the sign-in page offers it", async () => {
    await tab.open(ui);
    await tab.shows("Sign in with your berth account");
    await takePictures(tab, "people-sign-in");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("through the hosted page to the screen that was asked for, without a token or code in the address", async () => {
    await signIn(tab, "/access");
    await tab.at(/\/access$/);
    await tab.shows(email);
    expect(await tab.read<string>("document.cookie")).toBe("");
    await tab.open(`${ui}/`);
    await tab.shows("Overview");
  });

  test("a person without a role sees whom to ask", async () => {
    await run([
      "identity",
      "user",
      "create",
      "--instance",
      instance,
      "--email",
      "bo@example.com",
      "--password",
      password,
    ]);
    const other = await chromium.tab();
    await other.look({ width: 1280, height: 800, scheme: "light" });
    await other.open(ui);
    await other.press("Sign in with your berth account");
    await other.shows("Password");
    await other.fill("#email", "bo@example.com");
    await other.fill("#password", password);
    await other.click("form[action$='/sign-in'] button");
    await other.shows("berth people set bo@example.com viewer");
    await takePictures(other, "people-no-role");
    expect(await axeFaults(other, { bare: true })).toEqual([]);
    await other.press("Back to the sign-in page");
    await other.shows("Sign in to berth");
  });

  test("the access screen: people, their roles and sessions, and what an end does", async () => {
    await run(["people", "set", "bo@example.com", "viewer", "--app", "shop"]);
    await tab.open(`${ui}/access`);
    await tab.shows("Signed in now");
    await tab.shows("(this browser)");
    await takePictures(tab, "people-access");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.click("table tbody tr:nth-child(2) td:last-child .row button:last-child");
    await tab.shows("Only a command on the server gives the role again");
    await takePictures(tab, "people-remove");
    await tab.press("Remove");
    await waitFor("the list without the person", async () => {
      const { stdout } = await run(["people", "list"]);
      return !stdout.includes("bo@example.com");
    });
  });

  test("who loses the role is signed out at once", async () => {
    const removed = await run(["people", "remove", email, "-y"]);
    expect(removed.stdout).toContain("ended 1 session");
    await tab.open(`${ui}/deploys`);
    await tab.shows("Sign in to berth");
  });

  test("no page complained of its policy, and the log holds no secret", async () => {
    expect(chromium.complaints).toEqual([]);
    await waitFor("the log", () => server.output().includes("/sign-in"));
    for (const secret of [password, "code=", "token="]) expect(server.output()).not.toContain(secret);
  });
});
