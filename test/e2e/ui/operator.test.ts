import { describe, expect, test } from "bun:test";
import { builtInBoards } from "../../../src/observability/core/boards.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import {
  catalogueFixture,
  diskFixture,
  figuresFixture,
  jobsFixture,
  serverFixture,
} from "../../support/ui/operator-fixtures.ts";
import { takePictures } from "../../support/ui/pictures.ts";
import { waitFor } from "../../support/wait.ts";

/** Screens of who runs the server, with a plane that the test plays. */
const { chromium, plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture(),
  "GET /query": figuresFixture(),
  "GET /boards": { boards: builtInBoards },
  "GET /boards/machine": builtInBoards[1],
  "GET /disk": diskFixture(),
  "GET /jobs": jobsFixture(),
  "GET /server": serverFixture(),
  "GET /metrics/catalogue": catalogueFixture(),
  "GET /logs/searches": { searches: [] },
  "GET /logs/search": { lines: [], searched_to: new Date().toISOString() },
  "GET /logs/histogram": { buckets: [], total: 0, interval_ms: 1 },
});

/** As a person who types over what is there. */
async function write(selector: string, text: string): Promise<void> {
  // What types before the dialog is open types into nothing.
  await waitFor("a dialog", () => tab.read<boolean>('document.querySelector("dialog[open]") !== null'));
  await tab.fill(selector, "");
  await tab.type(text);
}

const asked = (method: string, path: string) => plane.asked.find((one) => one.method === method && one.path === path);

describe("saved searches", () => {
  test("what is looked for is saved under a name, and can be chosen again", async () => {
    await tab.open(`${plane.url}/logs?q=timeout&level=error&from=1h`);
    await tab.press("Save…");
    await tab.shows("every app, timeout, error and above, last 1h");
    await write("#search-name", "slow-pages");
    await takePictures(tab, "search-save");
    expect(await axeFaults(tab)).toEqual([]);
    const saved = { q: "timeout", level: "error", from: "1h" };
    plane.answers["PUT /logs/searches/slow-pages"] = saved;
    plane.answers["GET /logs/searches"] = { searches: [{ name: "slow-pages", ...saved }] };
    await tab.press("Save");
    await tab.shows("Saved slow-pages");
    expect(asked("PUT", "/logs/searches/slow-pages")?.body).toEqual(saved);
    await tab.open(`${plane.url}/logs`);
    await waitFor("the list", () =>
      tab.read<boolean>(`document.querySelector('[aria-label="Saved searches"]') !== null`),
    );
    await tab.read(
      `(() => { const list = document.querySelector('[aria-label="Saved searches"]'); list.value = "slow-pages"; list.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`,
    );
    await tab.at(/q=timeout/);
    await tab.shows("Delete…");
    await takePictures(tab, "search-chosen");
    expect(await axeFaults(tab)).toEqual([]);
  });
});

describe("boards", () => {
  test("a board is made from one of the server, and what is wrong with it is said in the dialog", async () => {
    await tab.open(`${plane.url}/metrics`);
    await tab.press("New board…");
    await write("#board-name", "night");
    await takePictures(tab, "board-form");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("As JSON");
    await write("#board-text", "{");
    await tab.press("Save");
    await tab.shows("This is not JSON");
    await takePictures(tab, "board-new");
    expect(await axeFaults(tab)).toEqual([]);
    const charts = [{ title: "Busy apps", metric: "pod.cpu_percent", group_by: "app", unit: "percent" }];
    const board = { name: "night", title: "Night shift", charts, built_in: false };
    plane.answers["PUT /boards/night"] = board;
    plane.answers["GET /boards"] = { boards: [...builtInBoards, board] };
    await write("#board-text", JSON.stringify({ title: "Night shift", charts }));
    await tab.press("Charts");
    await tab.press("Add a chart");
    await write('[aria-label="Title of chart 2"]', "Memory");
    await write('[aria-label="Metrics of chart 2"]', "system.mem_used_bytes");
    const choose = (label: string, value: string) =>
      tab.read(
        `(() => { const list = document.querySelector('[aria-label="${label}"]'); list.value = "${value}"; list.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`,
      );
    await choose("Unit of chart 2", "bytes");
    await choose("Values of chart 2", "max");
    const step = (title: string) =>
      tab.read(`(() => { document.querySelector('[title="${title}"]').click(); return true; })()`);
    await step("Move chart 2 up");
    await tab.press("Add a chart");
    await step("Remove chart 3");
    await takePictures(tab, "board-form-filled");
    await tab.press("Save");
    await tab.at(/board=night/);
    await tab.shows("Busy apps");
    const memory = { title: "Memory", metric: "system.mem_used_bytes", unit: "bytes", agg: "max" };
    const saved = plane.asked.findLast(({ method, path }) => method === "PUT" && path === "/boards/night");
    expect(saved?.body).toEqual({ title: "Night shift", charts: [memory, ...charts] });
    await takePictures(tab, "board");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("TV mode shows only the boards of its link, and Escape leaves it", async () => {
    await tab.open(`${plane.url}/metrics?tv=20s&boards=night&from=6h`);
    await tab.shows("Busy apps");
    expect(await tab.read<number>("document.querySelectorAll('nav').length")).toBe(0);
    expect(plane.asked.findLast(({ path }) => path === "/query")?.query.from).toBe("6h");
    await takePictures(tab, "board-tv");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.key("Escape");
    await tab.at(/metrics\?from=6h$/);
  });
});

describe("the week of the jobs", () => {
  test("has a row for each job, and each run leads to its lines", async () => {
    const midweek = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
    await tab.open(`${plane.url}/jobs?view=week&week=${midweek}`);
    await tab.shows("03:00 failed");
    await takePictures(tab, "jobs-week");
    expect(await axeFaults(tab)).toEqual([]);
    const link = 'document.querySelector(".marks a").getAttribute("href")';
    expect(await tab.read<string>(link)).toStartWith("/logs?app=shop%2Fnightly&from=");
    await tab.press("Week after");
    await tab.at(/week=20/);
    await tab.press("List");
    await tab.at(/jobs$/);
  });
});

describe("the machine", () => {
  test("what fills the disk, when it is full, and the server itself", async () => {
    await tab.open(`${plane.url}/host`);
    await tab.shows("in about 12 days");
    await tab.shows("not enough history");
    await tab.shows("version 27.3.1");
    await tab.shows("Delay of the event loop");
    await takePictures(tab, "host");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("making room shows first what goes and what stays, and then does it", async () => {
    const image = { id: "sha256:1", ref: "registry.example.com/shop/web:1.3.0", bytes: 700_000_000 };
    const done = { images: [image], build_cache_bytes: 2_000_000_000, bytes: 2_700_000_000 };
    plane.answers["GET /prune"] = { ...done, leftovers: [] };
    plane.answers["POST /prune"] = done;
    await tab.press("Make room…");
    await tab.shows("image registry.example.com/shop/web:1.3.0");
    await tab.shows("Volumes stay, also those of deleted apps");
    expect(asked("POST", "/prune")).toBeUndefined();
    await takePictures(tab, "prune");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Remove");
    await tab.shows("Removed 2.5 GiB");
    expect(asked("POST", "/prune")).toBeDefined();
  });

  test("volumes with their app, size and the command that removes what is left over", async () => {
    await tab.open(`${plane.url}/volumes`);
    await tab.shows("berth delete old/db --prune");
    await tab.shows("not mounted");
    await takePictures(tab, "volumes");
    expect(await axeFaults(tab)).toEqual([]);
  });
});

test("settings: what the server runs with, what is wrong with it, and what to type", async () => {
  await tab.open(`${plane.url}/settings`);
  await tab.shows("other machines reach 0.0.0.0:8687 without TLS");
  await tab.shows("Environment=BERTH_OBSERVABILITY_TLS=off");
  await takePictures(tab, "settings");
  expect(await axeFaults(tab)).toEqual([]);
});

test("nothing broke the policy", () => expect(chromium.complaints).toEqual([]));
