/** What a source folder holds, as far as a Dockerfile is made from it. Paths have forward slashes. */
export interface SourceTree {
  has(path: string): boolean;
  /** Text of a file; undefined where there is none, or none that a person wrote. */
  read(path: string): string | undefined;
  /** Names in a folder, sorted; `""` is the folder itself. Folders end with a slash. Empty where there is none. */
  list(folder: string): string[];
}

/** What a manifest says of the language, in place of what is found. */
export interface LanguageChoice {
  name?: string | undefined;
  version?: string | undefined;
  /** File that starts the program. */
  entrypoint?: string | undefined;
  /** Part of the folder that holds the program. */
  path?: string | undefined;
}

/** A Dockerfile that was made for a folder. */
export interface GeneratedBuild {
  runtime: string;
  dockerfile: string;
  /** Where the program listens; undefined where that is not known. */
  port: number | undefined;
  /** The files that decided it, for people. */
  because: string;
  /** What was assumed, each with what to change if it is wrong. */
  notes: string[];
  /** Why the image starts nothing by itself; undefined where it does. */
  noStart: string | undefined;
  adapt: (command: string) => Adapted;
  /** The program listens where the variable PORT says. */
  readsPort: boolean;
}

/**
 * How a command that other platforms run in the source folder runs in the image. `instead`: it does not, and this is what
 * starts.
 */
export type Adapted = { command: string } | { instead: string };

/** How a folder is built; `problem` says why it cannot be, and what to write. */
export type Plan = Planned | { problem: string };

export interface Planned {
  dockerfile: string;
  port?: number | undefined;
  /** The image itself tells the program where to listen, whatever its sources say. */
  isTold?: boolean | undefined;
  /** Where the sources of the program are, with a slash at its end. */
  folder?: string;
  notes?: string[];
  noStart?: string | undefined;
  /** Without it, such a command runs as it is. */
  adapt?: (command: string) => Adapted;
  /** The program listens where the variable PORT says. */
  readsPort?: boolean;
}

/** One language or framework: when it is meant, and how it is built. */
export interface Runtime {
  name: string;
  /** What shows it, for people; undefined: it is not this one. */
  mark(tree: SourceTree): string | undefined;
  plan(tree: SourceTree, choice: LanguageChoice): Plan;
}

/** The first of these files that is there. */
export function firstOf(tree: SourceTree, paths: readonly string[]): string | undefined {
  return paths.find((path) => tree.has(path));
}

/** A JSON file as an object; empty where it is none. */
export function jsonOf(tree: SourceTree, path: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(tree.read(path) ?? "{}"));
  } catch {
    return {};
  }
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The version that a file names, such as `22` in `.nvmrc`; only digits and dots, so that it cannot be anything else. */
export function versionIn(text: string | undefined, pattern: RegExp): string | undefined {
  const found = pattern.exec(text ?? "")?.[1];
  return found !== undefined && /^\d+(?:\.\d+){0,2}$/.test(found) ? found : undefined;
}

/** A longer range is nothing that a person wrote, and would take long to be read. */
const rangeMax = 1000;

/**
 * The newest of some versions (`3.13`, the newest first) that a range of npm, Python, Ruby or Composer allows; undefined
 * where it allows none, or is not a range.
 */
export function newestIn(range: string | undefined, known: readonly string[]): string | undefined {
  if (range === undefined || range.length > rangeMax || range.trim() === "") return undefined;
  const words = npmWords(range);
  try {
    return known.find((version) => Bun.semver.satisfies(wholeVersion(version), words));
  } catch {
    return undefined;
  }
}

/** `3.13` stands for its last patch. */
function wholeVersion(version: string): string {
  return [...version.split("."), "99", "99"].slice(0, 3).join(".");
}

/** What others write otherwise, in the words of npm: `~=3.10`, `~> 3.2`, `>=3.9,<3.12`, `^8.1|^8.2`. */
function npmWords(range: string): string {
  return range
    .replaceAll(/\|\|?/g, " || ")
    .replaceAll(/(?:~=|~>)\s*(\d+)\.(\d+)\.[\d.]+/g, ">=$1.$2.0 <$1.$2.100")
    .replaceAll(/(?:~=|~>)\s*(\d+)\.(\d+)/g, ">=$1.$2.0 <$1.100.0")
    .replaceAll(/==\s*([\d.]+)\.\*/g, "$1.x")
    .replaceAll(/==\s*([\d.]+)/g, "$1")
    .replaceAll(/!=\s*[\d.*]+/g, "")
    .replaceAll(",", " ")
    .replaceAll(/([<>]=?)\s+/g, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The lines of a Dockerfile; undefined ones are left out. */
export function lines(...all: (string | undefined | false)[]): string {
  return `${all.filter((line): line is string => typeof line === "string").join("\n")}\n`;
}

/** A command in the form that no shell reads. */
export function command(...words: string[]): string {
  return `CMD ${JSON.stringify(words)}`;
}

/** A name of a file or program that may stand in a Dockerfile's line; undefined for any other. */
export function plainName(text: string | undefined): string | undefined {
  return text !== undefined && /^[\w.@+-][\w./@+-]{0,200}$/.test(text) ? text : undefined;
}

/** Packages of Debian, in one line that leaves nothing behind. */
export function aptLine(...packages: string[]): string | undefined {
  if (packages.length === 0) return undefined;
  return `RUN apt-get update && apt-get install -y --no-install-recommends ${packages.join(" ")} && rm -rf /var/lib/apt/lists/*`;
}

/** What to write where berth took the wrong file. */
export const namesStart = "to start another file, set build.lang.entrypoint";

/** The note for a program that only calls others, such as a chat bot. */
export const talksNote =
  "the program listens nowhere, as its packages show a bot; if it does listen, add ports, and probes.readiness with that port";
