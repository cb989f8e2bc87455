/** What a source folder holds, as far as a Dockerfile is made from it. */
export interface SourceTree {
  has(path: string): boolean;
  /** Text of a file; undefined where there is none. */
  read(path: string): string | undefined;
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
}

/** One language: when it is meant, and how it is built. */
export interface Runtime {
  name: string;
  /** The file that shows it; undefined: it is not this one. */
  mark(tree: SourceTree): string | undefined;
  dockerfile(tree: SourceTree, choice: LanguageChoice): string;
  port?: number;
}

/** The first of these files that is there. */
export function firstOf(tree: SourceTree, paths: readonly string[]): string | undefined {
  return paths.find((path) => tree.has(path));
}

/** A JSON file as an object; empty where it is none. */
export function jsonOf(tree: SourceTree, path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(tree.read(path) ?? "{}");
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** The version that a file names, such as `22` in `.nvmrc`; only digits and dots, so that it cannot be anything else. */
export function versionIn(text: string | undefined, pattern: RegExp): string | undefined {
  const found = pattern.exec(text ?? "")?.[1];
  return found !== undefined && /^\d+(?:\.\d+){0,2}$/.test(found) ? found : undefined;
}

/** The lines of a Dockerfile; undefined ones are left out. */
export function lines(...all: (string | undefined | false)[]): string {
  return `${all.filter((line): line is string => typeof line === "string").join("\n")}\n`;
}

/** A command in the form that no shell reads. */
export function command(...words: string[]): string {
  return `CMD ${JSON.stringify(words)}`;
}
