import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { loadUiFiles } from "../../../src/local/ui/files.ts";
import { createUiPages } from "../../../src/observability/http/ui-pages.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { openBrowser } from "../../support/ui/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { takePictures } from "../../support/ui/pictures.ts";

/** The page that shows every part of the UI, without a server behind it. */
let server: Bun.Server<undefined>;

const { chromium, tab } = await openBrowser();

beforeAll(async () => {
  server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: createUiPages(loadUiFiles) });
  await tab.open(`http://127.0.0.1:${server.port}/components`);
  await tab.shows("20,000 lines of a log");
});

afterAll(async () => {
  await server?.stop(true);
});

describe("the parts of the web UI", () => {
  test("are shown under the strict policy without a complaint", () => {
    expect(chromium.complaints).toEqual([]);
  });

  test("have no serious fault of accessibility, in both themes", async () => {
    await takePictures(tab, "components");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("a log of 20,000 lines has only those in view in the document", async () => {
    expect(await tab.read<number>("document.querySelectorAll('.log .line').length")).toBeLessThan(100);
    expect(await tab.read<number>("document.querySelector('.log').scrollHeight")).toBeGreaterThan(300_000);
  });

  test("a dialog says what ends, and keeps its button until the name was typed", async () => {
    await tab.press("Ends something…");
    await tab.shows("3 replicas stop");
    expect(await tab.read<boolean>("document.querySelector('dialog [type=submit]').disabled")).toBe(true);
    await tab.click("#typed");
    await tab.read("document.querySelector('#typed').focus()");
    await tab.type("shop/web");
    await tab.key("Enter");
    await tab.shows("This is a sample: nothing was deleted");
    await tab.key("Escape");
    await waitFor("the dialog to be gone", () => tab.read<boolean>("document.querySelector('dialog') === null"));
  });

  test("the palette opens with a key and leads on by keyboard alone", async () => {
    await tab.key("/");
    await waitFor("the palette", () => tab.read<boolean>("document.activeElement?.role === 'combobox'"));
    await tab.type("dark");
    await waitFor("what was found", () => tab.read<boolean>("document.querySelectorAll('#found li').length === 1"));
    await tab.key("Enter");
    await waitFor("the dark theme", () => tab.read<boolean>("document.documentElement.dataset.theme === 'dark'"));
  });
});
