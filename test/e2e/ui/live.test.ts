import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployment } from "../../support/manifests.ts";
import { freePort } from "../../support/ports.ts";
import { type Rig, rig } from "../../support/rig.ts";
import { openBrowser } from "../../support/ui/browser.ts";
import { takePictures } from "../../support/ui/pictures.ts";
import { waitFor } from "../../support/wait.ts";

setDefaultTimeout(120_000);

/** One page of the executable that stays open while everything around it changes: it is never loaded again. */
let berth: Rig;
let address: string;

const talk = ["sh", "-c", "i=0; while true; do i=$((i+1)); echo line $i of the talker; sleep 0.2; done"];

const { chromium, tab } = await openBrowser();

beforeAll(async () => {
  address = `127.0.0.1:${await freePort()}`;
  berth = await rig({ flags: ["--observability-addr", address] });
  await berth.apply(deployment("shop", "talker", { command: talk }));
  await berth.ready("deployment", "shop", "talker");
  const { stdout } = await berth.cli(["ui", "--print"]);
  await tab.open(/http:\/\/\S+/.exec(stdout)?.[0] ?? "");
  await tab.shows("shop/talker");
  await tab.shows("Live");
  await tab.read("window.neverReloaded = true");
});

afterAll(async () => {
  await berth?.close();
});

describe("a page that stays open", () => {
  test("a new app that crashes comes in by itself, and none of its states was green", async () => {
    await tab.read(
      `window.greens = []; new MutationObserver(() => { for (const tile of document.querySelectorAll(".tile")) if (tile.innerText.includes("shop/broken") && tile.querySelector(".state.good")) window.greens.push(tile.innerText); }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true }); true`,
    );
    await berth.apply(
      deployment("shop", "broken", { command: ["sh", "-c", "echo cannot connect to postgres; exit 1"] }),
    );
    await tab.shows("shop/broken");
    await waitFor("the problem", () =>
      tab.read<boolean>("document.querySelector('.problems')?.innerText.includes('broken') ?? false"),
    );
    expect(await tab.read<string[]>("window.greens")).toEqual([]);
    await takePictures(tab, "live-broken");
  });

  test("what is deleted goes", async () => {
    await berth.cli(["delete", "deployment", "shop/broken", "-y"]);
    await waitFor(
      "the tile to go",
      async () => !(await tab.read<string>("document.querySelector('.tiles').innerText")).includes("broken"),
    );
    expect(await tab.read("window.neverReloaded")).toBe(true);
  });

  test("lines of a log come in as they are written", async () => {
    await tab.read("document.querySelector('a[href=\"/apps/shop/talker\"]').click()");
    await tab.press("Logs");
    await tab.shows("of the talker");
    const count = () => tab.read<number>("Number(/(\\d+) lines/.exec(document.body.innerText)?.[1] ?? 0)");
    const before = await count();
    await waitFor("more lines", async () => (await count()) > before + 5);
    await takePictures(tab, "live-logs");
  });

  test("the server restarts: the page says that it is gone, and comes back by itself", async () => {
    await berth.stop();
    await tab.shows("Reconnecting");
    await berth.start();
    await tab.shows("Live");
    await berth.apply(deployment("shop", "later"));
    await tab.read("document.querySelector('.brand').click()");
    await tab.shows("shop/later");
    expect(await tab.read("window.neverReloaded")).toBe(true);
  });

  test("the token behind the session ends: the page goes to sign in, and holds nothing of the apps", async () => {
    const { stdout } = await berth.cli(["pat", "list", "-o", "json"]);
    const { pats } = (JSON.parse(stdout) as { data: { pats: { id: string }[] } }).data;
    for (const { id } of pats) await berth.cli(["pat", "revoke", id, "-y"]);
    expect(await tab.shows("Your session has ended")).not.toContain("shop/");
    expect(chromium.complaints).toEqual([]);
  });

  test("signing out ends the session for every tab of the browser", async () => {
    const { stdout } = await berth.cli(["ui", "--print"]);
    await tab.open(/http:\/\/\S+/.exec(stdout)?.[0] ?? "");
    await tab.shows("Live");
    const other = await tab.another();
    await other.open(`http://${address}/`);
    await other.shows("shop/talker");
    await other.press("Sign out");
    await other.shows("Sign in to berth");
    await tab.front();
    expect(await tab.shows("Your session has ended")).not.toContain("shop/");
  });
});
