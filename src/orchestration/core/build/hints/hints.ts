import type { Process } from "../procfile.ts";
import { type SourceTree, versionIn } from "../runtime.ts";
import { withSignals } from "../with-signals.ts";
import { type PlatformHints, platforms } from "./platforms.ts";

/** A value, and the file that says it. */
interface Hint<T> {
  value: T;
  from: string;
}

/** What the files of other platforms say of an app: each from the most telling file that says it. */
export interface Hints {
  processes: (Process & { from: string })[];
  port: Hint<number> | undefined;
  health: Hint<string> | undefined;
  folder: Hint<string> | undefined;
  build: Hint<string> | undefined;
  env: Hint<Record<string, string | undefined>> | undefined;
  /** How many replicas each type of process has. */
  counts: Hint<Record<string, number>> | undefined;
  /** Packages of Debian, and the files that name them. */
  packages: Hint<string[]>[];
  notes: string[];
}

/** Those of an image that is made by a Dockerfile. */
const forDockerfile = new Set(["Procfile", "railway.json", "railway.toml", "fly.toml"]);

/** `by` a Dockerfile: what says how to start without one is not for it. */
export function readHints(tree: SourceTree, by: "language" | "Dockerfile" = "language"): Hints {
  const all = Object.entries(platforms)
    .filter(([from]) => by === "language" || forDockerfile.has(from))
    .flatMap(([from, read]) => {
      const hints = tree.has(from) ? read(tree) : undefined;
      return hints === undefined ? [] : [{ from, hints }];
    });
  const first = <T>(pick: (hints: PlatformHints) => T | undefined): Hint<T> | undefined => {
    for (const { from, hints } of all) {
      const value = pick(hints);
      if (value !== undefined) return { value, from };
    }
    return undefined;
  };
  return {
    processes: processesOf(all),
    port: first(({ port }) => port),
    health: first(({ health }) => health),
    folder: first(({ folder }) => folder),
    build: first(({ build }) => build),
    env: first(({ env }) => (Object.keys(env).length > 0 ? env : undefined)),
    counts: first(({ counts = {} }) => (Object.keys(counts).length > 0 ? counts : undefined)),
    packages: all.flatMap(({ from, hints: { packages = [] } }) => {
      return packages.length === 0 ? [] : [{ from, value: [...new Set(packages)] }];
    }),
    notes: all.flatMap(({ hints }) => hints.notes),
  };
}

/** Two files that both name processes mean the same ones: only a release step comes from another file. */
function processesOf(all: { from: string; hints: PlatformHints }[]): (Process & { from: string })[] {
  const isRelease = ({ type }: Process) => type === "release";
  const named = all.map(({ from, hints }) => hints.processes.map((process) => ({ ...process, from })));
  const starts = named.map((list) => list.filter((process) => !isRelease(process)));
  const own = starts.find((list) => list.some(({ type }) => type === "web")) ?? starts.find((list) => list.length > 0);
  const release = named.flatMap((list) => list.filter(isRelease))[0];
  return [...(own ?? []), ...(release === undefined ? [] : [release])];
}

/** What starts the app by a file of another platform, where no file of the language says what starts. */
export function hintedStart(tree: SourceTree): string[] | undefined {
  const web = readHints(tree).processes.find(({ type }) => type === "web");
  return web === undefined ? undefined : ["sh", "-c", withSignals(web.command)];
}

/** The version of a language that a platform reads from a variable, such as PYTHON_VERSION. */
export function hintedVersion(tree: SourceTree, ...names: string[]): string | undefined {
  for (const [from, read] of Object.entries(platforms)) {
    const env = tree.has(from) ? read(tree)?.env : undefined;
    for (const name of names) {
      const version = versionIn(env?.[name], /^v?(\d+(?:\.\d+){0,2})/);
      if (version !== undefined) return version;
    }
  }
  return undefined;
}
