import { describe, expect, test } from "bun:test";
import { axeFaults } from "../../support/ui/axe.ts";
import { takePictures } from "../../support/ui/pictures.ts";
import { openPlayed } from "../../support/ui/browser.ts";
import { waitFor } from "../../support/wait.ts";
import {
  configFixture,
  detailFixture,
  diffFixture,
  eventsFixture,
  releasesFixture,
} from "../../support/ui/app-fixtures.ts";
import { overviewFixture, whoFixture } from "../../support/ui/fixtures.ts";

const operation = {
  ...{ id: "op-1", type: "rollback", app: { kind: "deployment", scope: "shop", name: "api" }, state: "running" },
  ...{ text: "begun", actor: "pat:Ab3dEf", started_at: new Date().toISOString() },
};
/** Everything that a person does, without a mouse. What has the focus can always be seen. */
const { chromium, plane, tab } = await openPlayed({
  "GET /whoami": whoFixture,
  "GET /overview": overviewFixture(),
  "GET /apps/shop/api": detailFixture(),
  "GET /apps/shop/api/why": { events: [], causes: [] },
  "GET /apps/shop/api/releases": releasesFixture,
  "GET /apps/shop/api/diff": diffFixture,
  "GET /config/shop/api": configFixture,
  "PATCH /config/shop/api": { changed: ["NOTE"], restarting: ["deployment/shop/api"], notes: [] },
  "GET /events": eventsFixture,
  "POST /apps/shop/api/rollback": { operation },
  "POST /apps/shop/api/restart": { operation: { ...operation, type: "restart" } },
});

interface Focus {
  name: string;
  isSeen: boolean;
}

/** What has the focus: its name, and whether the page shows that it has it, within the window. */
const focus = () =>
  tab.read<Focus>(`(() => {
    const one = document.activeElement;
    if (one === document.body) return { name: "the page", isSeen: true };
    const box = one.getBoundingClientRect();
    const style = getComputedStyle(one);
    const name = (one.getAttribute("aria-label") ?? one.innerText ?? "").trim() || one.id || one.tagName;
    const isSeen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 && box.width > 0 && box.bottom > 0 && box.top < innerHeight;
    return { name, isSeen };
  })()`);

const stepsMax = 80;

/** Goes on with Tab until `name` has the focus. */
async function reach(name: string): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < stepsMax; step++) {
    await tab.key("Tab");
    const at = await focus();
    passed.push(at.name);
    expect(at).toEqual({ ...at, isSeen: true });
    if (at.name === name) return;
  }
  throw new Error(`no "${name}" is reached by Tab: ${passed.join(", ")}`);
}

async function enter(name: string): Promise<void> {
  await reach(name);
  await tab.key("Enter");
}

const closed = () => waitFor("no dialog", () => tab.read<boolean>("document.querySelector('dialog') === null"));

describe("by keyboard alone", () => {
  test("a broken app is found, its cause read, and it is rolled back", async () => {
    await tab.open(plane.url);
    await tab.shows("2 things need attention");
    await enter("Look");
    await tab.shows("died 7 times, the last 4 s ago");
    await enter("Deploys");
    await tab.shows("requests failed during the deploy");
    await enter("Roll back…");
    await tab.shows("Roll shop/api back to r6");
    await waitFor("the focus to be in the dialog", () =>
      tab.read<boolean>("document.querySelector('dialog').contains(document.activeElement)"),
    );
    await enter("Roll back");
    await tab.shows("The rollback of shop/api has begun");
    expect(plane.asked.findLast(({ path }) => path === "/apps/shop/api/rollback")?.query.release_id).toBe("r6");
  });

  test("a dialog that is left gives the focus back, and keys of the page wait until it is closed", async () => {
    await closed();
    await enter("Restart…");
    await tab.shows("are replaced");
    for (const key of ["g", "o", "/"]) await tab.key(key);
    expect(await tab.read<string>("location.pathname")).toBe("/apps/shop/api/deploys");
    await tab.key("Escape");
    await waitFor("the focus to be back", async () => (await focus()).name === "Restart…");
    expect(plane.asked.some(({ path }) => path.endsWith("/restart"))).toBe(false);
  });

  test("config is changed and reviewed", async () => {
    await enter("Config");
    await tab.shows("DATABASE_URL");
    await reach("config-key");
    await tab.type("NOTE");
    await reach("config-value");
    await tab.type("hello");
    await enter("Add to the changes");
    await enter("Review 1 change…");
    await tab.shows("NOTE is new");
    await enter("Store");
    await tab.shows("1 key changed");
  });

  test("the palette leads to an app by a part of its name, and g with a letter to a screen", async () => {
    await closed();
    await tab.read("document.activeElement.blur()");
    await tab.key("g");
    await tab.key("e");
    await tab.at(/\/events$/);
    await tab.shows("b7k2m died: exit code 1");
    await tab.key("/");
    await waitFor("the palette", () => tab.read<boolean>("document.activeElement?.role === 'combobox'"));
    await tab.type("shop/api");
    await waitFor("the app", () =>
      tab.read<boolean>("document.querySelector('#found li')?.innerText.startsWith('shop/api') ?? false"),
    );
    await tab.key("Enter");
    await tab.at(/\/apps\/shop\/api$/);
  });

  test("the first stop skips the list of screens; ? tells the keys, j and k go through a list, and back is where it was", async () => {
    await tab.open(plane.url);
    await tab.shows("2 things need attention");
    await tab.key("Tab");
    expect((await focus()).name).toBe("Skip to the page");
    await tab.key("Enter");
    expect(await tab.read<string>("document.activeElement.id")).toBe("main");
    await tab.key("?");
    await tab.shows("The next and the previous row of a list");
    await takePictures(tab, "keys");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.key("Escape");
    await closed();
    await tab.key("j");
    await tab.key("j");
    await tab.key("k");
    const first = "document.querySelector('.problems > li a')";
    expect(await tab.read<boolean>(`document.activeElement === ${first}`)).toBe(true);
    await tab.read("scrollTo(0, 60)");
    await tab.key("Enter");
    await tab.at(/\/apps\/shop\/api$/);
    await waitFor("the focus to follow", () => tab.read<boolean>("document.activeElement.id === 'main'"));
    await tab.read("history.back()");
    await tab.shows("2 things need attention");
    await waitFor("the place", () => tab.read<boolean>("Math.abs(scrollY - 60) < 2"));
  });

  test("no page complained", () => expect(chromium.complaints).toEqual([]));
});
