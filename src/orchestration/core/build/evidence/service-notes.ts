import type { SourceTree } from "../runtime.ts";
import { type App, needsMark } from "./needs.ts";
import { imagesBeside, isImageOf, type Service, services } from "./services.ts";
import type { Sources } from "./sources.ts";

const manifests = [
  ...["package.json", "requirements.txt", "pyproject.toml", "Pipfile", "Gemfile", "composer.json", "go.mod"],
  ...["Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "mix.exs", "deno.json", "setup.py"],
  ...["prisma/schema.prisma", "src/prisma/schema.prisma", "api/db/schema.prisma", "schema.prisma", "db/schema.prisma"],
  ...["requirements/base.txt", "requirements/production.txt", "requirements/prod.txt", "gradle/libs.versions.toml"],
];

/** The manifests of a part of a tree as one text. */
export function manifestText(tree: SourceTree, folder: string): string {
  const files = [...manifests, ...projectFiles(tree, folder)].map((file) => folder + file);
  return [...files, ...sharedManifests(tree, folder)]
    .map((file) => (tree.read(file) ?? "").slice(0, 64 * 1024))
    .join("\n")
    .replaceAll(/^[^\n]{0,300}\/\/ indirect$/gm, "");
}

const sqlite =
  /"(?:sqlite3|better-sqlite3|@libsql\/client|sql\.js)"\s*:|^[ \t]*gem ["']sqlite3["']|mattn\/go-sqlite3|gorm\.io\/driver\/sqlite|modernc\.org\/sqlite|glebarez\/sqlite|^[ \t]*rusqlite\s*=|\bsqlx\b[^\n]{0,200}sqlite|\bsqlx = \{[^}]{0,300}"sqlite"|sqlite-jdbc|Data\.Sqlite|EntityFrameworkCore\.Sqlite|\{:ecto_sqlite3,|provider\s*=\s*"sqlite"/m;

/** Whether the packages keep data in SQLite, and in no server of databases. */
export function usesSqlite(text: string): boolean {
  const isServed = services.some(({ name, library }) => /SQL|MongoDB/.test(name) && library.test(text));
  return sqlite.test(text) && !isServed;
}

/**
 * What the app is a client of, by its packages and by its code, and where it finds each; empty where nothing shows one.
 * `text`: its manifests; `said`: variables that another note names.
 */
export function servicesNotes(
  tree: SourceTree,
  { sources, language, folder }: App,
  { text, said }: { text: string; said: readonly string[] },
): string[] {
  const settings = settingsOf(tree, folder, sources);
  const byPackage = services.filter(({ library }) => library.test(text));
  const bySource = services.filter(
    (service) =>
      !byPackage.includes(service) &&
      (settings.some(({ text: one }) => service.code?.test(one) === true) ||
        (addressOf(settings, service)?.isWritten ?? false)),
  );
  const found = [...byPackage, ...bySource];
  const beside = besideNotes(tree, folder, found);
  if (found.length === 0) return beside;
  const own = found.flatMap(({ kind }) => kind ?? []);
  const rest = found.filter(({ kind }) => kind === undefined).map(({ name }) => name);
  const ways = [
    ...(own.length === 0
      ? []
      : [
          `write ${own.map((kind) => `kind: ${kind}`).join(" and ")} with links, which sets ${own.map((kind) => (kind === "redis" ? "REDIS_URL" : "DATABASE_URL")).join(" and ")}`,
        ]),
    ...(rest.length === 0 ? [] : [`run ${rest.join(", ")} as an app of its own and set its address`]),
  ];
  const shows =
    bySource.length === 0 ? "packages show" : byPackage.length === 0 ? "sources show" : "packages and sources show";
  return [
    ...beside,
    `${needsMark}${found.map(({ name }) => name).join(", ")}, as its ${shows}, which this manifest does not start: ${ways.join("; ")}`,
    ...addressNotes(settings, language, found).filter(
      (note) => !said.some((name) => note.startsWith(`${needsMark}${name} `)),
    ),
  ];
}

/** Servers that a file of Compose or CI runs beside the program, and that nothing else shows. */
function besideNotes(tree: SourceTree, folder: string, found: readonly Service[]): string[] {
  const left = imagesBeside(tree, folder).filter(({ image }) => !found.some((service) => isImageOf(service, image)));
  const [first] = left;
  return first === undefined
    ? []
    : [
        `${needsMark}${left.map(({ image }) => image).join(", ")}, if the program uses what ${first.from} runs beside it, which this manifest does not start: run it as an app or a block of its own and set its address`,
      ];
}

/** Manifests of packages that the apps of a workspace share. */
function sharedManifests(tree: SourceTree, folder: string): string[] {
  if (folder === "") return [];
  const parts = ["packages", "libs"].flatMap((parent) =>
    tree
      .list(parent)
      .filter((name) => name.endsWith("/"))
      .map((name) => `${parent}/${name}`),
  );
  return parts.slice(0, 40).flatMap((part) => [`${part}package.json`, `${part}prisma/schema.prisma`]);
}

/** What names the packages of a part of a repository in other languages than Node. */
const partManifest = /^(?:mix\.exs|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?)$/;

/** Project files of .NET and Elixir, whatever their folders. */
function projectFiles(tree: SourceTree, folder: string): string[] {
  const inside = (at: string) =>
    tree
      .list((folder + at).replace(/\/$/, ""))
      .filter((name) => /\.[cf]sproj$/.test(name) || (at !== "" && partManifest.test(name)))
      .map((name) => at + name);
  const below = (at: string) =>
    tree
      .list((folder + at).replace(/\/$/, ""))
      .filter((name) => name.endsWith("/") && !name.startsWith("."))
      .map((name) => at + name);
  return [...inside(""), ...["", "src/", "apps/", "crates/"].flatMap(below).flatMap(inside)].slice(0, 30);
}

const settingFolders = ["", "config/", "conf/", "settings/", "src/config/", "app/config/", "app/", "server/config/"];
/** Settings for developers and tests say nothing of the program that runs. */
const unlike = /(?:^|[/._-])(?:dev|development|test|testing|tests|example|sample|dist|ci)(?:[/._-]|$)|compose|^\./i;

/** The sources, and the files of settings that a program reads beside them. */
function settingsOf(tree: SourceTree, folder: string, { files }: Sources): Sources["files"] {
  const more = settingFolders.flatMap((at) =>
    tree
      .list((folder + at).replace(/\/$/, ""))
      .filter(
        (name) =>
          /\.(?:json|ya?ml|toml|ini|cfg|conf|properties|neon)$/.test(name) && !/lock|^package\.json$/.test(name),
      )
      .map((name) => folder + at + name),
  );
  const others = more
    .filter((path) => !files.some((file) => file.path === path))
    .slice(0, 40)
    .map((path) => ({ path, text: (tree.read(path) ?? "").slice(0, 16 * 1024) }));
  const outside = (path: string) =>
    path.slice(folder.length).replace(/(src\/main\/)(?:java|kotlin|scala|groovy)\/.*\//, "$1");
  return [...files, ...others].filter(({ path }) => !unlike.test(outside(path)));
}

interface Address {
  file: string;
  /** A variable says it, with or without a default. */
  variable: string | undefined;
  /** The file names this machine, which is the container itself. */
  isWritten: boolean;
}

const nearby = String.raw`192\.168\.\d{1,3}\.\d{1,3}|10\.\d{1,3}\.\d{1,3}\.\d{1,3}|172\.(?:1[6-9]|2\d|3[01])\.\d{1,3}\.\d{1,3}|host\.docker\.internal`;
const isNearby = new RegExp(String.raw`${nearby}`);
const here = String.raw`(?:localhost|127\.0\.0\.1|\[::1\]|${nearby})`;
const rest = String.raw`(?:\/\/[^\s"'\x60]{0,120}?|[^"'\x60\s]{0,80}\bhost=)`;
const beside = String.raw`(?:\/\/(?:[^\s"'@/\x60$]{0,80}@)?|[^"'\x60\s]{0,80}\bhost=)(?!(?:host|server|user|your)\w{0,20}\b)[a-z][a-z\d_-]{1,40}(?::\d|[;/])`;
const driver = String.raw`\b(?:driver|adapter|dialect|type|client|DBDriver)["']?[ \t]{0,9}(?:=>|[:=])[ \t]{0,9}["']?`;
const host = String.raw`\b(?:host|hostname|server)["']?[ \t]{0,9}(?:=>|[:=])[ \t]{0,9}["']?`;
const asked =
  /(?:env|environ|getenv|ENV|get_env|Getenv|fetch_env!|env::var|config)(?:\.\w{1,20})?[.([]{1,2}[ \t]{0,3}["']?([A-Z][A-Z0-9_]{1,60})\b/;

/** What a reader of the app's own is asked for. */
const quoted = /\(.{0,60}["'`]([A-Z][A-Z0-9]{0,20}_[A-Z0-9_]{1,60})["'`]/;
/** A connection string of .NET by its name. */
const connection = /\bGetConnectionString\(\s*"(\w{1,60})"/;

/** A constant of PHP that holds the host. */
const defined = String.raw`\bdefine\([ \t]{0,3}["'](?:\w{1,20}_)?(?:HOST|HOSTNAME|SERVER)["'][ \t]{0,3},[ \t]{0,3}["']`;
const fixedHost = new RegExp(String.raw`${defined}${here}`, "i");

/** Names that PHP's code has by themselves, and does not read. */
function isConstant(text: string, name: string): boolean {
  return name === "DB_CONNECTION" || new RegExp(String.raw`\bdefine\([ \t]{0,3}["']${name}["']`).test(text);
}

/** Where the sources say that a service is. */
function addressOf(
  settings: Sources["files"],
  { name, schemes, variables, local, code }: Service,
): Address | undefined {
  const written = new RegExp(String.raw`\b(?:${schemes}):(?:${rest}${here}|${beside})`, "i");
  const split = new RegExp(String.raw`${driver}(?:pdo_)?(?:${schemes})\b`, "i");
  const apart = new RegExp(String.raw`${host}${here}`, "i");
  for (const { path, text } of settings) {
    const line = text.split("\n").find((one) => one.length < 2000 && (written.test(one) || local?.test(one) === true));
    if (line !== undefined)
      return { file: path, variable: asked.exec(line)?.[1] ?? quoted.exec(line)?.[1], isWritten: true };
    if ((split.test(text) || code?.test(text) === true) && apart.test(text))
      return { file: path, variable: undefined, isWritten: true };
  }
  const isClient = settings.some(({ text }) => code?.test(text) === true || split.test(text));
  const constant = isClient && /SQL|MariaDB/.test(name) ? settings.find(({ text }) => fixedHost.test(text)) : undefined;
  if (constant !== undefined) return { file: constant.path, variable: undefined, isWritten: true };
  const file = settings.find(({ text }) => connection.test(text));
  if (file !== undefined)
    return { file: file.path, variable: `ConnectionStrings__${connection.exec(file.text)?.[1]}`, isWritten: false };
  if (variables === undefined) return undefined;
  const says = new RegExp(String.raw`^(?:[A-Z0-9]{1,20}_){0,3}(?:${variables})_?${saysPlace}$`);
  for (const { path, text } of settings)
    for (const [, variable = ""] of text.matchAll(named))
      if (says.test(variable) && !(path.endsWith(".php") && isConstant(text, variable)))
        return { file: path, variable, isWritten: false };
  return undefined;
}

const named = /(?:["'`{$]|\benv\.)([A-Z][A-Z0-9_]{2,60})\b/g;
const saysPlace =
  "(?:[A-Z0-9]{1,20}_)?(?:URL|URI|DSN|HOST|HOSTNAME|SERVERS?|ADDR|ADDRESS|CONNECTION(?:_STRING)?|CLUSTER)";

/** Where each service is looked for: a variable to set, or a file that names this machine. */
function addressNotes(settings: Sources["files"], language: string, found: readonly Service[]): string[] {
  const isSpring = settings.some(({ text }) => /^[ \t]*spring[.:]/m.test(text));
  return found.flatMap((service) => {
    const address = addressOf(settings, service);
    const isOpen =
      isSpring && /SQL|MariaDB/.test(service.name) && !settings.some(({ text }) => /\bdatasource\b/.test(text));
    if (isOpen)
      return [
        `${needsMark}${springVariable(service.name)}, as no settings say where ${service.name} is; Spring takes a database in memory in its place, or does not start`,
      ];
    if (address === undefined) return [];
    const { file, variable, isWritten } = address;
    if (variable !== undefined)
      return [`${needsMark}${variable} in env, which says where ${service.name} is (${file})`];
    if (!isWritten) return [];
    if (file.endsWith("config/database.yml"))
      return [`${needsMark}DATABASE_URL in env, which Rails reads before ${file}`];
    const isQuarkus = settings.some((one) => one.path === file && /^[ \t]*quarkus[.:]/m.test(one.text));
    const way = isQuarkus
      ? "set QUARKUS_DATASOURCE_JDBC_URL, QUARKUS_DATASOURCE_USERNAME and QUARKUS_DATASOURCE_PASSWORD with berth config set, which Quarkus reads first"
      : isSpring && /application[\w-]{0,40}\.(?:properties|ya?ml)$/.test(file)
        ? `set ${springVariable(service.name)} with berth config set, which Spring reads first`
        : language === "dotnet" && /appsettings/.test(file)
          ? "set ConnectionStrings__NAME with berth config set, which .NET reads first"
          : "read the address there from a variable, and set that";
    const text = settings.find(({ path }) => path === file)?.text ?? "";
    const isHere = /localhost|127\.0\.0\.1|::1/.test(text);
    const names = isNearby.test(text) ? "an address of another network" : "another container by its name";
    const place = isHere ? "this machine, which is the container itself" : names;
    return [`${needsMark}another address of ${service.name}: ${file} names ${place}; ${way}`];
  });
}

function springVariable(name: string): string {
  if (name === "MongoDB") return "SPRING_DATA_MONGODB_URI";
  if (name === "Redis") return "SPRING_DATA_REDIS_HOST";
  if (name === "RabbitMQ") return "SPRING_RABBITMQ_HOST";
  if (name === "Kafka") return "SPRING_KAFKA_BOOTSTRAP_SERVERS";
  return "SPRING_DATASOURCE_URL, SPRING_DATASOURCE_USERNAME and SPRING_DATASOURCE_PASSWORD";
}
