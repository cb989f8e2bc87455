import { expect, test } from "bun:test";
import type { Alert } from "../../../src/observability/api/alerts.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { takePictures } from "../../support/ui/pictures.ts";

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const alert: Alert = {
  id: "a1",
  rule: "crash_loop",
  severity: "critical",
  state: "firing",
  title: "shop/api dies again and again",
  detail: "5 times in 3 minutes, last exit code 1 <script>alert(1)</script>",
  labels: { scope: "shop", name: "api", kind: "deployment" },
  since: ago(4),
  fired_at: ago(3),
  why: {
    changes: ["release r7 by ana, 6 minutes ago"],
    lines: ["cannot connect to postgres", "exit 1"],
    next: ["berth rollback shop/api"],
  },
};

const channel = {
  name: "phone",
  type: "ntfy",
  target: "https://ntfy.sh/…",
  min_severity: "warning",
  apps: [],
  lines: true,
  created_at: ago(100),
  last: { at: ago(3), status: "delivered" },
};

const run = {
  ...{ run_id: "r2", kind: "cronjob", scope: "shop", name: "nightly", container: "c", status: "failed" },
  ...{ trigger: "schedule", attempt: 1, started_at: ago(30), ended_at: ago(29), error: "exit code 1", tail: [] },
};
const done = { ...run, run_id: "r1", status: "succeeded", error: undefined };

/** The pages of alerts, jobs and tokens in a browser, with a plane that the test plays. */
const { chromium, plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture(),
  "GET /alerts": { alerts: [alert], blind: [] },
  "GET /alerts/silences": { silences: [] },
  "GET /alerts/history": { alerts: [{ ...alert, id: "a0", state: "resolved", resolved_at: ago(1) }] },
  "GET /alerts/rules": {
    rules: [
      {
        ...{ name: "crash_loop", origin: "default", firing: 1, severity: "critical", for: "0s", keep: "2m" },
        ...{ enabled: true, watch: { type: "platform", condition: "crash_loop" } },
      },
    ],
  },
  "GET /alerts/channels": { channels: [channel] },
  "GET /alerts/heartbeat": { enabled: false, state: "off", failures: 0 },
  "GET /alerts/deliveries": { deliveries: [] },
  "GET /jobs": {
    jobs: [
      {
        ...{ kind: "cronjob", scope: "shop", name: "nightly", image: "backup:1", schedule: "0 3 * * *" },
        ...{ timezone: "UTC", suspended: false, running: 0, next_runs: [ago(-90)], last_run: run, runs: [run, done] },
      },
    ],
  },
  "GET /pats": {
    pats: [
      {
        ...{ id: "abc123", scopes: ["read"], name: "grafana", apps: ["shop"], cidr: ["192.0.2.0/24"] },
        ...{ created_at: ago(999), created_by: "ana", last_used_at: ago(2), last_used_ip: "192.0.2.7" },
      },
    ],
  },
});

test("an alert comes with what changed before, its last lines and the command, and text stays text", async () => {
  await tab.open(`${plane.url}/alerts`);
  const text = await tab.shows("shop/api dies again and again");
  expect(text).toContain("release r7 by ana");
  expect(text).toContain("cannot connect to postgres");
  expect(text).toContain("berth rollback shop/api");
  expect(text).toContain("<script>alert(1)</script>");
  await takePictures(tab, "alerts");
  expect(await axeFaults(tab)).toEqual([]);
  expect(chromium.complaints).toEqual([]);
});

test("its buttons say what they do and what the command is", async () => {
  await tab.read("[...document.querySelectorAll('button')].find((one) => one.innerText.startsWith('Silence')).click()");
  const text = await tab.shows("marked as silenced");
  expect(text).toContain("berth alerts silence shop/api --for 2h --rule crash_loop");
  await tab.key("Escape");
});

test.each([
  ["/alerts/history", "resolved"],
  ["/alerts/rules", "crash loop"],
  ["/alerts/channels", "ntfy: https://ntfy.sh/…"],
  ["/jobs", "shop/nightly"],
  ["/access", "grafana"],
])("%s shows %s, without faults for people who cannot see it", async (path, text) => {
  await tab.open(`${plane.url}${path}`);
  await tab.shows(text);
  await takePictures(tab, path.slice(1).replace("/", "-"));
  expect(await axeFaults(tab)).toEqual([]);
});

test("the command of a token is put together", async () => {
  await tab.open(`${plane.url}/access`);
  await tab.press("Make a token…");
  await tab.read("document.querySelectorAll('dialog input[type=checkbox]')[1].click()");
  await tab.shows("berth pat create NAME --scope read,actions --expires 90d");
  await takePictures(tab, "token-make");
  expect(await axeFaults(tab)).toEqual([]);
  await tab.key("Escape");
});

test("where nothing fires and no channel is, the pages say what to do", async () => {
  plane.answers["GET /alerts"] = { alerts: [], blind: [] };
  plane.answers["GET /alerts/channels"] = { channels: [] };
  await tab.open(`${plane.url}/alerts?empty`);
  expect(await tab.shows("Nothing fires")).toContain("berth alerts channels add phone ntfy");
  await tab.open(`${plane.url}/alerts/channels?empty`);
  await tab.shows("No channel");
  // A channel is added here, and its first message goes out at once.
  plane.answers["PUT /alerts/channels/phone"] = channel;
  plane.answers["POST /alerts/channels/phone/test"] = { id: "d1", status: "dropped", result: "403 Forbidden" };
  await tab.press("Add a channel…");
  await tab.shows("Server and topic");
  await takePictures(tab, "channel-add");
  expect(await axeFaults(tab)).toEqual([]);
  for (const [id, text] of [
    ["channel-name", "phone"],
    ["channel-url", "https://ntfy.sh/shop"],
  ])
    await tab.read(
      `(() => { const field = document.getElementById("${id}"); field.value = "${text}"; field.dispatchEvent(new Event("input", { bubbles: true })); })()`,
    );
  await tab.press("Add and test");
  await tab.shows("The test message is dropped: 403 Forbidden");
  expect(plane.asked.find(({ method, path }) => method === "PUT" && path === "/alerts/channels/phone")?.body).toEqual({
    target: { type: "ntfy", url: "https://ntfy.sh/shop" },
    min_severity: "warning",
  });
});
