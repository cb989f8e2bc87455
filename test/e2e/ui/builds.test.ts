import { describe, expect, test } from "bun:test";
import type { ShownBuild } from "../../../src/observability/api/builds.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";
import { hostile, hostileTexts } from "../../support/ui/hostile.ts";
import { takePictures } from "../../support/ui/pictures.ts";

const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();

const build = (id: string, changes: Partial<ShownBuild>): ShownBuild => ({
  ...{ scope: "shop", name: "web", id, status: "succeeded", context: id.repeat(6), dockerfile: "Dockerfile" },
  ...{ image: `shop-web:${id}`, actor: "ana@laptop", started_at: at(90_000), ended_at: at(89_940) },
  ...{ releases: [], kept: false, image_bytes: 142_000_000 },
  ...changes,
});
const git = {
  url: "https://git.example.com/shop.git",
  ref: "main",
  commit: "1a2b3c4d".repeat(5),
  subject: "Faster search",
};
const running = build("b5b5b5b5b5b5", { status: "building", started_at: at(42), ended_at: undefined as never, git });
const builds = [
  build("b6b6b6b6b6b6", { name: "api", status: "queued", started_at: at(4), actor: "pat:Ab3dEf", actor_name: "ci" }),
  running,
  build("b4b4b4b4b4b4", { status: "failed", error: "step 3 ended with 1: npm ci", image_bytes: undefined as never }),
  build("b3b3b3b3b3b3", { releases: ["r7"], kept: true }),
  build("b2b2b2b2b2b2", { releases: ["r6"], kept: true, started_at: at(190_000), ended_at: at(189_000) }),
  build("b1b1b1b1b1b1", { status: "canceled", error: "the build was cancelled" }),
];
const lines = Array.from({ length: 40 }, (_, index) => `Step ${index + 1}/40 : RUN make part-${index + 1}`).join("\n");
const output = () => new Response(`${lines}\n`, { headers: { "Content-Type": "text/plain" } });

/** The list of builds and the page of one in a browser, with a plane that the test plays. */
const { chromium, plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture(),
  "GET /builds": { builds },
  "GET /builds/shop/web/b5b5b5b5b5b5/output": output,
  "POST /builds/shop/web/b5b5b5b5b5b5/cancel": { build: running },
  "POST /builds/shop/web/b4b4b4b4b4b4/retry": { build: running },
});

describe("builds", () => {
  test("the queue, what is built and what was, with the commit and why an image stays", async () => {
    await tab.open(`${plane.url}/builds`);
    await tab.shows("main 1a2b3c4 Faster search");
    await tab.shows("step 3 ended with 1: npm ci");
    await tab.shows("kept for rollback");
    await takePictures(tab, "builds");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("a page of one build shows its output, and cancels it after its consequences", async () => {
    await tab.open(`${plane.url}/builds/shop/web/b5b5b5b5b5b5`);
    await tab.shows("RUN make part-40");
    await takePictures(tab, "build");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Cancel…");
    await tab.shows("The build ends, and no image is made");
    await takePictures(tab, "build-cancel");
    await tab.press("Cancel the build");
    await tab.shows("The build of shop/web was cancelled");
  });

  for (const text of [hostileTexts[0] ?? "", hostileTexts.at(-1) ?? ""]) {
    test(`hostile texts stay text: ${JSON.stringify(text.slice(0, 20))}`, async () => {
      plane.answers["GET /builds"] = hostile({ builds }, text);
      await tab.open(`${plane.url}/builds`);
      await tab.shows("Source");
      expect(
        await tab.read<number>("document.querySelectorAll('img, iframe, script:not([src]), [onerror], b').length"),
      ).toBe(0);
      expect(await tab.read<number>("Math.max(0, document.documentElement.scrollWidth - innerWidth)")).toBe(0);
    });
  }

  test("nothing broke the policy", () => expect(chromium.complaints).toEqual([]));
});
