import { didYouMean } from "../../../base/pure/suggest.ts";
import { compiledRuntimes, siteRuntime } from "./compiled-runtimes.ts";
import type { GeneratedBuild, LanguageChoice, SourceTree } from "./runtime.ts";
import { scriptRuntimes } from "./script-runtimes.ts";

const all = [...compiledRuntimes, ...scriptRuntimes, siteRuntime];
/** Other names of the field. */
const aliases: Record<string, string> = { nodejs: "node", rails: "ruby", golang: "go" };

type Generated = { ok: true; build: GeneratedBuild } | { ok: false; problem: string };

/** A Dockerfile for a folder that has none, by the files in it or by what the manifest says. */
export function generateDockerfile(tree: SourceTree, choice: LanguageChoice): Generated {
  const problem = choiceProblem(choice);
  if (problem !== undefined) return { ok: false, problem };
  const named = choice.name === undefined ? undefined : (aliases[choice.name] ?? choice.name);
  const runtime =
    named === undefined ? all.find((one) => one.mark(tree) !== undefined) : all.find(({ name }) => name === named);
  if (runtime === undefined) return { ok: false, problem: named === undefined ? nothing : unknown(named) };
  const because = choice.name === undefined ? (runtime.mark(tree) ?? "") : "build.lang.name";
  const { name, port } = runtime;
  return { ok: true, build: { runtime: name, dockerfile: runtime.dockerfile(tree, choice), port, because } };
}

const nothing =
  "the folder has no Dockerfile, and no file that shows its language (package.json, requirements.txt, go.mod, index.html …): write a Dockerfile, or set build.lang.name";

function unknown(name: string): string {
  const names = all.map((runtime) => runtime.name);
  return `build.lang.name: "${name}" is not known${didYouMean(name, names)}; known are ${names.join(", ")}`;
}

/** These become part of a Dockerfile, whose lines they must not leave. */
function choiceProblem({ version, entrypoint, path }: LanguageChoice): string | undefined {
  if (version !== undefined && !/^[\w.-]{1,64}$/.test(version))
    return `build.lang.version: "${version}" is not a version`;
  for (const [field, text] of [
    ["build.lang.entrypoint", entrypoint],
    ["build.path", path],
  ] as const) {
    if (text !== undefined && !/^[\w./@+-]{1,256}$/.test(text)) return `${field}: "${text}" is not a path`;
  }
  return undefined;
}
