import { didYouMean } from "../../../base/pure/suggest.ts";
import { dotnet } from "./dotnet.ts";
import { elixir } from "./elixir.ts";
import { withEvidence } from "./evidence/evidence.ts";
import { readmeNotes } from "./evidence/readme.ts";
import { ignoredBuild } from "./hints/build-lines.ts";
import { readHints } from "./hints/hints.ts";
import { frameworkOf } from "./node/frameworks.ts";
import { readPackage } from "./node/package-json.ts";
import { go } from "./go.ts";
import { java } from "./java.ts";
import { bun, bunProgram, node, nodeProgram } from "./node/node.ts";
import { laravel, php, symfony } from "./php.ts";
import { python, pythonProgram } from "./python/python.ts";
import { rails, ruby } from "./ruby.ts";
import { rust } from "./rust.ts";
import { aptLine, type GeneratedBuild, type LanguageChoice, type Runtime, type SourceTree } from "./runtime.ts";
import { deno, denoProgram, hugo, site } from "./site.ts";

/**
 * The first whose mark is there builds the folder. Frameworks come before languages, and what shows a program before
 * what may only be a tool: a package.json beside Laravel is for its assets.
 */
const order: readonly Runtime[] = [
  ...[laravel, symfony, rails, elixir, denoProgram, go, rust, java, dotnet, deno],
  ...[bunProgram, nodeProgram, pythonProgram, ruby, php, hugo],
  ...[bun, node, python, site],
];
/** Those of a language that is named. */
const languages: readonly Runtime[] = [bun, deno, node, python, ruby, php, go, rust, java, dotnet, elixir, hugo, site];
/** Other names of the field. */
const aliases: Record<string, string> = {
  ...{
    nodejs: "node",
    rails: "ruby",
    golang: "go",
    laravel: "php",
    symfony: "php",
    django: "python",
    phoenix: "elixir",
  },
  ...{ csharp: "dotnet", kotlin: "java", pages: "static" },
};

type Generated = { ok: true; build: GeneratedBuild } | { ok: false; problem: string };

/** A Dockerfile for a folder that has none, by the files in it or by what the manifest says. */
export function generateDockerfile(source: SourceTree, choice: LanguageChoice): Generated {
  const problem = choiceProblem(choice);
  if (problem !== undefined) return { ok: false, problem };
  const named = choice.name === undefined ? undefined : (aliases[choice.name] ?? choice.name);
  const tree = remembered(source);
  const runtime =
    named === undefined
      ? order.find((one) => one.mark(tree) !== undefined)
      : languages.find(({ name }) => name === named);
  if (runtime === undefined) return { ok: false, problem: named === undefined ? nothing(tree) : unknown(named) };
  const made = runtime.plan(tree, choice);
  if ("problem" in made) return { ok: false, problem: made.problem };
  const plan = made.noStart === undefined ? withEvidence(tree, runtime.name, made) : made;
  const because = choice.name === undefined ? (runtime.mark(tree) ?? "") : "build.lang.name";
  const { port, notes = [], noStart, readsPort = false } = plan;
  const { dockerfile: packaged, notes: packageNotes } = withPackages(tree, plan.dockerfile);
  const dockerfile = withArchive(packaged);
  const said = [...notes, ...packageNotes, ...ignoredBuild(tree, dockerfile, notes)];
  const adapt = plan.adapt ?? ((line: string) => ({ command: line }));
  const beside = [
    ...(choice.name === undefined ? besideNotes(tree, runtime) : []),
    ...(choice.path === undefined ? pagesBeside(tree, dockerfile) : []),
  ];
  return {
    ok: true,
    build: {
      runtime: runtime.name,
      dockerfile,
      port,
      because,
      notes: [...said, ...ageNote(dockerfile), ...readmeNotes(tree, dockerfile, said), ...beside],
      noStart,
      adapt,
      readsPort,
    },
  };
}

/** Each mark and plan looks at the same files. */
function remembered(tree: SourceTree): SourceTree {
  const once = <T>(look: (path: string) => T) => {
    const seen = new Map<string, T>();
    return (path: string): T => {
      if (!seen.has(path)) seen.set(path, look(path));
      return seen.get(path) as T;
    };
  };
  return { has: once(tree.has), read: once(tree.read), list: once(tree.list) };
}

/** Programs in other languages beside what is built. */
function besideNotes(tree: SourceTree, built: Runtime): string[] {
  const programs = [rails, go, rust, java, dotnet, bunProgram, nodeProgram, pythonProgram, elixir, laravel];
  return programs.flatMap((one) => {
    const mark = one.name === built.name ? undefined : one.mark(tree);
    return mark === undefined
      ? []
      : [
          `${mark} shows a program in another language (${one.name}), which is not built; to build it, set build.lang.name: ${one.name}`,
        ];
  });
}

const pageFolders = [
  "client",
  "frontend",
  "front-end",
  "front",
  "web",
  "webapp",
  "ui",
  "app",
  "dashboard",
  "admin",
  "website",
];

/** Folders with pages that a build has to make, beside a program that is built without them. */
function pagesBeside(tree: SourceTree, dockerfile: string): string[] {
  const found = pageFolders.filter((folder) => {
    const found = readPackage(tree, `${folder}/`);
    return (
      frameworkOf(found) !== undefined &&
      found.scripts.build !== undefined &&
      !new RegExp(String.raw`[ /]${folder}(?:[ /"]|$)`, "m").test(dockerfile)
    );
  });
  const isPart = readPackage(tree).workspaces.length > 0 || /^FROM \S{1,60}nginx|^ARG BASE=nginx/m.test(dockerfile);
  return found.length === 0 || isPart
    ? []
    : [
        `${found.join(" and ")} ${found.length === 1 ? "holds" : "hold"} pages of another app, which this image neither builds nor serves; to deploy them too, run berth init ./${found[0]}`,
      ];
}

/** How the sentence begins that says so. */
export const noLanguage = "the folder has no Dockerfile, and no file that shows its language";

function nothing(tree: SourceTree): string {
  if (tree.has("theme.toml") || (tree.has("layouts") && tree.has("go.mod")))
    return "the folder holds a theme of Hugo and no site: build the site that uses it";
  if (tree.list("").some((name) => name.endsWith(".go")))
    return `${noLanguage}: to build its Go files, run go mod init`;
  if (tree.list("").some((name) => name.endsWith(".py")))
    return `${noLanguage}: name the packages of its Python files in requirements.txt`;
  if (tree.list("").some((name) => name.endsWith(".rb")))
    return `${noLanguage}: name the gems of its Ruby files in a Gemfile`;
  return `${noLanguage} (package.json, requirements.txt, go.mod, index.html …): write a Dockerfile, or set build.lang.name`;
}

function unknown(name: string): string {
  const names = languages.map((runtime) => runtime.name);
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

/** Images of a Debian whose packages may have moved to its archive, by language: versions below these. */
const agedBelow: Readonly<Record<string, readonly [number, number]>> = {
  ...{ node: [18, 0], ruby: [3, 1], python: [3, 9], php: [8, 1], elixir: [1, 15], golang: [1, 19] },
};

/** The language and version of an image that gets no fixes any more; undefined for any other. */
function aged(dockerfile: string): string | undefined {
  const [, node, other, version = "99"] =
    /^ARG BASE=(?:(node):(?=\d)|(\w{1,20}):(?=\d{1,3}\.))(\d{1,3}(?:\.\d{1,3})?)/m.exec(dockerfile) ?? [];
  const [major = 99, minor = 0] = version.split(".").map(Number);
  const [majorMin, minorMin] = agedBelow[node ?? other ?? ""] ?? [0, 0];
  return major > majorMin || (major === majorMin && minor >= minorMin) ? undefined : `${node ?? other} ${version}`;
}

function ageNote(dockerfile: string): string[] {
  const name = aged(dockerfile);
  return name === undefined
    ? []
    : [
        `the image is ${name}, as the folder asks for it or its packages are of that time; it gets no fixes any more, and old packages may no longer be built: move to a newer one`,
      ];
}

/** Packages of an old Debian come from its archive where its mirrors no longer have them. */
function withArchive(dockerfile: string): string {
  if (aged(dockerfile) === undefined) return dockerfile;
  return dockerfile.replaceAll(
    "RUN apt-get update && ",
    "RUN (apt-get update || (sed -i -e 's/deb.debian.org/archive.debian.org/; s/security.debian.org/archive.debian.org/; /-updates/d' /etc/apt/sources.list && apt-get -o Acquire::Check-Valid-Until=false update)) && ",
  );
}

/** A Dockerfile with the packages that other platforms install, and what is said of them. */
function withPackages(tree: SourceTree, dockerfile: string): { dockerfile: string; notes: string[] } {
  const hints = readHints(tree).packages;
  const packages = [...new Set(hints.flatMap(({ value }) => value))];
  if (packages.length === 0) return { dockerfile, notes: [] };
  const notes = hints.map(
    ({ from, value }) =>
      `the packages of ${from} (${value.join(", ")}) are installed from Debian; where Debian names one otherwise, correct ${from}`,
  );
  // An image without a shell takes no packages.
  const distroless = /^(ARG RUN_BASE=)gcr\.io\/distroless\/\S+$/m;
  const line = aptLine(...(distroless.test(dockerfile) ? ["ca-certificates"] : []), ...packages);
  const text = dockerfile.replace(distroless, "$1debian:stable-slim");
  const isAlpine = (base: string) => new RegExp(`^ARG ${base}=\\S*alpine`, "m").test(text);
  return {
    dockerfile: text.replace(/^FROM \$\{(\w+)\}.*$/gm, (from, base: string) =>
      isAlpine(base) ? from : `${from}\n${line}`,
    ),
    notes,
  };
}
