import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tab } from "../chromium.ts";
import { waitFor } from "../wait.ts";

/** As a desk and a phone show it, in both themes. */
const looks = [
  { name: "desk-light", width: 1280, height: 800, scheme: "light" },
  { name: "desk-dark", width: 1280, height: 800, scheme: "dark" },
  { name: "phone-light", width: 390, height: 844, scheme: "light" },
  { name: "phone-dark", width: 390, height: 844, scheme: "dark" },
] as const;

/** Where pictures of screens go, to be looked at by a person after a run. */
export const picturesFolder = join(tmpdir(), "berth-ui-pictures");

/** Pictures of what a tab shows, in every look; the last one is the desk again. */
export async function takePictures(tab: Tab, name: string): Promise<void> {
  mkdirSync(picturesFolder, { recursive: true });
  for (const look of looks) {
    await tab.look(look);
    // Some frames: the first may be drawn with the old size, and charts are drawn after the page.
    await tab.read(
      "window.framesLeft = 8; (function next() { if (--window.framesLeft > 0) requestAnimationFrame(next); })(); true",
    );
    await waitFor("some frames", async () => (await tab.read<number>("window.framesLeft")) === 0);
    writeFileSync(join(picturesFolder, `${name}-${look.name}.png`), await tab.picture());
  }
  await tab.look(looks[0]);
}
