import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readProcfile } from "../../orchestration/core/build/procfile.ts";
import { talksNote } from "../../orchestration/core/build/runtime.ts";
import { CommandFailure } from "../basics/failures.ts";
import { lookAt } from "./look.ts";
import { firstManifest } from "./manifest.ts";
import { sourceTree } from "../build/place.ts";
import type { RuleLimits } from "../build/sent.ts";

interface App {
  scope: string;
  name: string;
  host: string | undefined;
  /** Read as its Procfile. */
  procfile: string;
}

/** What a platform tells a web process of a Procfile, where nothing else says a port. */
const portUsual = 8080;

const foldersShownMax = 8;

/** Sub-folders, and their own in a folder of many (`services/api`), whose source shows a language: `api (node)`. */
function appFolders(root: string, rules: RuleLimits): string[] {
  const within = (folder: string) =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((item) => item.isDirectory() && !item.name.startsWith(".") && item.name !== "node_modules")
      .map(({ name }) => join(folder, name));
  const found: string[] = [];
  for (const folder of within("").sort()) {
    const inside = describe(root, folder, rules);
    const apps =
      inside === undefined
        ? within(folder)
            .sort()
            .map((deeper) => describe(root, deeper, rules))
        : [inside];
    for (const app of apps) if (app !== undefined && found.length < foldersShownMax) found.push(app);
  }
  return found;
}

function describe(root: string, folder: string, rules: RuleLimits): string | undefined {
  const look = lookAt(sourceTree(join(root, folder), rules));
  return look.ok ? `${folder} (${look.findings.source.split(" ")[0]})` : undefined;
}

/** The manifests of a folder that has none: what `berth init` would write, and what was found. */
export function withoutManifest(root: string, app: App, rules: RuleLimits): { text: string; found: string } {
  const { procfile } = app;
  const tree = sourceTree(root, rules, procfile);
  const look = lookAt(tree);
  if (!look.ok) {
    const nested = appFolders(root, rules);
    const hint =
      nested.length === 0 ? "" : `\n  apps in sub-folders: ${nested.join(", ")}; deploy one with berth up ./FOLDER`;
    throw new CommandFailure(`no manifests here, and nothing to make them from: ${look.problem}${hint}`);
  }
  const { findings } = look;
  const { processes } = findings;
  if (tree.has("Procfile") && readProcfile(tree.read("Procfile") ?? "").length === 0) {
    throw new CommandFailure(`${procfile} names no process: write lines like "web: node server.js"`);
  }
  const hasWeb = processes.some(({ type }) => type === "web");
  const listens = hasWeb && !findings.notes.includes(talksNote);
  const port = findings.port ?? (listens ? portUsual : undefined);
  const text = firstManifest({ ...app, port, image: undefined }, findings);
  const types = processes.map(({ type }) => type).join(", ");
  const files = new Set(processes.map(({ from }) => (from === undefined || from === "Procfile" ? procfile : from)));
  return { text, found: `${findings.source}${types === "" ? "" : `, ${[...files].join(", ")} (${types})`}` };
}
