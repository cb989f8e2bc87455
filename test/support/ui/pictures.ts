import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Tab } from "../chromium.ts";
import { waitFor } from "../wait.ts";

const desk = { name: "desk-light", width: 1280, height: 800, scheme: "light" } as const;
const phone = { name: "phone-light", width: 390, height: 844, scheme: "light" } as const;
const looks = [
  desk,
  { ...desk, name: "desk-dark", scheme: "dark" },
  phone,
  { ...phone, name: "phone-dark", scheme: "dark" },
] as const;

/** Where pictures of screens go, to be looked at by a person. Unset: none are taken, which takes long. */
const folder = process.env.BERTH_TEST_PICTURES;

/** Waits for some frames: the first may be drawn with the old size or theme, and charts are drawn after the page. */
export async function drawn(tab: Tab): Promise<void> {
  await tab.read(
    "window.framesLeft = 8; (function next() { if (--window.framesLeft > 0) requestAnimationFrame(next); })(); true",
  );
  await waitFor("some frames", async () => (await tab.read<number>("window.framesLeft")) === 0);
}

/**
 * Draws what a tab shows as a desk and a phone show it, in both themes, and takes pictures; the last look is the desk
 * again. Where pictures are not asked for, only the phone's width is drawn: faults of that are among the tab's complaints.
 */
export async function takePictures(tab: Tab, name: string): Promise<void> {
  for (const look of folder === undefined ? [phone] : looks) {
    await tab.look(look);
    await drawn(tab);
    if (folder === undefined) continue;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}-${look.name}.png`), await tab.picture());
  }
  await tab.look(desk);
}
