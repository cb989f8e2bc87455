import { describe, expect, test } from "bun:test";
import { axeFaults } from "../../support/ui/axe.ts";
import {
  backupAnswers,
  backupOverview,
  restoreAnswers,
  runsFixture,
  targetsFixture,
} from "../../support/ui/backup-fixtures.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { whoFixture } from "../../support/ui/fixtures.ts";
import { hostile, hostileTexts } from "../../support/ui/hostile.ts";
import { takePictures } from "../../support/ui/pictures.ts";
import { waitFor } from "../../support/wait.ts";

const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();

const traffic = {
  ingress: "shop/web",
  requests: 1_240,
  rate: 20.7,
  status: {},
  failed: 3,
  p50_ms: 12,
  p99_ms: 140,
  held: 0,
  retried: 0,
  bytes_in: 0,
  bytes_out: 0,
};
const site = {
  ingress: "shop/web",
  paths: ["/"],
  target: "shop/web",
  tls: true,
  maintenance: false,
  upstreams: [{}, {}],
  problems: [],
  requests: 9,
  failed: 0,
  bytes_in: 0,
  bytes_out: 0,
  queued: 0,
};
const sites = {
  proxy: { state: "running", listen: { http: [], https: [] } },
  sites: [
    { ...site, hosts: ["shop.example.com"], traffic },
    {
      ...site,
      ingress: "shop/api",
      target: "shop/api",
      hosts: ["api.example.com"],
      upstreams: [],
      problems: ["no replica of shop/api is ready"],
    },
  ],
};
const certs = {
  certificates: [
    {
      id: "a",
      names: ["api.example.com"],
      issuer: "letsencrypt",
      state: "failed",
      issuing: false,
      failures: 3,
      error: "DNS points to 192.0.2.7, not to this server",
    },
    {
      id: "b",
      names: ["shop.example.com"],
      issuer: "letsencrypt",
      state: "valid",
      issuing: false,
      failures: 0,
      not_after: at(-4_000_000),
    },
  ],
};
const request = {
  time: at(4),
  ingress: "shop/web",
  app: "shop/web",
  client: "198.51.100.7",
  method: "GET",
  host: "shop.example.com",
  path: "/cart",
  bytes_in: 200,
  bytes_out: 5_120,
  ms: 14,
  held_ms: 0,
  retries: 0,
};
const requests = {
  requests: [200, 502, 404, 200, undefined].map((status, index) => ({
    ...request,
    seq: 90 - index,
    status,
    request_id: `id-${index}`,
  })),
};
const run = { kind: "cronjob", scope: "shop", name: "nightly", container: "", trigger: "schedule", attempt: 1 };
const runs = ["missed", "failed", "succeeded", "succeeded"].map((status, index) => ({
  ...run,
  run_id: `run-${index}`,
  status,
  started_at: at(86_400 * index + 100),
  ended_at: at(86_400 * index + 40),
  ...(status === "failed" ? { error: "exit code 3" } : {}),
}));
const jobs = {
  jobs: [
    {
      kind: "cronjob",
      scope: "shop",
      name: "nightly",
      image: "shop/jobs:1",
      schedule: "30 3 * * *",
      timezone: "Europe/Berlin",
      suspended: false,
      next_runs: [at(-20_000)],
      running: 0,
      last_run: { ...runs[1], tail: [] },
      runs,
    },
    {
      kind: "job",
      scope: "shop",
      name: "migrate",
      image: "shop/web:1",
      suspended: false,
      next_runs: [],
      running: 1,
      runs: [],
    },
  ],
};

/** Domains, requests, jobs and backups in a browser, with a plane that the test plays. */
const { chromium, plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /ingress": sites,
  "GET /certs": certs,
  "GET /requests": requests,
  "GET /jobs": jobs,
  "POST /jobs/shop/nightly/run": { run: { ...runs[0], run_id: "run-9", tail: [] } },
  "POST /certs/api.example.com/renew": certs,
  ...backupAnswers,
  "POST /backups/runs": { since: at(0), copies: [{ target: "disk", what: "state" }] },
});

describe("screens", () => {
  test("domains: state, traffic, certificates, and a renewal that says what it does", async () => {
    await tab.open(`${plane.url}/domains`);
    await tab.shows("no replica of shop/api is ready");
    await tab.shows("DNS points to 192.0.2.7");
    await takePictures(tab, "domains");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Renew…");
    await tab.shows("The old one serves until the new one is there");
    await tab.press("Renew");
    await tab.shows("The certificate of api.example.com is being renewed");
  });

  test("requests: what is chosen is in the address and in what is asked for", async () => {
    await tab.press("Requests");
    await tab.shows("shop.example.com/cart");
    await takePictures(tab, "requests");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.open(`${plane.url}/requests?status=5xx&app=shop`);
    await tab.shows("502");
    expect(plane.asked.findLast(({ path }) => path === "/requests")?.query).toEqual({
      app: "shop",
      status: "5xx",
      limit: "300",
    });
    // One opens, with the lines that name it and the trace that these lead to.
    const trace = "0af7651916cd43dd8448eb211c80319c";
    plane.answers["GET /logs/search"] = {
      lines: [
        {
          ...{ at: request.time, scope: "shop", name: "web", pod: "shop-web.b7k2m", replica_id: "b7k2m" },
          ...{ stream: "stdout", level: "error", text: `{"msg":"cart failed","trace_id":"${trace}"}` },
        },
      ],
      searched_to: request.time,
    };
    await tab.read("document.querySelector('[aria-label=Requests] tbody tr:nth-child(2) a').click()");
    await tab.shows("cart failed");
    await tab.shows("no: a replica was ready");
    expect(await tab.read<boolean>(`document.querySelector('a[href="/traces/${trace}"]') !== null`)).toBe(true);
    expect(plane.asked.findLast(({ path }) => path === "/logs/search")?.query).toMatchObject({
      app: "shop/web",
      q: '"id-1"',
    });
    await takePictures(tab, "request");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("jobs: next and last runs, a missed one is not green, and a run by hand", async () => {
    await tab.open(`${plane.url}/jobs`);
    await tab.shows("30 3 * * * Europe/Berlin");
    const missed = await tab.read<string>("document.querySelector('.state[title=missed]').className");
    expect(missed).toContain("bad");
    await takePictures(tab, "jobs");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Run now…");
    await tab.shows("The schedule stays as it is");
    await tab.press("Run");
    await tab.shows("Run run-9 of shop/nightly has begun");
    // Each has a page of its own, to which also a link without the kind leads.
    const failed = runs.findIndex(({ status }) => status === "failed");
    plane.answers["GET /jobs/shop/nightly/runs"] = {
      runs: runs.map((one, index) => ({ ...one, tail: index === failed ? ["no space left on device"] : [] })),
    };
    await tab.open(`${plane.url}/apps/shop/nightly`);
    await tab.at(/jobs\/cronjob\/shop\/nightly$/);
    await tab.shows("Last success");
    await tab.read(`[...document.querySelectorAll('[aria-label=Runs] button')][${failed}].click()`);
    await tab.shows("no space left on device");
    await takePictures(tab, "job");
    expect(await axeFaults(tab)).toEqual([]);
  });

  const rowsOf = (label: string) =>
    tab.read<string[]>(
      `[...document.querySelectorAll('[aria-label="${label}"] tbody tr')].map((row) => row.innerText)`,
    );

  test("backups: what is wrong comes first, with the cause and what to type", async () => {
    await tab.open(`${plane.url}/backups`);
    const text = await tab.shows("3 things need attention");
    expect(text).toContain("The state of the server is not copied to offsite");
    expect(text).toContain("data/0 of shop/db is not copied to offsite");
    expect(text).toContain("berth backup target test offsite");
    const rows = await rowsOf("Apps with volumes");
    expect(rows.map((row) => row.split("\t").slice(0, 3).join(" ").trim())).toEqual([
      "failing shop/db offsite",
      "not protected shop/search –",
      "no copy yet shop/new disk",
      "protected shop/db disk",
      "protected shop/files disk",
    ]);
    expect(rows[1]).toContain("backup: {}");
    expect(text).toContain("The copies of shop/files did not start again in the last drill");
    const drills = (await rowsOf("Drills")).map((row) => row.split("\t").map((cell) => cell.trim()));
    expect(drills.map(([state, app, , time, point]) => [state, app, time, point])).toEqual([
      ["failed", "shop/files", "–", "–"],
      ["proved", "shop/db", "41 s", "2 h 46 min"],
      ["not yet", "shop/new", "–", "–"],
    ]);
    expect(drills[0]).toContain("it ended with exit code 1; it printed last: no such table: media");
    expect((await rowsOf("Targets")).map((row) => row.split("\t")[0]?.trim())).toEqual(["failing", "copied"]);
    const rehearsals = (await rowsOf("Rehearsals")).map((row) => row.split("\t").map((cell) => cell.trim()));
    expect(rehearsals.map(([state, app]) => `${state} ${app}`)).toEqual([
      "under way ",
      "failed shop/files",
      "started shop/new",
      "passed shop/db (beside it)",
      "left out ingress/shop/files",
    ]);
    await takePictures(tab, "backups");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("backups: what is missing comes back as a whole, with its plan first", async () => {
    const bodyOf = (path: string) => plane.asked.findLast((asked) => asked.path === path)?.body;
    Object.assign(plane.answers, {
      "POST /backups/restores/plan": () =>
        Response.json({ status: "error", error: "nothing to restore: no volume is missing" }, { status: 409 }),
    });
    await tab.press("Restore missing…");
    await tab.shows("Apps that wait for a volume start by themselves");
    await tab.press("Show the plan");
    await tab.shows("no volume is missing");
    plane.answers["POST /backups/restores/plan"] = restoreAnswers.missing;
    await tab.press("Show the plan");
    const plan = await tab.shows("Restore 1 missing volume: the plan");
    expect(plan).toContain("shop/search/index/0 is missing, and no target has a copy of it");
    expect(plan).toContain("berth backup restore --all");
    await takePictures(tab, "restore-missing");
    expect(await axeFaults(tab)).toEqual([]);
    plane.answers["POST /backups/restores"] = restoreAnswers.begun;
    plane.answers["GET /backups/restores"] = restoreAnswers.done;
    await tab.press("Restore");
    await tab.shows("Restore of 1 missing volume");
    expect(bodyOf("/backups/restores")).toEqual({ at: restoreAnswers.missing.at });
    await tab.key("Escape");
    Object.assign(plane.answers, backupAnswers);
  });

  test("backups: a drill by hand says what it does, and begins for that app alone", async () => {
    Object.assign(plane.answers, { "POST /backups/drills": { since: at(0), apps: ["shop/files"] } });
    await tab.press("Drill now…");
    await tab.shows("It runs on a closed network: it reaches neither the live app nor the machine nor the internet");
    await tab.press("Drill now");
    await tab.shows("The drill of shop/files has begun");
    const asked = plane.asked.filter(({ method, path }) => method === "POST" && path === "/backups/drills");
    expect(asked.map(({ body }) => body)).toEqual([{ scope: "shop", name: "files" }]);
  });

  test("backups: a copy by hand says what it does, and how it ended; without news nothing is asked again", async () => {
    const asked = () => plane.asked.filter(({ path }) => path === "/backups/targets").length;
    await tab.press("Copy now…");
    await tab.shows("Each app is paused for the last part of its copy");
    await tab.press("Copy now");
    await tab.shows("1 copy has begun");
    const before = asked();
    const state = {
      target: "disk",
      what: "state",
      started_at: at(-60),
      ended_at: at(-61),
      snapshot: "ab",
      bytes: 1,
      added: 1,
    };
    Object.assign(plane.answers, { "GET /backups/runs": { runs: [state, ...runsFixture.runs] } });
    await tab.shows("1 copy is at the targets");
    await waitFor("the screen to ask for it", () => asked() > before);
    const now = asked();
    plane.send("app", { ...backupOverview.apps[3], backup: backupOverview.apps[1]?.backup } as never);
    await waitFor("the screen to ask again", () => asked() > now);
    expect(asked()).toBe(now + 1);
  });

  test("backups: a restore in place shows its plan, asks for the name, says how it ended, and can be undone", async () => {
    const bodyOf = (path: string) => plane.asked.findLast((asked) => asked.path === path)?.body;
    const title = () => tab.read<string>("document.querySelector('dialog h2')?.innerText ?? ''");
    const fill = (text: string) =>
      tab
        .read(`document.querySelector('#typed').focus(), document.querySelector('#typed').select()`)
        .then(() => tab.type(text));
    Object.assign(plane.answers, backupAnswers, {
      "POST /backups/restores/plan": () =>
        Response.json({ status: "error", error: "volume is in use: end the run, and try again" }, { status: 409 }),
    });
    await tab.open(`${plane.url}/backups`);
    await tab.shows("Targets");
    await tab.read(
      "[...document.querySelectorAll('main header button')].find((one) => one.innerText === 'Restore…').focus()",
    );
    await tab.key("Enter");
    expect(await tab.shows("The copies at far cannot be listed now")).toContain("shop/old (deleted)");
    await takePictures(tab, "restore-any");
    await tab.key("Escape");
    await waitFor("the focus to return", () => tab.read<boolean>("document.activeElement.innerText === 'Restore…'"));
    await tab.read(
      "[...document.querySelectorAll('tbody button')].findLast((one) => one.innerText === 'Restore…' && one.closest('tr').innerText.includes('shop/db')).click()",
    );
    await tab.shows("Which copy: 5 copies, the newest first");
    await tab.read("document.querySelector('#restore-path').focus()");
    await tab.type("etc/app.conf");
    await tab.shows("--path etc/app.conf");
    await takePictures(tab, "restore-choose");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Show the plan");
    await tab.shows("end the run, and try again");
    expect(bodyOf("/backups/restores/plan")).toMatchObject({ name: "db", from: "disk", path: "etc/app.conf" });
    plane.answers["POST /backups/restores/plan"] = restoreAnswers.plan;
    await tab.press("Show the plan");
    await tab.shows("Type shop/db to go on");
    await waitFor("the focus at its top", () => tab.read<boolean>("document.activeElement.id === 'asked'"));
    await takePictures(tab, "restore-plan");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Back");
    await tab.shows("Which copy");
    await tab.press("Show the plan");
    await tab.shows("Type shop/db to go on");
    expect(await tab.read<boolean>("document.querySelector('dialog .danger').disabled")).toBe(true);
    await fill("shop/db");
    plane.answers["POST /backups/restores"] = restoreAnswers.begun;
    plane.answers["GET /backups/restores"] = { restores: restoreAnswers.begun.restores };
    await tab.press("Replace the data");
    await tab.shows("This goes on when you close it");
    await takePictures(tab, "restore-goes-on");
    plane.answers["GET /backups/restores"] = restoreAnswers.done;
    await tab.shows("What was there before is kept");
    await takePictures(tab, "restore-done");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Undo…");
    await tab.shows("What was written since the restore is gone");
    await fill("shop/db");
    plane.answers["POST /backups/restores/undo"] = restoreAnswers.begun;
    plane.answers["GET /backups/restores"] = restoreAnswers.undone;
    await tab.press("Undo the restore");
    await tab.shows("has the data of before the restore again");
    expect(bodyOf("/backups/restores/undo")).toEqual({ scope: "shop", name: "db", volume: "data/0" });
    expect(await title()).toBe("Undo of the restore of shop/db/data/0");
    await tab.key("Escape");
    Object.assign(plane.answers, backupAnswers);
  });

  test("backups: no target, a fault, and a token without the right", async () => {
    Object.assign(plane.answers, {
      "GET /backups/targets": { targets: [] },
      "GET /backups/runs": { runs: [] },
      "GET /backups/restores": { restores: [] },
    });
    await tab.open(`${plane.url}/backups`);
    expect(await tab.shows("No target yet")).toContain("Nothing is copied: there is no target");
    plane.answers["GET /backups/targets"] = () =>
      Response.json({ status: "error", error: "the disk is on fire" }, { status: 500 });
    await tab.open(`${plane.url}/backups`);
    await tab.shows("the disk is on fire");
    plane.answers["GET /backups/targets"] = () => Response.json({ status: "error", error: "no" }, { status: 403 });
    plane.answers["GET /whoami"] = { ...whoFixture, scopes: ["read"] };
    await tab.open(`${plane.url}/backups`);
    expect(await tab.shows("This needs the scope host:read")).toContain("shop/search");
    expect(await tab.read<number>("document.querySelectorAll('main header button:not([disabled])').length")).toBe(0);
    Object.assign(plane.answers, backupAnswers, { "GET /whoami": whoFixture });
  });

  for (const text of [hostileTexts[0] ?? "", hostileTexts[1] ?? "", hostileTexts.at(-1) ?? ""]) {
    test(`hostile texts stay text: ${JSON.stringify(text.slice(0, 20))}`, async () => {
      Object.assign(plane.answers, {
        "GET /ingress": hostile(sites, text),
        "GET /certs": hostile(certs, text),
        "GET /requests": hostile(requests, text),
        "GET /jobs": hostile(jobs, text),
        "GET /backups/targets": hostile(targetsFixture, text),
        "GET /overview": hostile(backupOverview, text),
      });
      for (const [path, shown] of [
        ["/domains", "Issuer"],
        ["/requests", "Method"],
        ["/jobs", "Schedule"],
        ["/backups", "Checked"],
      ]) {
        await tab.open(`${plane.url}${path}`);
        await tab.shows(shown ?? "");
        expect(
          await tab.read<number>("document.querySelectorAll('img, iframe, script:not([src]), [onerror], b').length"),
        ).toBe(0);
        expect(await tab.read<number>("Math.max(0, document.documentElement.scrollWidth - innerWidth)")).toBe(0);
      }
    });
  }

  test("nothing broke the policy", () => expect(chromium.complaints).toEqual([]));
});
