import { join } from "node:path";
import { waitFor } from "../wait.ts";
import type { Tab } from "../chromium.ts";
import { drawn } from "./pictures.ts";

interface Finding {
  id: string;
  impact: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

const script = join(import.meta.dir, "../../../node_modules/axe-core/axe.min.js");

/** Only what is wrong is read; axe would also describe all that is well, which takes longest. */
const reported = { resultTypes: ["violations"], selectors: false };
const runOptions = {
  light: { ...reported, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] },
  // A theme changes colours only, so the dark one gets the rules that look at them.
  dark: { ...reported, runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } },
};

/** Serious faults of accessibility on the page in both themes, one text each. `bare`: a page without a script. */
export async function axeFaults(tab: Tab, { bare = false } = {}): Promise<string[]> {
  const dark = await faultsIn(tab, "dark", bare);
  return [...(await faultsIn(tab, "light", bare)), ...dark];
}

async function faultsIn(tab: Tab, scheme: "light" | "dark", bare: boolean): Promise<string[]> {
  await tab.look({ width: 1280, height: 800, scheme });
  const shown = bare
    ? `matchMedia("(prefers-color-scheme: ${scheme})").matches`
    : `document.documentElement.dataset.theme === "${scheme}"`;
  await waitFor(`the ${scheme} theme`, () => tab.read<boolean>(shown));
  await drawn(tab);
  if (!(await tab.read<boolean>("window.axe !== undefined"))) await tab.read(`${await Bun.file(script).text()}; true`);
  const options = JSON.stringify(runOptions[scheme]);
  await tab.read(
    `window.axeFound = undefined; axe.run(${options}).then((found) => { window.axeFound = found.violations; }); true`,
  );
  const found = await waitFor("axe's findings", () => tab.read<Finding[] | false>("window.axeFound ?? false"));
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${scheme}: ${id}: ${help}: ${html.slice(0, 160)}`));
}
