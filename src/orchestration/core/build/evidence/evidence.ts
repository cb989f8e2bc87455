import { readHints } from "../hints/hints.ts";
import { readPackage } from "../node/package-json.ts";
import { firstOf, type Planned, type SourceTree, talksNote } from "../runtime.ts";
import { hostVariables, listeningOf, type Listening, loopbackIn } from "./listening.ts";
import { type App, customNames, frameworkNotes, localNote, namesRead, needsMark, sampleNames } from "./needs.ts";
import { besideSources, keptIn, withKept } from "./kept.ts";
import { builtInNote, lockNote, migrationNote, tablesNote, tlsNote, versionNote } from "./notes.ts";
import { askedNotes } from "./asked.ts";
import { readmePort } from "./readme.ts";
import { runTimeNotes } from "./run-time.ts";
import { workerNotes } from "./workers.ts";
import { manifestText, servicesNotes, usesSqlite } from "./service-notes.ts";
import { absentFiles, sourcesOf } from "./sources.ts";

const namesShownMax = 8;
const filesShownMax = 4;
/** A plan that was checked against the sources: its port is theirs, and what they do not show is said. */
export function withEvidence(tree: SourceTree, language: string, plan: Planned): Planned {
  const { folder = "", port } = plan;
  const sources = sourcesOf(tree, language, folder);
  const isPages = plan.adapt !== undefined && port === 80 && language !== "php";
  if (isPages)
    return {
      ...plan,
      notes: [
        ...(plan.notes ?? []),
        ...versionNote(tree, plan, language, folder),
        ...lockNote(tree, language),
        ...builtInNote(sources),
        ...askedNotes(tree, { sources, language, folder }, { isPages }),
      ],
    };
  // A file without a text is yet to be written.
  if (sources.files.length > 0 && sources.files.every(({ text }) => text.trim() === "")) return plan;
  const versioned = {
    ...plan,
    notes: [...(plan.notes ?? []), ...versionNote(tree, plan, language, folder), ...lockNote(tree, language)],
  };
  const listened =
    port === undefined || plan.isTold === true ? versioned : withPort(tree, versioned, { sources, language, folder });
  return withNeeds(tree, { sources, language, folder }, listened);
}

/** Whether the manifests name a framework that serves. */
function usesServer(tree: SourceTree, folder: string): boolean {
  return /"(?:fastify|express|koa|hono|polka|restify|h3|elysia|@hapi\/hapi|@nestjs\/core|socket\.io)"\s{0,9}:|^[ \t]*(?:rocket|axum|actix-web|warp|tide|poem|salvo|rouille|ntex)[ \t]*=|gin-gonic\/gin|labstack\/echo|gofiber\/fiber|go-chi\/chi|gorilla\/mux|^[ \t]*gem ["'](?:sinatra|roda|hanami|grape|puma)["']|ktor-server|javalin|vertx-web|spark-core|\{:(?:plug_cowboy|bandit|phoenix),/m.test(
    manifestText(tree, folder),
  );
}

function withPort(tree: SourceTree, plan: Planned, { sources, language, folder }: App): Planned {
  const { port = 0, notes = [] } = plan;
  const shown = listeningOf(sources, language);
  // A framework may listen by what is not seen here.
  const seen: Listening = shown.type === "nowhere" && usesServer(tree, folder) ? { type: "unseen" } : shown;
  // The image tells .NET its port, and a README has the one of developers.
  const told = seen.type === "unseen" && language !== "dotnet" ? readmePort(tree) : undefined;
  const found: Listening = told === undefined ? seen : { type: "fixed", ...told, others: [] };
  const loopback = loopbackIn(sources, language);
  const hosts = hostVariables(sources);
  const own = found.type === "asked" ? found.variables.filter((name) => name !== "PORT") : [];
  const set = [...own.map((name) => `${name}=${port}`), ...hosts.map((name) => `${name}=0.0.0.0`)];
  const more = [...noteOf(found, port, language), ...(loopback === undefined ? [] : [loopbackNote(loopback)])];
  const dockerfile = withVariables(plan.dockerfile, set);
  if (
    found.type === "nowhere" &&
    language !== "dotnet" &&
    !readHints(tree).processes.some(({ type }) => type === "web")
  ) {
    const silent = dockerfile.replace(/^EXPOSE .*\n/gm, "");
    const says = notes.includes(talksNote);
    return {
      ...plan,
      port: undefined,
      readsPort: false,
      dockerfile: silent,
      notes: says ? notes : [...notes, ...more],
    };
  }
  if (found.type !== "fixed") return { ...plan, dockerfile, notes: [...notes, ...more] };
  const moved = dockerfile
    .replaceAll(/^EXPOSE \d+$/gm, `EXPOSE ${found.port}`)
    .replaceAll(new RegExp(`\\bPORT=${port}\\b`, "g"), `PORT=${found.port}`);
  return { ...plan, port: found.port, readsPort: false, dockerfile: moved, notes: [...notes, ...more] };
}

function noteOf(found: Listening, port: number, language: string): string[] {
  if (found.type === "fixed") {
    const others = found.others.length === 0 ? "" : ` (and names ${found.others.slice(0, 3).join(", ")})`;
    return [
      `the program listens on ${found.port}, as ${found.file} says${others}; to change that, read PORT there, or correct ports and probes`,
    ];
  }
  if (found.type === "nowhere" && language !== "dotnet")
    return [
      "nothing in the sources listens, so there is no port; if the program does listen, add ports, and probes.readiness with that port",
    ];
  if (found.type === "unseen" && language !== "dotnet")
    return [
      `the sources do not show where the program listens, so ${port} is taken, and PORT says it; to change that, correct ports and probes`,
    ];
  const named = found.type === "asked" ? found.variables.filter((name) => name !== "PORT") : [];
  return named.length === 0
    ? []
    : [`the program takes its port from ${named.join(", ")}, which the image sets to ${port}`];
}

function loopbackNote(file: string): string {
  return `${file} listens on localhost alone, which nothing outside of the container reaches: make it listen on 0.0.0.0`;
}

/** More variables in the last line ENV. */
function withVariables(dockerfile: string, set: readonly string[]): string {
  if (set.length === 0) return dockerfile;
  const names = set.map((one) => one.split("=")[0] ?? "");
  const last = [...dockerfile.matchAll(/^ENV .*\bPORT=.*$/gm)].at(-1)?.[0];
  if (last === undefined) return dockerfile;
  const kept = last.split(" ").filter((word) => !names.includes(word.split("=")[0] ?? ""));
  return dockerfile.replace(last, [...kept, ...set].join(" "));
}

function withNeeds(tree: SourceTree, app: App, plan: Planned): Planned {
  const { sources, language, folder } = app;
  const { notes = [] } = plan;
  const others = [...customNames(tree, folder), ...sampleNames(tree, folder, sources)];
  const names = [...new Set([...namesRead(sources, language), ...namesInSchema(tree, folder), ...others])].filter(
    (name) => !new RegExp(String.raw`^ENV [^\n]*\b${name}=`, "m").test(plan.dockerfile) && !notes.join().includes(name),
  );
  const shown = names.slice(0, namesShownMax).join(", ");
  const rest = names.length > namesShownMax ? ` and ${names.length - namesShownMax} more` : "";
  const packages = [manifestText(tree, folder), ...importsOf(sources, language)].join("\n");
  const isByPackage = language !== "python" && usesSqlite(packages) && !plan.dockerfile.includes("nginx");
  const written = keptIn(tree, sources, folder);
  const kept =
    isByPackage && (written === undefined || written.isUnsure === true)
      ? { what: "a database of SQLite, which its packages show,", place: undefined }
      : written;
  const missing = absentFiles(tree, sources, folder)
    .filter(({ name }) => !plan.dockerfile.includes(`/src/${name.replace(/\/\*.{0,20}$/, "")} `))
    .slice(0, filesShownMax);
  const absent = missing.map(
    ({ name, from }) =>
      `${needsMark}${name}, as ${from} shows, which is not in the folder or is not sent; commit it, or give it as an asset`,
  );
  const takesFile = asksForEnvFile(sources, language);
  const { dockerfile: image, note } =
    kept === undefined
      ? { dockerfile: plan.dockerfile, note: [] }
      : withKept(plan.dockerfile, language, besideSources(tree, folder, kept));
  const migrations = migrationsOf(tree, app, { notes, packages });
  return {
    ...plan,
    dockerfile: takesFile ? withEnvFile(image) : image,
    notes: [
      ...notes,
      ...(takesFile ? [envFileNote(image)] : []),
      ...frameworkNotes(tree, app),
      ...migrations,
      ...note,
      ...builtInNote(sources),
      ...absent,
      ...servicesNotes(tree, app, { text: packages, said: names }),
      ...tlsNote(sources, language).concat(localNote(sources, notes, plan.port)),
      ...askedNotes(tree, app, { port: plan.port, isPages: false }),
      ...workerNotes(tree, sources, packages).concat(runTimeNotes(tree, app)),
      ...(names.length === 0
        ? []
        : [
            `${needsMark}values: the sources read ${shown}${rest} and have no default; set them with berth config set${buildReads(tree, folder)}`,
          ]),
    ],
  };
}

/** What of the tables nothing brings into the database: by migrations, else by files that hold them. */
function migrationsOf(
  tree: SourceTree,
  { sources, language, folder }: App,
  { notes, packages }: { notes: readonly string[]; packages: string },
): string[] {
  const isSaid = notes.some((one) => one.startsWith("no migration runs"));
  const known = isSaid ? [] : migrationNote(tree, folder, language);
  return isSaid || known.length > 0 ? known : tablesNote(tree, sources, packages);
}

/** Packages of Deno by other names than those of npm. */
const ofDeno: Readonly<Record<string, string>> = {
  ...{ mongo: "mongodb", postgres: "pg", postgresjs: "postgres", mysql: "mysql2", sqlite: "better-sqlite3" },
};

/** What sources import where no manifest names it: of Go, whose go.mod may call it indirect, and of Deno. */
function importsOf({ files }: App["sources"], language: string): string[] {
  if (language === "go")
    return files.flatMap(({ text }) => text.match(/^[ \t]*(?:\w{1,20} )?"[\w.-]{1,60}\/[^"\n]{1,120}"$/gm) ?? []);
  if (language !== "deno") return [];
  const names = files.flatMap(({ text }) => [
    ...text.matchAll(/["'](?:https:\/\/deno\.land\/x\/|npm:\/?)((?:@[\w-]{1,40}\/)?[\w-]{1,60})/g),
  ]);
  return names.map(([, name = ""]) => `"${ofDeno[name] ?? name}": "*"`);
}

/** Variables of a schema of Prisma. */
function namesInSchema(tree: SourceTree, folder: string): string[] {
  const schemas = ["prisma/", "src/prisma/", "db/", "api/db/", ""].map((at) => `${folder}${at}schema.prisma`);
  const schema = tree.read(firstOf(tree, schemas) ?? "") ?? "";
  return [...schema.slice(0, 20_000).matchAll(/\benv\("([A-Z][A-Z0-9_]{1,60})"\)/g)].map(([, name = ""]) => name);
}

/** Whether a program ends where it finds no file .env, which is never sent. */
function asksForEnvFile({ files }: App["sources"], language: string): boolean {
  const strict: Readonly<Record<string, RegExp>> = {
    php: /\bDotenv\b[\s\S]{0,300}->load\(\)/,
    rust: /\bdotenvy?(?:::dotenv)?\(\)\s{0,40}(?:\?|\.(?:unwrap|expect)\()/,
    go: /\bgodotenv\.Load\([^)]{0,60}\)[^}]{0,160}\b(?:log\.(?:Fatal|Panic)|panic\(|os\.Exit)/,
  };
  return files.some(({ text }) => strict[language]?.test(text) === true);
}

const hasNoShell = /^(?:ARG RUN_BASE=)gcr\.io\/distroless/m;

function withEnvFile(dockerfile: string): string {
  if (hasNoShell.test(dockerfile) || dockerfile.includes("RUN touch .env")) return dockerfile;
  const last = dockerfile.lastIndexOf("\nEXPOSE ");
  const user = dockerfile.lastIndexOf("\nUSER ");
  const at = user > dockerfile.lastIndexOf("\nFROM ") ? user : last;
  return at < 0 ? dockerfile : `${dockerfile.slice(0, at)}\nRUN touch .env${dockerfile.slice(at)}`;
}

function envFileNote(dockerfile: string): string {
  return hasNoShell.test(dockerfile)
    ? `${needsMark}no file .env to start: the program ends where there is none, and it is never sent; do not end there, and set its variables with berth config set`
    : "the program ends where there is no file .env, which is never sent, so the image has an empty one; set its variables with berth config set";
}

/** Some frameworks run the program while they build it. */
function buildReads(tree: SourceTree, folder: string): string {
  const { dependencies } = readPackage(tree, folder);
  return dependencies.next === undefined
    ? ""
    : ', and, where the build asks for them, in .env.production with the line "!.env.production" in .berthignore';
}
