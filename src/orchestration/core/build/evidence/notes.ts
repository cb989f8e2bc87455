import { hasGem } from "../gems.ts";
import { prismaWords, readPackage } from "../node/package-json.ts";
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
  if (language === "python") return openPython(tree);
  const isOpen = needs !== "" && tree.has(needs) && firstOf(tree, files) === undefined;
  return isOpen
    ? [`no lock file stands beside ${needs}, so each build takes the newest packages that fit; commit ${files[0]}`]
    : [];
}

function openPython(tree: SourceTree): string[] {
  const locked = ["uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock"];
  const lines = (tree.read("requirements.txt") ?? "").slice(0, 64 * 1024).split(/\r?\n/);
  const open = lines.flatMap(
    (line) => /^[ \t]*([A-Za-z][\w.-]{0,60})(?:\[[^\]]{0,60}\])?[ \t]*(?:[>~!;#]|$)/.exec(line)?.[1] ?? [],
  );
  return open.length === 0 || firstOf(tree, locked) !== undefined
    ? []
    : [
        `no lock file stands beside requirements.txt, which names no exact version of ${open.slice(0, 3).join(", ")}${open.length > 3 ? ` and ${open.length - 3} more` : ""}, so each build takes the newest; pin them with pip freeze`,
      ];
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

const appliers =
  /\bmigrate!|embed_migrations|run_pending_migrations|[mM]igrat(?:e|ions?|or)\w{0,20}\(|[mM]igrat\w{0,20}\.(?:run|up|apply|latest|sync)|\bmigrationsRun\b|\bsynchronize["']?\s{0,3}:\s{0,3}true|\.sync\(|golang-migrate|pressly\/goose|[fF]lyway|[lL]iquibase|[uU]mzug|\bcreate_all\(|AutoMigrate|ddl-auto|EnsureCreated|mikro-orm|\bpayload\b/;
const foldersMax = 200;

/** Files with the tables of a database that nothing in the folder applies. */
export function tablesNote(tree: SourceTree, { files }: Sources, packages: string): string[] {
  const queue = [""];
  const found: string[] = [];
  for (let looks = 0; queue.length > 0 && looks < foldersMax && found.length === 0; looks++) {
    const at = queue.shift() ?? "";
    for (const name of tree.list(at.slice(0, -1))) {
      if (name.endsWith("/")) {
        if (at.split("/").length < 5 && !/^(?:\.|node_modules|vendor|venv|tests?\/|docs?\/|dist\/|target\/)/.test(name))
          queue.push(at + name);
      } else if (isTable(tree, at, name)) found.push(at + name);
    }
  }
  const first = found.find((path) => !/(?:^|[/._])down[/._]/.test(path)) ?? found[0];
  if (first === undefined) return [];
  const name = first.slice(first.lastIndexOf("/") + 1);
  const isApplied = [...files.map(({ text }) => text), packages].some(
    (text) => appliers.test(text) || text.includes(name),
  );
  return isApplied
    ? []
    : [
        `needs its tables: ${first}${found.length > 1 ? " and others beside it hold" : " holds"} them, and nothing that runs here applies it; apply it once, or write release: { command: […] } with what does`,
      ];
}

function isTable(tree: SourceTree, at: string, name: string): boolean {
  if (/(?:^|\/)(?:migrations?|migrate|Migrations)\/(?:[\w-]{1,60}\/)?$/.test(at))
    return /\.(?:sql|rb|py|exs?|php|cs|[cm]?[jt]s)$/.test(name) && !/^(?:__init__|index|mod|env)\./.test(name);
  return (
    name.endsWith(".sql") &&
    /\bcreate\s{1,9}(?:table|database)\b/i.test((tree.read(at + name) ?? "").slice(0, 256 * 1024))
  );
}

/** What changes the database to fit the program, where neither its start nor its build does that. */
export function migrationNote(tree: SourceTree, folder: string, language: string): string[] {
  const runs = language === "bun" ? ["bun", "run"] : ["npm", "run"];
  const { scripts, dependencies } = readPackage(tree, folder);
  const usesPrisma = dependencies.prisma !== undefined || dependencies["@prisma/client"] !== undefined;
  const prisma = prismaWords(dependencies, language);
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
    usesPrisma && has("prisma/migrations", "src/prisma/migrations")
      ? [...prisma, "migrate", "deploy"]
      : script !== undefined
        ? [...runs, script]
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
  if (/migrat|db push|db:push|db upgrade|upgrade head/.test(ran.join("\n"))) return [];
  if (command === undefined && usesPrisma && has("prisma/schema.prisma", "schema.prisma"))
    return [
      `needs its tables: the schema of Prisma has no migrations, and nothing brings it into the database; to do that before each version, write release: { command: ${listed([...prisma, "db", "push"])} }`,
    ];
  if (command === undefined) return [];
  const library = `${folder}lib/${/app:\s*:(\w+)/.exec(tree.read(`${folder}mix.exs`) ?? "")?.[1] ?? "app"}`;
  if (
    language === "elixir" &&
    ![`${folder}lib`, library].some((at) => tree.list(at).some((name) => /release/i.test(name)))
  )
    return [
      `no migration runs by itself, and no module runs them in a release; to run them before each version, add one with mix phx.gen.release, and write release: { command: ${listed(command)} }`,
    ];
  return [
    `no migration runs by itself; to run them before each version, write release: { command: ${listed(command)} }`,
  ];
}

const listed = (words: readonly string[]) => JSON.stringify(words).replaceAll(",", ", ");

const ownTls: Readonly<Record<string, RegExp>> = {
  node: /\bhttps\.createServer\(/,
  go: /\b(?:ListenAndServe|Run|Start|Listen)TLS\(/,
  java: /^[ \t]*server\.ssl\.key-store\b|^[ \t]+key-store[ \t]*:/m,
};
const plain: Readonly<Record<string, RegExp>> = {
  node: /\b(?:app|http|server|fastify)\.(?:createServer|listen)\(/,
  go: /\b(?:ListenAndServe|\w\.Run|\.Start|\.Listen)\(/,
};

/** A program that takes HTTPS by a key of its own, where Berth takes it and asks over HTTP. */
export function tlsNote({ files }: Sources, language: string): string[] {
  const file = files.find(({ text }) => ownTls[language]?.test(text) === true && plain[language]?.test(text) !== true);
  if (file === undefined) return [];
  const way = language === "java" ? 'write env: { SERVER_SSL_ENABLED: "false" }' : "make it listen over HTTP there";
  return [
    `needs plain HTTP: ${file.path} serves HTTPS by a key of its own, which the folder or the image may not have, and Berth takes HTTPS itself and asks the app over HTTP; ${way}`,
  ];
}
