import { describe, expect, test } from "bun:test";
import { openPlayed } from "../../support/ui/browser.ts";
import { waitFor } from "../../support/wait.ts";
import {
  configFixture,
  detailFixture,
  diffFixture,
  eventsFixture,
  historyFixture,
  historyStateFixture,
  releasesFixture,
} from "../../support/ui/app-fixtures.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { takePictures } from "../../support/ui/pictures.ts";

const began = (type: string) => ({
  operation: {
    id: `op-${type}`,
    type,
    app: { kind: "deployment", scope: "shop", name: "api" },
    state: "running" as const,
    text: "begun",
    actor: "pat:Ab3dEf",
    started_at: new Date().toISOString(),
  },
});

/** The page of one app in a browser, with a plane that the test plays. */
const { chromium, plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture(),
  "GET /apps/shop/api": detailFixture(),
  "GET /apps/shop/api/releases": releasesFixture,
  "GET /apps/shop/api/diff": diffFixture,
  "GET /events": eventsFixture,
  "GET /history": historyFixture,
  "GET /history/state": () =>
    Response.json({ status: "ok", data: historyStateFixture(bodyOf("/history/state")?.query.at ?? "") }),
  "GET /config/shop/api": configFixture,
  "POST /config/shop/api/reveal": { vars: { POOL_SIZE: "40" } },
  "PATCH /config/shop/api": { changed: ["POOL_SIZE"], restarting: ["deployment/shop/api"], notes: [] },
  "POST /apps/shop/api/rollback": began("rollback"),
  "POST /apps/shop/api/restart": began("restart"),
  "GET /audit": Response.json({ status: "error", error: "this needs the scope admin" }, { status: 403 }),
  "GET /deploys": { deploys: overviewFixture().deploys, next: "1767225600000.r1" },
  "GET /pods/shop-api.b7k2m/logs": () => new Response("connecting to \u001b[31mdb\u001b[0m\npool of 40 is too large\n"),
});

const bodyOf = (path: string) => plane.asked.findLast((asked) => asked.path === path);

describe("the page of an app", () => {
  test("a broken app: from the overview to the rollback in four presses, each said before it is done", async () => {
    await tab.open(plane.url);
    await tab.press("Look");
    await tab.shows("died 7 times, the last 4 s ago");
    expect(await tab.shows("pool of 40 is too large")).toContain("connecting to db");
    expect(bodyOf("/pods/shop-api.b7k2m/logs")?.query).toEqual({ tail: "15" });
    await takePictures(tab, "app");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Roll back…");
    const text = await tab.shows("Roll shop/api back to r6");
    expect(text).toContain(": faster search by ana@laptop");
    expect(text).toContain('env.POOL_SIZE: "10" → "40"');
    expect(text).toContain("so requests go on");
    expect(text).toContain("berth rollback shop/api --to r6");
    await takePictures(tab, "app-rollback");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Roll back");
    await tab.shows("The rollback of shop/api has begun");
    expect(bodyOf("/apps/shop/api/rollback")?.query).toEqual({ kind: "deployment", release_id: "r6" });
    plane.send("operation", { ...began("rollback").operation, state: "succeeded", text: "r8 serves" });
    await tab.shows("The rollback of shop/api is done: r8 serves");
  });

  test("the palette offers what can be done with the app that is shown, and asks as its buttons do", async () => {
    await tab.open(`${plane.url}/apps/shop/api`);
    await tab.shows("Replicas: 1 of 2 ready");
    const choose = async (typed: string) => {
      await tab.key("/");
      await waitFor("the palette", () => tab.read<boolean>("document.activeElement?.role === 'combobox'"));
      await tab.type(typed);
      if (typed === "3 replicas") await takePictures(tab, "app-palette");
      await tab.key("Enter");
    };
    await choose("restart");
    await tab.shows("Restart shop/api");
    await tab.press("Cancel");
    await choose("3 replicas");
    expect(await tab.shows("Run 3 replicas of shop/api")).toContain("berth scale shop/api=3");
    await tab.press("Cancel");
    await choose("exec");
    await waitFor(
      "the terminal",
      async () => (await tab.read<string>("location.pathname")) === "/apps/shop/api/terminal",
    );
    await tab.open(plane.url);
    await tab.shows("Overview");
    await tab.key("/");
    await waitFor("the palette", () => tab.read<boolean>("document.activeElement?.role === 'combobox'"));
    await tab.type("restart");
    await tab.shows("Nothing has this name.");
    await tab.key("Escape");
  });

  test("the deploys of all apps go back page by page", async () => {
    await tab.open(`${plane.url}/deploys`);
    await tab.shows("raise the pool to 40");
    expect(bodyOf("/deploys")?.query).toEqual({ limit: "50", history: "true" });
    await takePictures(tab, "deploys");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Older");
    await waitFor("the page before", () => bodyOf("/deploys")?.query.cursor === "1767225600000.r1");
    await tab.press("Newer");
    await waitFor("the newest again", () => bodyOf("/deploys")?.query.cursor === undefined);
    await tab.read(
      "(() => { const field = document.querySelector('[aria-label=State]'); field.value = 'failed'; field.dispatchEvent(new Event('change', { bubbles: true })); })()",
    );
    await waitFor("the failed ones", () => bodyOf("/deploys")?.query.status === "failed");
  });

  test("deploys show receipts, and what each changed", async () => {
    await tab.press("Deploys");
    await tab.open(`${plane.url}/apps/shop/api/deploys`);
    await tab.shows("0 of 12.4k requests failed during the deploy");
    await tab.press("raise the pool to 40");
    await tab.shows("env.SEARCH_URL");
    expect(await tab.read<string>("location.search")).toBe("?to=r7");
    await takePictures(tab, "app-deploys");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("the history says who wanted what and why, and what each change was, without its secrets", async () => {
    await tab.open(`${plane.url}/apps/shop/api/history`);
    const text = await tab.shows("raise the pool to 40");
    for (const part of [
      "apply by ci",
      "scale by operator",
      "ingress, apply",
      "wanted when the history began",
      "env.POOL_SIZE, registry.password",
    ])
      expect(text).toContain(part);
    await tab.press("raise the pool to 40");
    expect(await tab.shows("Go back to this state…")).toContain("Changed, but not shown: registry.password");
    expect(await tab.read<string>("document.querySelector('.changes').innerText")).toMatch(
      /^env\.POOL_SIZE\s+"10"\s*"40"$/,
    );
    await takePictures(tab, "app-history");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("an earlier state is gone back to after its plan, and only as it was planned", async () => {
    const asked = () => plane.asked.filter(({ path }) => path === "/history/restore").map((one) => one.query);
    const { at } = historyFixture.changes[0] ?? { at: "" };
    const nothing = { applied: [], pruned: [], at, newest: 31 };
    const row = { action: "update", changed: ["env.POOL_SIZE"], replicas: [], notes: [] };
    Object.assign(plane.answers, { "POST /history/restore": { ...nothing, plan: [] } });
    await tab.press("Go back to this state…");
    await tab.shows("Config and the data of volumes stay as they are now");
    await tab.press("Show the plan");
    await tab.shows("Nothing changes.");
    expect(await tab.read<string>("document.querySelector('dialog .end').innerText")).not.toContain("Go back");
    plane.answers["POST /history/restore"] = { ...nothing, plan: [{ ...row, ref: "deployment/shop/api" }] };
    await tab.press("Back");
    await tab.shows("Config and the data of volumes stay");
    await tab.press("Show the plan");
    expect(await tab.shows("changes env.POOL_SIZE")).toContain("berth restore --manifests --at");
    await takePictures(tab, "app-history-plan");
    expect(await axeFaults(tab)).toEqual([]);
    plane.answers["POST /history/restore"] = () =>
      Response.json({ status: "error", error: "something was changed since the plan was made" }, { status: 409 });
    await tab.press("Go back");
    await tab.shows("something was changed since the plan was made");
    plane.answers["POST /history/restore"] = nothing;
    await tab.press("Go back");
    await tab.shows("shop/api goes back to the state of");
    const query = { at, scope: "shop", name: "api" };
    expect(asked().slice(-3)).toEqual([
      { ...query, dry_run: "true" },
      { ...query, expect: "31" },
      { ...query, expect: "31" },
    ]);
  });

  test("the history goes back page by page", async () => {
    const [first] = historyFixture.changes;
    const changes = Array.from({ length: 51 }, (_, index) => ({
      ...first,
      seq: 90 - index,
      why: `change ${90 - index}`,
    }));
    plane.answers["GET /history"] = () =>
      Response.json({
        status: "ok",
        data: bodyOf("/history")?.query.before === undefined ? { ...historyFixture, changes } : historyFixture,
      });
    await tab.open(`${plane.url}/apps/shop/api/history`);
    expect(await tab.shows("change 41")).not.toContain("change 40");
    await tab.press("Older");
    await tab.shows("wanted when the history began");
    expect(bodyOf("/history")?.query).toEqual({ scope: "shop", name: "api", before: "41", limit: "51" });
    await tab.press("Newer");
    await tab.shows("change 41");
    plane.answers["GET /history"] = historyFixture;
  });

  test("config is masked; a value is revealed alone, and changes are reviewed before they are stored", async () => {
    await tab.press("Config");
    expect(await tab.shows("DATABASE_URL")).toContain("••••••••");
    await tab.read(
      "[...document.querySelectorAll('tr')].find((row) => row.innerText.includes('POOL_SIZE')).querySelector('button').click()",
    );
    await tab.shows("40");
    expect(bodyOf("/config/shop/api/reveal")?.body).toEqual({ keys: ["POOL_SIZE"] });
    await tab.read("document.querySelector('#config-value').focus()");
    await tab.type('POOL_SIZE=12\nNOTE="two words"');
    await tab.press("Add to the changes");
    // The draft outlives another tab, and another person's change of the same key is said with both values at hand.
    await tab.read("document.querySelector('a[href=\"/apps/shop/api/history\"]').click()");
    await tab.shows("wanted when the history began");
    await tab.press("Config");
    await tab.shows("Review 2 changes…");
    await waitFor("the page to listen", () => plane.listeners() >= 1);
    plane.send("event", {
      ...{ seq: 94, at: new Date().toISOString(), actor: "bea", action: "config.set", kind: "deployment" },
      ...{ scope: "shop", name: "api", title: "config changed: POOL_SIZE", detail: { keys: ["POOL_SIZE"] } },
    });
    await tab.shows('yours is "12"');
    await tab.press("Keep mine");
    await tab.press("Review 2 changes…");
    await tab.shows("NOTE is new");
    await takePictures(tab, "app-config");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Store");
    await tab.shows("restarting: deployment/shop/api");
    expect(bodyOf("/config/shop/api")?.method === "GET" || bodyOf("/config/shop/api")?.body).toBeTruthy();
    const stored = plane.asked.find(({ method }) => method === "PATCH");
    expect(stored?.body).toEqual({ set: { POOL_SIZE: "12", NOTE: "two words" } });
    expect(stored?.query).toEqual({ restart: "true" });
  });

  test("events of the app, with what comes in live", async () => {
    await tab.open(`${plane.url}/apps/shop/api/events`);
    await tab.shows("b7k2m died: exit code 1");
    await waitFor("the page to listen", () => plane.listeners() >= 1);
    plane.send("event", {
      seq: 95,
      at: new Date().toISOString(),
      actor: "ana",
      action: "rollback",
      kind: "deployment",
      scope: "shop",
      name: "api",
      title: "rolled back to r6",
    });
    await tab.shows("rolled back to r6");
    await tab.open(`${plane.url}/events`);
    await tab.shows("config changed: POOL_SIZE");
    await takePictures(tab, "events");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("what the token may not do says which scope it lacks", async () => {
    await tab.open(`${plane.url}/audit`);
    await tab.shows("This needs the scope admin");
    plane.answers["GET /whoami"] = { ...whoFixture, scopes: ["read"] };
    await tab.open(`${plane.url}/apps/shop/api`);
    await tab.shows("Replicas: 1 of 2 ready");
    expect(
      await tab.read<string>(
        "[...document.querySelectorAll('button')].find((one) => one.innerText === 'Restart…').title",
      ),
    ).toBe("Your token has no scope actions");
    plane.answers["GET /whoami"] = whoFixture;
  });

  test("a canary shows its steps and both releases, and goes on or back; a delete wants the name", async () => {
    const figures = { requests: 480, failed: 3, p99_ms: 140 };
    const before = plane.answers["GET /apps/shop/api"];
    plane.answers["GET /apps/shop/api"] = detailFixture({
      canary: {
        ...{ release: "r8", state: "paused", text: "step 2 of 2 is paused", step: 2, share: 0.25 },
        ...{ steps: [{ share: 0.05, pause_seconds: 600 }, { share: 0.25 }], replicas: { new: 1, old: 3 } },
        traffic: { seconds: 60, new: figures, old: { ...figures, failed: 0 } },
      },
    });
    plane.answers["POST /apps/shop/api/promote"] = began("promote");
    plane.answers["DELETE /manifests/app/shop/api"] = { deleted: ["deployment/shop/api"], warnings: [] };
    await tab.open(`${plane.url}/apps/shop/api`);
    await tab.shows("Canary r8: 25 % of the requests");
    await takePictures(tab, "app-canary");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Promote…");
    await tab.shows("All requests go to the new release");
    await tab.press("Promote");
    await tab.shows("The promote of shop/api has begun");
    await tab.press("Delete…");
    await tab.shows("Type shop/api to go on");
    await takePictures(tab, "app-delete");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.read(
      "(() => { const field = document.querySelector('#typed'); field.value = 'shop/api'; field.dispatchEvent(new Event('input', { bubbles: true })); document.querySelector('dialog input[type=checkbox]').click(); })()",
    );
    await tab.press("Delete");
    await tab.shows("shop/api is being deleted");
    expect(bodyOf("/manifests/app/shop/api")?.query).toEqual({ confirm: "shop/api", prune: "true" });
    plane.answers["GET /apps/shop/api"] = before;
  });

  test("an app that is not there says so, and lets the viewer try again", async () => {
    await tab.open(`${plane.url}/apps/shop/none`);
    await tab.shows("Could not load shop/none");
    await tab.shows("Try again");
  });

  test("all of it broke no rule of the policy", () => expect(chromium.complaints).toEqual([]));
});
