import { resolveImport, type Source } from "./source.ts";

const declared =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|const|let|class|interface|type|enum)\s+(\w+)/gm;
const named = /\b(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?\{([^}]*)\}\s*from\s*"(\.[^"]+)"/g;
const whole =
  /\b(?:import|export)\s+(?:type\s+)?\*(?:\s+as\s+\w+)?\s*from\s*"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"\s*\)/g;

/** What is asked for of each file, by its path; `*` is everything. */
function wishes(users: readonly Pick<Source, "path" | "text">[]): Map<string, Set<string>> {
  const asked = new Map<string, Set<string>>();
  const ask = (from: string, specifier: string, names: readonly string[]) => {
    const target = resolveImport(from, specifier) ?? "";
    asked.set(target, new Set([...(asked.get(target) ?? []), ...names]));
  };
  for (const { path, text } of users) {
    for (const [, list = "", specifier = ""] of text.matchAll(named)) {
      const names = list.split(",").map((entry) => /^\s*(?:type\s+)?(\w+)/.exec(entry)?.[1] ?? "");
      ask(path, specifier, names);
    }
    for (const [, all, late] of text.matchAll(whole)) ask(path, all ?? late ?? "", ["*"]);
  }
  return asked;
}

/** Exported names that no other file imports: one text each. `users` are all files that may import one. */
export function deadExports(files: readonly Source[], users: readonly Pick<Source, "path" | "text">[]): string[] {
  const asked = wishes(users);
  return files.flatMap(({ path, code }) => {
    const wanted = asked.get(path) ?? new Set<string>();
    if (wanted.has("*")) return [];
    const names = new Set(Array.from(code.matchAll(declared), ([, name = ""]) => name));
    return [...names]
      .filter((name) => !wanted.has(name))
      .map((name) => `${path}: exports ${name}, which no other file imports; take the "export" away`);
  });
}
