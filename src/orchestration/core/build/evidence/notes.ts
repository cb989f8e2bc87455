import { hasGem } from "../gems.ts";
import { readPackage } from "../node/package-json.ts";
import { firstOf, type Planned, type SourceTree } from "../runtime.ts";
import { isBuiltIn, needsMark } from "./needs.ts";
import type { Sources } from "./sources.ts";

/** Where a language's version is named, and how to name it. */
const versions: Readonly<Record<string, [name: string, files: readonly [string, RegExp][], way: string]>> = {
  node: [
    "Node",
    [
      [".nvmrc", /./],
      [".node-version", /./],
      ["package.json", /"(?:engines|volta)"\s*:\s*\{[^}]{0,300}"node"/],
      ["render.yaml", /NODE_VERSION/],
      ["nixpacks.toml", /NODE_VERSION/],
    ],
    "set engines.node in package.json",
  ],
  python: [
    "Python",
    [
      [".python-version", /./],
      ["runtime.txt", /./],
      ["pyproject.toml", /requires-python|^[ \t]*python[ \t]*=/m],
      ["Pipfile", /python_version/],
      ["render.yaml", /PYTHON_VERSION/],
    ],
    "write .python-version",
  ],
  ruby: [
    "Ruby",
    [
      [".ruby-version", /./],
      ["Gemfile", /^[ \t]*ruby ["']/m],
      ["Gemfile.lock", /^RUBY VERSION/m],
    ],
    "write .ruby-version",
  ],
  php: [
    "PHP",
    [
      ["composer.json", /"php"\s*:/],
      ["composer.lock", /"php"\s*:/],
    ],
    "name php in require of composer.json",
  ],
  elixir: [
    "Elixir",
    [
      [".tool-versions", /^elixir/m],
      ["elixir_buildpack.config", /elixir_version/],
    ],
    "write .tool-versions",
  ],
  java: [
    "Java",
    [
      ["system.properties", /runtime/],
      [".java-version", /./],
      ["pom.xml", /<(?:java\.version|maven\.compiler\.\w{1,20}|release)>/],
      ["build.gradle", /Compatibility|JavaLanguageVersion|jvmToolchain/],
      ["build.gradle.kts", /Compatibility|JavaLanguageVersion|jvmToolchain/],
    ],
    "name it in the build file",
  ],
};

export function versionNote(
  tree: SourceTree,
  { dockerfile, notes = [] }: Planned,
  language: string,
  folder: string,
): string[] {
  const [name, files, way] = versions[language] ?? ["", [], ""];
  const isAsked = files.some(([file, names]) =>
    [folder, ""].some((at) => names.test((tree.read(at + file) ?? "").slice(0, 512 * 1024))),
  );
  const version =
    language === "java"
      ? /^ARG BASE=\S{0,60}?(?:temurin-|jdk|:)(\d{1,2})(?:-jdk)?$/m.exec(dockerfile)?.[1]
      : /^ARG BASE=[\w./-]{1,60}:(\d{1,2}(?:\.\d{1,3}){0,2})/m.exec(dockerfile)?.[1];
  if (name === "" || isAsked || version === undefined || notes.some((one) => one.startsWith(`${name} `))) return [];
  return [`${name} ${version} is used, as nothing in the folder names one; to change that, ${way}`];
}

const locks: Readonly<Record<string, readonly [needs: string, locks: readonly string[]]>> = {
  node: [
    "package.json",
    ["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"],
  ],
  php: ["composer.json", ["composer.lock"]],
  ruby: ["Gemfile", ["Gemfile.lock"]],
};

/** A folder without a lock file gets other packages with each build. */
export function lockNote(tree: SourceTree, language: string): string[] {
  const [needs, files] = locks[language] ?? ["", []];
  const isOpen = needs !== "" && tree.has(needs) && firstOf(tree, files) === undefined;
  return isOpen
    ? [`no lock file stands beside ${needs}, so each build takes the newest packages that fit; commit ${files[0]}`]
    : [];
}

/** Variables that a bundler writes into pages: the config of an app reaches only what runs. */
export function builtInNote({ files }: Sources): string[] {
  const found = files.flatMap(({ text }) =>
    [...text.matchAll(/\benv\.([A-Z][A-Z0-9_]{2,60})\b/g)].map(([, name = ""]) => name),
  );
  const names = [...new Set(found)].filter((name) => isBuiltIn(name));
  return names.length === 0
    ? []
    : [
        `${needsMark}values while it is built: the pages hold ${names.slice(0, 8).join(", ")}; write them into .env.production, and the line "!.env.production" into .berthignore`,
      ];
}

/** What changes the database to fit the program, where neither its start nor its build does that. */
export function migrationNote(tree: SourceTree, folder: string, language: string): string[] {
  const { scripts, dependencies } = readPackage(tree, folder);
  const ran = ["build", "postinstall", "prestart", "start", "start:prod", "heroku-postbuild"].map(
    (name) => scripts[name] ?? "",
  );
  const has = (...paths: string[]) =>
    firstOf(
      tree,
      paths.map((path) => folder + path),
    ) !== undefined;
  const script = Object.keys(scripts).find(
    (name) =>
      !/\bmigrate dev\b|--watch/.test(scripts[name] ?? "") &&
      /^(?:db:|typeorm:|prisma:|drizzle:|knex:)?migrat(?:e|ion|ions)(?::(?:run|deploy|up|latest|prod|production))?$/.test(
        name,
      ),
  );
  const command =
    dependencies.prisma !== undefined && has("prisma/migrations", "src/prisma/migrations")
      ? ["npx", "prisma", "migrate", "deploy"]
      : script !== undefined
        ? ["npm", "run", script]
        : language === "elixir" && has("priv/repo/migrations")
          ? [
              `/app/bin/${/app:\s*:(\w+)/.exec(tree.read(`${folder}mix.exs`) ?? "")?.[1] ?? "app"}`,
              "eval",
              `${/defmodule ([\w.]{1,60})\.Mix(?:Project|file)/.exec(tree.read(`${folder}mix.exs`) ?? "")?.[1] ?? "App"}.Release.migrate`,
            ]
          : language === "ruby" && has("db/migrate") && hasGem(tree, "(?:sinatra-activerecord|standalone_migrations)")
            ? ["bundle", "exec", "rake", "db:migrate"]
            : has("alembic.ini")
              ? ["alembic", "upgrade", "head"]
              : has("migrations/alembic.ini")
                ? ["flask", "db", "upgrade"]
                : undefined;
  if (command === undefined || /migrat|db push|db:push|db upgrade|upgrade head/.test(ran.join("\n"))) return [];
  return [
    `no migration runs by itself; to run them before each version, write release: { command: ${JSON.stringify(command).replaceAll(",", ", ")} }`,
  ];
}
