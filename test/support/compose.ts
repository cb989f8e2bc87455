import { importCompose } from "../../src/client/manifests/compose/import.ts";
import { loadCompose } from "../../src/client/manifests/compose/load.ts";
import type { Machine } from "../../src/client/manifests/compose/machine-paths.ts";
import { report } from "../../src/client/manifests/compose/report.ts";
import type { Known } from "../../src/client/manifests/compose/variables.ts";
import type { Fault } from "../../src/client/manifests/source.ts";

interface ComposeScene {
  /** Files beside the Compose file: name → text. A name that ends in "/" is an empty folder. */
  files?: Record<string, string>;
  known?: Partial<Known>;
  profiles?: string[];
  /** More Compose files, merged over the first. */
  over?: string[];
  folder?: string;
}

/** What the import makes of a Compose file, without a disk. */
export function readCompose(
  text: string,
  { files = {}, known = {}, profiles = [], over = [], folder = "" }: ComposeScene = {},
) {
  const faults: Fault[] = [];
  const sources = [text, ...over].map((one, index) => ({
    name: index === 0 ? "compose.yaml" : `over-${index}.yaml`,
    text: one,
  }));
  const read = (name: string) => ({ name, text: files[name] ?? "" });
  const loaded = loadCompose(sources, folder, { read, nodesMax: 20_000, faults });
  const { lose, read: differences } = report();
  if (loaded === undefined) return { manifests: [], losses: [], notes: [], faults };
  const manifests = importCompose(loaded.top, {
    scope: undefined,
    suffix: "berth",
    folder: "My Shop",
    machine: machineOf(files),
    known: { values: {}, shell: {}, complete: false, ...known },
    profiles,
    shared: loaded.shared,
    lose,
  });
  const told = differences(loaded.files);
  const of = (level: string) =>
    told.filter((one) => one.level === level).map(({ path, message }) => `${path}: ${message}`);
  return { manifests, losses: of("change"), notes: of("note"), faults };
}

/** A file that begins with `#!` is a program. */
function machineOf(files: Readonly<Record<string, string>>): Machine {
  const names = Object.keys(files);
  const plain = (path: string) => path.replace(/^\.\//, "").replace(/\/$/, "");
  const below = (path: string) => names.filter((name) => plain(path) === "." || name.startsWith(`${plain(path)}/`));
  return {
    look: (path) => (names.includes(plain(path)) ? "file" : below(path).length > 0 ? "folder" : "absent"),
    text: (path) => files[plain(path)],
    runs: (path) => files[plain(path)]?.startsWith("#!") === true,
    filesIn: (path) => {
      const found = below(path).filter((name) => !name.endsWith("/"));
      return found.length > 3
        ? undefined
        : found.map((name) => (plain(path) === "." ? name : name.slice(plain(path).length + 1)));
    },
    inside: (path) => (path.startsWith("/project/") ? `./${path.slice("/project/".length)}` : undefined),
  };
}
