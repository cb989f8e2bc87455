import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type PlaneServer, startPlaneServer } from "../../support/plane-server.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { openBrowser } from "../../support/ui/browser.ts";
import { takePictures } from "../../support/ui/pictures.ts";
import { waitFor } from "../../support/wait.ts";

setDefaultTimeout(60_000);

/** The executable while Docker is away, with 200 apps: every screen opens, says what is wrong, and fits a phone. */
const apps = 200;
/** Pictures and axe of all screens with so many apps take two minutes; `server.test.ts` has them with few. */
const isThorough = process.env.BERTH_TEST_HOURS !== undefined;
let berth: PlaneServer;

const { chromium, tab } = await openBrowser();

beforeAll(async () => {
  berth = await startPlaneServer();
  await berth.apps(apps);
  await tab.open((await berth.cli("ui", "--print")).trim());
  await tab.shows("Live");
});

afterAll(async () => {
  await berth?.close();
});

/** Screens, and a text that says that each is there. */
const screens: [path: string, shown: string][] = [
  ["/", "Docker cannot be reached"],
  ["/apps/many/app-7", "Replicas"],
  ["/apps/many/app-7/why", "Why"],
  ["/apps/many/app-7/logs", "No line yet"],
  ["/apps/many/app-7/deploys", "Deploys"],
  ["/apps/many/app-7/metrics", "A line per replica"],
  ["/apps/many/app-7/config", "No config yet"],
  ["/apps/many/app-7/events", "was applied"],
  ["/logs", "Logs"],
  ["/logs?from=1h", "Logs"],
  ["/metrics", "Machine"],
  ["/deploys", "Deploys"],
  ["/events", "was applied"],
  ["/audit", "Outcome"],
  ["/domains", "Domains"],
  ["/requests", "Requests"],
  ["/jobs", "No jobs yet"],
  ["/alerts", "Alerts"],
  ["/alerts/incidents", "Incidents"],
  ["/alerts/history", "History"],
  ["/alerts/rules", "crash"],
  ["/alerts/channels", "No channel"],
  ["/access", "Access"],
  ["/new", "New app"],
];

const beyondTheEdge = () =>
  tab.read<string[]>(`(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const wide = [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
    return wide.slice(0, 3).map((one) => one.outerHTML.slice(0, 160));
  })()`);

describe("without an engine and with 200 apps", () => {
  test.each(screens)("%s opens, and fits a phone", async (path, shown) => {
    await tab.open(`${berth.url}${path}`);
    await tab.shows(shown);
    await waitFor("the screen to load", () => tab.read<boolean>("document.querySelector('.bones') === null"));
    if (isThorough) {
      expect(await axeFaults(tab)).toEqual([]);
      await takePictures(tab, `no-engine${path.replaceAll(/[^a-z]+/g, "-")}`);
    }
    for (const width of [1280, 320]) {
      await tab.look({ width, height: 800, scheme: "light" });
      expect({ width, beyond: await beyondTheEdge() }).toEqual({ width, beyond: [] });
    }
    await tab.look({ width: 1280, height: 800, scheme: "light" });
  });

  test("no app is green while nobody knows how it is", async () => {
    await tab.open(`${berth.url}/`);
    await tab.shows(`${apps} apps`);
    expect(await tab.read<number>("document.querySelectorAll('.tile').length")).toBe(apps);
    expect(await tab.read<number>("document.querySelectorAll('.tile .state.good').length")).toBe(0);
  });

  test("the policy of each page forbids scripts and styles in the page, and no page broke it", async () => {
    const policy = (await fetch(`${berth.url}/`)).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(chromium.complaints).toEqual([]);
  });

  test("a page of another origin changes nothing with the cookie of this one", async () => {
    const seen: string[] = [];
    const foreign = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response("<title>foreign</title>", { headers: { "Content-Type": "text/html" } }),
    });
    try {
      const other = await tab.another();
      await other.open(`http://127.0.0.1:${foreign.port}/`);
      const target = `${berth.url}/api/pat/v1/apps/many/app-7/scale?kind=deployment`;
      const body = JSON.stringify({ replicas: 3 });
      for (const init of [
        { method: "POST", mode: "no-cors", credentials: "include", body },
        { method: "POST", mode: "cors", credentials: "include", body, headers: { "X-Berth-UI": "1" } },
      ]) {
        await other.read(
          `window.done = undefined; fetch(${JSON.stringify(target)}, ${JSON.stringify(init)}).then(({ type }) => { window.done = type; }, () => { window.done = "refused"; }); true`,
        );
        seen.push(await waitFor("an outcome", () => other.read<string | false>("window.done ?? false")));
      }
      expect(seen).toEqual(["opaque", "refused"]);
      const manifest = await berth.cli("describe", "many/app-7", "-o", "json");
      expect(JSON.parse(manifest).data.manifest.spec.replicas).toBe(0);
    } finally {
      await foreign.stop(true);
    }
  });
});
