import { describe, expect, test } from "bun:test";
import { axeFaults } from "../../support/ui/axe.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { rehearsalsFixture } from "../../support/ui/backup-fixtures.ts";
import { appFixture, overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { waitFor } from "../../support/wait.ts";
import { takePictures } from "../../support/ui/pictures.ts";

const app = { kind: "deployment", scope: "demo", name: "hello" } as const;
const operation = { id: "op1", type: "apply", app, actor: "pat:a", started_at: new Date().toISOString() };
const planned = { applied: [app], pruned: [], operations: [] };
const row = { action: "create", changed: [], replicas: [{ action: "create", why: "new" }], notes: [] };

const git = {
  url: "https://git.example.com/shop.git",
  ref: "main",
  commit: "1a2b3c4d".repeat(5),
  subject: "Faster search",
};
const source = {
  found: "Dockerfile",
  text: "kind: app\nscope: shop\nname: web\nspec:\n  # The image is built from this folder.\n  build: {}\n  ports: ['8080']\n",
  builds: [
    { index: 0, id: "b1", files: 12, bytes: 34_000, request: { context: "c".repeat(64), dockerfile: "Dockerfile" } },
  ],
  left_out: [".env"],
  warnings: [],
};
const build = {
  ...{ scope: "shop", name: "web", id: "b1", status: "building", context: "c".repeat(64), dockerfile: "Dockerfile" },
  ...{ image: "shop-web:b1", actor: "pat:a", started_at: new Date().toISOString(), releases: [], kept: false },
};

/** A new app in a browser, with a plane that the test plays. */
const { chromium, plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture(),
  "POST /sources/upload": source,
  "POST /sources/git": () =>
    Response.json({ status: "error", error: 'the host "127.0.0.1" has no public address' }, { status: 403 }),
  "POST /builds": { build, reused: false },
  "GET /builds": { builds: [build] },
  "GET /builds/shop/web/b1/output": () => new Response("Step 1/2 : FROM node:22\nStep 2/2 : RUN npm ci\n"),
  "POST /rehearsals": () =>
    Response.json({ status: "error", error: "there is nothing to rehearse in it" }, { status: 400 }),
  "POST /apply": {
    ...planned,
    plan: [{ ...row, ref: "deployment/demo/hello" }],
    operations: [{ ...operation, state: "running", text: "0 of 2 replicas are ready" }],
  },
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
    // What cannot be tried says why; else it is watched until it has ended.
    await tab.press("Rehearse");
    await tab.shows("there is nothing to rehearse in it");
    Object.assign(plane.answers, {
      "POST /rehearsals": { id: "h2", apps: ["demo/greeting"], left_out: [] },
      "GET /rehearsals": rehearsalsFixture,
    });
    await tab.press("Rehearse");
    await tab.shows("under way");
    const tried = plane.asked.findLast(({ path, method }) => path === "/rehearsals" && method === "POST")?.body;
    expect(tried).toEqual(asked);
    const [, ended] = rehearsalsFixture.rehearsals;
    plane.answers["GET /rehearsals"] = { rehearsals: [{ ...ended, id: "h2" }] };
    await tab.shows("its release command ended with exit code 3");
    await tab.read("document.querySelector('[aria-label=Rehearsals]').scrollIntoView({ block: 'center' })");
    await takePictures(tab, "new-rehearsed");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Deploy");
    await tab.shows("0 of 2 replicas are ready");
    const hosts = [{ host: "hello.localhost", url: "https://hello.localhost/", paths: ["/"], tls: true, ingress: "" }];
    plane.send("app", appFixture("hello", { ...app, hosts }) as never);
    plane.send("operation", { ...operation, state: "succeeded", text: "2 of 2 replicas are ready" } as never);
    await tab.shows("Open https://hello.localhost/");
    await takePictures(tab, "new-deployed");
  });

  test("from a folder: secrets stay here, the build is seen, and then the rollout", async () => {
    await tab.open(`${plane.url}/new?from=upload`);
    await tab.shows("A folder with the source");
    await tab.read(`(() => {
      const input = document.querySelector("#folder");
      const files = [["Dockerfile", "FROM a"], [".env", "KEY=hunter2"], ["node_modules/x.js", "x"]].map(([path, text]) => {
        const file = new File([text], path.split("/").at(-1));
        Object.defineProperty(file, "webkitRelativePath", { value: "shop/" + path });
        return file;
      });
      Object.defineProperty(input, "files", { value: files, configurable: true });
      input.dispatchEvent(new Event("change", { bubbles: true }));
    })()`);
    await tab.shows("Found Dockerfile; 12 files");
    await tab.shows("1 file to send, 1 other left out; .env stay here");
    const sent = plane.asked.findLast(({ path }) => path === "/sources/upload");
    expect(sent?.query).toEqual({ scope: "shop", name: "shop", folder: "true" });
    expect([String(sent?.body).includes("FROM a"), String(sent?.body).includes("hunter2")]).toEqual([true, false]);
    await tab.press("Show the plan");
    await tab.shows("1 replica is created");
    await takePictures(tab, "new-upload");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Deploy");
    await tab.shows("RUN npm ci");
    await takePictures(tab, "new-building");
    plane.answers["GET /builds"] = { builds: [{ ...build, status: "succeeded" }] };
    await tab.shows("0 of 2 replicas are ready");
    expect(plane.asked.findLast(({ path }) => path === "/apply")?.body).toMatchObject([
      { spec: { build: { id: "b1" } } },
    ]);
  });

  test("from git: the commit is the reason of the deploy, and a fault is said", async () => {
    await tab.open(`${plane.url}/new?from=git`);
    await tab.shows("Repository, https");
    await takePictures(tab, "new-git");
    expect(await axeFaults(tab)).toEqual([]);
    const fill = (id: string, text: string) =>
      tab.read(
        `(() => { const field = document.getElementById("${id}"); field.value = ${JSON.stringify(text)}; field.dispatchEvent(new Event("input", { bubbles: true })); })()`,
      );
    await fill("url", "https://127.0.0.1/shop.git");
    await waitFor("the button", () =>
      tab.read<boolean>(
        "[...document.querySelectorAll('button')].some((one) => one.innerText === 'Fetch' && !one.disabled)",
      ),
    );
    await tab.press("Fetch");
    await tab.shows("has no public address");
    plane.answers["POST /sources/git"] = { ...source, git };
    await tab.press("Fetch");
    await tab.shows("Found Dockerfile; 12 files");
    expect(await tab.read<string>("document.querySelector('#message').value")).toBe("main 1a2b3c4d1a2b Faster search");
    // It began without a name, and so has that of the repository.
    expect(plane.asked.findLast(({ path }) => path === "/sources/git")?.body).toMatchObject({
      scope: "shop",
      name: "shop",
    });
    await fill("spec.host", "shop.example.com");
    plane.answers["POST /apply"] = {
      ...planned,
      plan: [{ ...row, action: "update", changed: ["spec.host"], ref: "ingress/shop/web" }],
    };
    await tab.press("Show the plan");
    await tab.press("Update shop/web…");
    await tab.shows("ingress/shop/web: changes spec.host");
    await takePictures(tab, "new-exists");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("it begins empty and asks for what is missing", async () => {
    await tab.open(`${plane.url}/new`);
    await tab.shows("Give the app a scope");
    expect(await manifest()).not.toContain("web");
    await takePictures(tab, "new-empty");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("nothing broke the policy", () => expect(chromium.complaints).toEqual([]));
});
