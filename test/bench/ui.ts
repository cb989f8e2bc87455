import { type Chromium, startChromium, type Tab } from "../support/chromium.ts";
import { type PlaneServer, startPlaneServer } from "../support/plane-server.ts";
import { startFakePlane } from "../support/ui/fake-plane.ts";
import { overviewFixture, whoFixture } from "../support/ui/fixtures.ts";
import { waitFor } from "../support/wait.ts";
import { median } from "./median.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const apps = 200;
const linesPerSecond = 2_000;
const floodMs = 5_000;
const rounds = 7;

/** What a person waits for in the browser: the first paint, the answer to a press, and a log that is written fast. */
export async function run(): Promise<BenchRow[]> {
  const chromium = await startChromium();
  const plane = await startPlaneServer();
  try {
    const tab = await chromium.tab();
    await tab.look({ width: 1280, height: 800, scheme: "light" });
    await plane.apps(apps);
    await tab.open((await plane.cli("ui", "--print")).trim());
    await tab.shows(`${apps} apps`);
    return [await firstPaint(tab, plane), await presses(tab), ...(await flood(chromium))];
  } finally {
    await plane.close();
    await chromium.close();
  }
}

const paintMs = (tab: Tab) =>
  waitFor("the first paint", () =>
    tab.read<number | false>("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? false"),
  );

/** Of the overview of the executable, beside a page of one line. */
async function firstPaint(tab: Tab, plane: PlaneServer): Promise<BenchRow> {
  const plain = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("<!doctype html><p>hello", { headers: { "Content-Type": "text/html" } }),
  });
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await tab.open(`http://127.0.0.1:${plain.port}/?${round}`);
    bare.push(await paintMs(tab));
    await tab.open(`${plane.url}/?${round}`);
    await tab.shows(`${apps} apps`);
    ours.push(await paintMs(tab));
  }
  await plain.stop(true);
  return row("web UI: first paint of the overview", { value: median(ours), baseline: median(bare), unit: "ms" }, 500);
}

/** From a press to the frame that shows what it did, beside two frames in which nothing happens. */
async function presses(tab: Tab): Promise<BenchRow> {
  const after = (work: string) =>
    `(() => { window.took = undefined; const begun = performance.now(); ${work} requestAnimationFrame(() => requestAnimationFrame(() => { window.took = performance.now() - begun; })); return true; })()`;
  const took = async (work: string) => {
    await tab.read(after(work));
    return waitFor("a frame", () => tab.read<number | false>("window.took ?? false"));
  };
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round++) {
    bare.push(await took(""));
    for (const [name, tiles] of Object.entries({ many: (apps * 3) / 4, all: apps })) {
      ours.push(await took(`[...document.querySelectorAll("a")].find((one) => one.innerText === "${name}").click();`));
      mustBe(
        `apps after a press on "${name}"`,
        await tab.read("document.querySelector('.tiles').children.length"),
        tiles,
      );
    }
  }
  const figures = { value: median(ours), baseline: median(bare), unit: "ms" };
  return row(`web UI: a press on the overview with ${apps} apps`, figures, 100);
}

/**
 * Frames per second of the live log, beside the same page while nothing is written; and how busy its main thread is,
 * which a machine that does other things beside changes less.
 */
async function flood(chromium: Chromium): Promise<BenchRow[]> {
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
  const plane = startFakePlane({
    "GET /whoami": whoFixture,
    "GET /overview": overviewFixture(),
    "GET /logs/stream": () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            feed = controller;
          },
        }),
      ),
  });
  try {
    const tab = await chromium.tab();
    await tab.look({ width: 1280, height: 800, scheme: "light" });
    await tab.open(`${plane.url}/logs?app=shop%2Fapi`);
    await waitFor("the page to follow", () => feed !== undefined);
    feed?.enqueue(lines(0, 1));
    await tab.shows("flood 0 ");
    const baseline = await framesPerSecond(tab, async () => Bun.sleep(floodMs));
    const before = await tab.busySeconds();
    let sent = 1;
    const value = await framesPerSecond(tab, async () => {
      const begun = performance.now();
      while (performance.now() - begun < floodMs) {
        const due = Math.floor(((performance.now() - begun) * linesPerSecond) / 1_000);
        if (due > sent) feed?.enqueue(lines(sent, due));
        sent = Math.max(sent, due);
        await Bun.sleep(20);
      }
    });
    const after = await tab.busySeconds();
    mustBe("whether the flood was as fast as it should be", sent > (linesPerSecond * floodMs) / 2_000, true);
    await tab.shows(`flood ${sent - 1} `);
    const busy = (((after.TaskDuration ?? 0) - (before.TaskDuration ?? 0)) / floodMs) * 100_000;
    const name = `web UI: live log with ${linesPerSecond} lines/s`;
    return [
      { name, value, unit: "frames/s", baseline, ratio: value / baseline, wanted: ">= 0.95" },
      { name: `${name}, main thread`, value: busy, unit: "% busy", baseline: 100, ratio: busy / 100, wanted: "<= 0.5" },
    ];
  } finally {
    await plane.stop();
  }
}

function lines(from: number, to: number): Uint8Array {
  const all = Array.from({ length: to - from }, (_, index) => ({
    ...{ at: new Date().toISOString(), scope: "shop", name: "api", pod: "shop-api.a", replica_id: "a" },
    ...{ stream: "stdout", level: "info", text: `flood ${from + index} GET /search 200` },
  }));
  return Buffer.from(all.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

async function framesPerSecond(tab: Tab, during: () => Promise<unknown>): Promise<number> {
  const state = "[window.drawn, performance.now()]";
  const count = "window.drawn = 0; (function next() { window.drawn++; requestAnimationFrame(next); })();";
  await tab.read(`if (window.drawn === undefined) { ${count} } true`);
  const [before = 0, begun = 0] = await tab.read<number[]>(state);
  await during();
  const [after = 0, ended = 0] = await tab.read<number[]>(state);
  return (after - before) / ((ended - begun) / 1_000);
}

function row(name: string, figures: { value: number; baseline: number; unit: string }, max: number): BenchRow {
  return { name, ...figures, ratio: figures.value / figures.baseline, wanted: `value <= ${max}` };
}
