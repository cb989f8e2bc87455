import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Chromium, startChromium, type Tab } from "../../support/chromium.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { type FakePlane, startFakePlane } from "../../support/ui/fake-plane.ts";
import { appFixture, overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { waitFor } from "../../support/wait.ts";
import { takePictures } from "../../support/ui/pictures.ts";

/** A new app in a browser, with a plane that the test plays. */
let chromium: Chromium;
let plane: FakePlane;
let tab: Tab;

const app = { kind: "deployment", scope: "demo", name: "hello" } as const;
const operation = { id: "op1", type: "apply", app, actor: "pat:a", started_at: new Date().toISOString() };
const planned = { applied: [app], pruned: [], operations: [] };
const row = { action: "create", changed: [], replicas: [{ action: "create", why: "new" }], notes: [] };

beforeAll(async () => {
  plane = startFakePlane({
    "GET /whoami": whoFixture,
    "GET /overview": overviewFixture(),
    "POST /apply": {
      ...planned,
      plan: [{ ...row, ref: "deployment/demo/hello" }],
      operations: [{ ...operation, state: "running", text: "0 of 2 replicas are ready" }],
    },
  });
  chromium = await startChromium();
  tab = await chromium.tab();
  await tab.look({ width: 1280, height: 800, scheme: "light" });
});

afterAll(async () => {
  await chromium?.close();
  await plane?.stop();
});

const manifest = () => tab.read<string>("document.querySelector('#manifest').value");

describe("a new app", () => {
  test("from an example: form and manifest are filled, and the wait after Deploy is visible", async () => {
    await tab.open(`${plane.url}/new?from=example`);
    await tab.shows("One page, served by two containers");
    await takePictures(tab, "new-examples");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.read(
      "[...document.querySelectorAll('.choice')].find((one) => one.innerText.startsWith('hello')).click()",
    );
    await waitFor("the example", async () => (await manifest()).startsWith("# A page served"));
    await tab.read(
      "(() => { const field = document.querySelector('#name'); field.value = 'greeting'; field.dispatchEvent(new Event('input', { bubbles: true })); })()",
    );
    await waitFor("the name", async () => (await manifest()).includes("kind: deployment\nscope: demo\nname: greeting"));
    expect(await manifest()).toContain("# A page served by two replicas.");
    await tab.press("Show the plan");
    await tab.shows("1 replica is created");
    const asked = plane.asked.findLast(({ path }) => path === "/apply")?.body as { kind: string }[] | undefined;
    expect(asked?.map(({ kind }) => kind)).toEqual(["asset", "deployment", "ingress"]);
    await tab.press("Deploy");
    await tab.shows("0 of 2 replicas are ready");
    const hosts = [{ host: "hello.localhost", url: "https://hello.localhost/", paths: ["/"], tls: true, ingress: "" }];
    plane.send("app", appFixture("hello", { ...app, hosts }) as never);
    plane.send("operation", { ...operation, state: "succeeded", text: "2 of 2 replicas are ready" } as never);
    await tab.shows("Open https://hello.localhost/");
    await takePictures(tab, "new-deployed");
  });

  test("nothing broke the policy", () => expect(chromium.complaints).toEqual([]));
});
