import { CommandFailure } from "../shell/failures.ts";
import { lookAt } from "./look.ts";
import { firstManifest } from "./manifest.ts";
import { sourceTree } from "./place.ts";

interface App {
  scope: string;
  name: string;
  host: string | undefined;
}

/** What a platform tells a web process of a Procfile, where nothing else says a port. */
const portUsual = 8080;

/** The manifests of a folder that has none: what `berth init` would write, and what was found. */
export function withoutManifest(root: string, app: App, procfile: string): { text: string; found: string } {
  const tree = sourceTree(root, procfile);
  const look = lookAt(tree);
  if (!look.ok) throw new CommandFailure(`no manifests here, and nothing to make them from: ${look.problem}`);
  const { findings } = look;
  const { processes } = findings;
  if (tree.has("Procfile") && processes.length === 0) {
    throw new CommandFailure(`${procfile} names no process: write lines like "web: node server.js"`);
  }
  const hasWeb = processes.some(({ type }) => type === "web");
  const port = findings.port ?? (hasWeb ? portUsual : undefined);
  const text = firstManifest({ ...app, port, image: undefined }, findings);
  const types = processes.map(({ type }) => type).join(", ");
  return { text, found: `${findings.source}${types === "" ? "" : `, ${procfile} (${types})`}` };
}
