import { describe, expect, test } from "bun:test";
import { openPlayed } from "../../support/ui/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { takePictures } from "../../support/ui/pictures.ts";

/** Logs in a browser: live, in a flood, stored, searched. The plane is the test's. */
let feed: ReadableStreamDefaultController<Uint8Array> | undefined;

const start = Date.UTC(2026, 0, 2, 12);
const encoder = new TextEncoder();
const line = (index: number, text: string, level = "info") => ({
  at: new Date(start + index).toISOString(),
  scope: "shop",
  name: "api",
  pod: "shop-api.b7k2m",
  replica_id: "b7k2m",
  release_id: "r7",
  stream: "stdout",
  level,
  text,
});
const send = (...lines: object[]) =>
  feed?.enqueue(encoder.encode(`${lines.map((one) => JSON.stringify(one)).join("\n")}\n`));

const texts = [
  "listening on :8080",
  '{"level":"info","msg":"GET /search","status":200,"ms":12}',
  '{"level":"warn","msg":"slow query","ms":940}',
  '{"level":"error","msg":"cannot connect to postgres","host":"main-0.data","port":5432}',
];
const stored = Array.from({ length: 300 }, (_, index) => {
  const kind = index % 37 === 5 ? 3 : index % 11 === 3 ? 2 : index === 0 ? 0 : 1;
  return line(index * 1_000, texts[kind] ?? "", ["none", "info", "warn", "error"][kind]);
});

const { chromium, plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture(),
  "GET /logs/stream": () =>
    new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          feed = controller;
        },
        cancel() {
          feed = undefined;
        },
      }),
    ),
  "GET /logs/search": { lines: stored.toReversed(), cursor: "older" },
  "GET /logs/context": { before: stored.slice(0, 10), after: stored.slice(10, 20) },
  "GET /logs/histogram": {
    from: new Date(start).toISOString(),
    until: new Date(start + 300_000).toISOString(),
    interval_ms: 5_000,
    total: 300,
    buckets: Array.from({ length: 60 }, (_, index) => ({
      at: new Date(start + index * 5_000).toISOString(),
      counts: { info: 3 + ((index * 7) % 9), warn: index % 4 === 0 ? 1 : 0, error: index % 13 === 2 ? 2 : 0 },
    })),
    partial: false,
  },
});

describe("logs", () => {
  test("live lines come in at the end, with what was looked for marked", async () => {
    await tab.open(`${plane.url}/logs?app=shop%2Fapi&q=postgres`);
    await waitFor("the page to follow", () => feed !== undefined);
    send(...stored.slice(0, 60));
    await tab.shows("cannot connect to");
    expect(await tab.read<string>("document.querySelector('mark').innerText")).toBe("postgres");
    expect(await tab.read<number>("document.querySelectorAll('.line.bad').length")).toBeGreaterThan(0);
    expect(plane.asked.findLast(({ path }) => path === "/logs/stream")?.query).toEqual({
      app: "shop/api",
      q: "postgres",
      tail: "500",
      follow: "true",
    });
    await takePictures(tab, "logs-live");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("who scrolls up is left there, and told what came since", async () => {
    await tab.read("document.querySelector('.log').scrollTop = 0");
    await tab.shows("Go to the newest");
    send(line(400_000, "one more"), line(400_001, "and another"));
    await tab.press("2 new lines ↓");
    await tab.shows("and another");
  });

  test("20,000 lines a second: the page stays smooth, and says what it left out", async () => {
    await tab.read(
      "window.frames_ = 0; (function count() { window.frames_++; requestAnimationFrame(count); })(); true",
    );
    const before = await tab.read<number>("window.frames_");
    const began = performance.now();
    let sent = 0;
    while (performance.now() - began < 2_000) {
      const due = Math.floor((performance.now() - began) * 20);
      const some = Array.from({ length: due - sent }, (_, index) =>
        line(500_000 + sent + index, `GET /flood/${sent + index} 200`),
      );
      sent = due;
      if (some.length > 0) send(...some);
      await Bun.sleep(20);
    }
    const frames = ((await tab.read<number>("window.frames_")) - before) / ((performance.now() - began) / 1000);
    await tab.read("document.querySelector('.log').scrollTop = 1e9");
    await tab.shows(`/flood/${sent - 1} `);
    expect(await tab.read<string>("document.querySelector('.page').innerText")).toContain(
      "left out: they came too fast to show",
    );
    // 60 are the promise, which `bun run bench ui` looks at. A page that stands still draws none; a machine that runs other
    // tests beside this one has drawn 3.
    expect(frames).toBeGreaterThan(1);
  });

  test("the connection ends: it says so, and goes on where it was", async () => {
    feed?.close();
    feed = undefined;
    await tab.shows("Reconnecting");
    await waitFor("the page to follow again", () => feed !== undefined);
    expect(plane.asked.findLast(({ path }) => path === "/logs/stream")?.query.from).toStartWith("2026-01-02T12:");
    send(line(900_000, "back again"));
    await tab.shows("back again");
  });

  test("a search that cannot be read is told, live and stored", async () => {
    const live = plane.answers["GET /logs/stream"];
    const wrong = () => Response.json({ status: "error", error: 'query q: "/[/" does not end' }, { status: 400 });
    plane.answers["GET /logs/stream"] = wrong;
    await tab.open(`${plane.url}/logs?q=${encodeURIComponent("/[/")}`);
    await tab.shows('This search cannot be read: query q: "/[/" does not end');
    plane.answers["GET /logs/stream"] = live;
  });

  test("stored lines, how many there were over time, and the lines around one", async () => {
    await tab.open(`${plane.url}/logs?app=shop%2Fapi&from=1h`);
    await tab.shows("slow query");
    await tab.shows("300 lines");
    await takePictures(tab, "logs-stored");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.read(
      "[...document.querySelectorAll('.line')].find((one) => one.innerText.includes('slow query')).click()",
    );
    await tab.shows("shop-api.b7k2m");
    await tab.shows("940");
    await takePictures(tab, "logs-line");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.key("Escape");
    await tab.read("document.querySelector('.bars span').click()");
    await tab.at(/until=2026/);
  });

  test("nothing broke the policy", () => expect(chromium.complaints).toEqual([]));
});
