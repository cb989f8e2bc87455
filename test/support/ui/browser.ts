import { afterAll } from "bun:test";
import { type Chromium, startChromium, type Tab } from "../chromium.ts";
import { type Answers, type FakePlane, startFakePlane } from "./fake-plane.ts";

interface Browser {
  chromium: Chromium;
  tab: Tab;
}

/** A browser with one tab, as a desk has it, until the last test of the file. Call it outside of tests and hooks. */
export async function openBrowser(): Promise<Browser> {
  const chromium = await startChromium();
  afterAll(() => chromium.close());
  const tab = await chromium.tab();
  await tab.look({ width: 1280, height: 800, scheme: "light" });
  return { chromium, tab };
}

/** The same with a plane that the test plays. */
export async function openPlayed(answers: Answers): Promise<Browser & { plane: FakePlane }> {
  const plane = startFakePlane(answers);
  afterAll(() => plane.stop());
  return { plane, ...(await openBrowser()) };
}
