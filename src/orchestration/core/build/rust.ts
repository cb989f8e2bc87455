import { runtimeFolders } from "./runtime-folders.ts";
import { lastCommand } from "./hints/commands.ts";
import {
  type Adapted,
  aptLine,
  command,
  firstOf,
  lines,
  type Plan,
  type Runtime,
  type SourceTree,
  talksNote,
  versionIn,
} from "./runtime.ts";
import { frontEndOf } from "./front-end.ts";
import { readHints } from "./hints/hints.ts";
import { rustWebPlan } from "./rust-web.ts";
import { type Subcommand, subcommandOf } from "./subcommands.ts";

/** Names of the programs of a package of Rust. */
function rustPrograms(tree: SourceTree, folder: string): string[] {
  const text = tree.read(`${folder}Cargo.toml`) ?? "";
  const named = [...text.matchAll(/^\[\[bin\]\][^[]*?^[ \t]*name[ \t]*=[ \t]*"([\w-]+)"/gm)].map(
    ([, name = ""]) => name,
  );
  const own = /^\[package\][^[]*?^[ \t]*name[ \t]*=[ \t]*"([\w-]+)"/m.exec(text)?.[1];
  const main = own !== undefined && tree.has(`${folder}src/main.rs`) && named.length === 0 ? [own] : [];
  const more = tree.list(`${folder}src/bin`).flatMap((file) => /^([\w-]+)(?:\.rs|\/)$/.exec(file)?.[1] ?? []);
  return [...new Set([...named, ...main, ...more])];
}

function rustMembers(tree: SourceTree): string[] {
  const list = /^[ \t]*members[ \t]*=[ \t]*\[([^\][]*)\]/m.exec(tree.read("Cargo.toml") ?? "")?.[1] ?? "";
  return [...list.matchAll(/"([\w./*-]+)"/g)].flatMap(([, glob = ""]) => {
    if (!glob.endsWith("/*")) return [`${glob}/`];
    const parent = glob.slice(0, -2);
    return tree
      .list(parent)
      .filter((name) => name.endsWith("/"))
      .map((name) => `${parent}/${name}`);
  });
}

export const rust: Runtime = {
  name: "rust",
  mark: (tree) => firstOf(tree, ["Cargo.toml"]),
  plan(tree, { version, path }): Plan {
    const forWeb = path === undefined && version === undefined ? rustWebPlan(tree) : undefined;
    if (forWeb !== undefined) return forWeb;
    const folders = path === undefined ? ["", ...rustMembers(tree)] : [path.replace(/\/?$/, "/")];
    const names = folders.flatMap((folder) => rustPrograms(tree, folder));
    const { processes } = readHints(tree);
    const started = names.filter((one) => processes.some(({ command: line }) => mentions(line, one)));
    // `default-run` of Cargo.toml, or what a Procfile starts, comes before the order of the file.
    const usual = /^[ \t]*default-run[ \t]*=[ \t]*"([\w-]+)"/m.exec(tree.read("Cargo.toml") ?? "")?.[1];
    const name = [started[0], usual].find((one) => one !== undefined && names.includes(one)) ?? names[0];
    const others = names.filter((one) => one !== name && !started.includes(one));
    const toolchain = `${tree.read("rust-toolchain.toml") ?? ""}\n${tree.read("rust-toolchain") ?? ""}`;
    const wanted = version ?? versionIn(toolchain, /^[ \t]*(?:channel[ \t]*=[ \t]*")?(\d+(?:\.\d+){1,2})/m) ?? "1";
    if (name === undefined)
      return {
        problem:
          "Cargo.toml names no program (src/main.rs, src/bin or [[bin]]): name the folder of its package in build.path",
      };
    const data = runtimeFolders(tree, () => false, "rust");
    const built = [...new Set([name, ...started])];
    const takes = subcommandOf({ files: [{ path: "src/main.rs", text: sourcesOf(tree, folders) }] }, "rust");
    return {
      ...(onlyTalks(tree, folders) ? {} : { port: 8080 }),
      readsPort: true,
      adapt: (line) => adapted(line, name, built),
      notes: rustNotes(tree, folders, { name, others, data, takes }),
      dockerfile: rustDockerfile(tree, folders, { version: wanted, toolchain, name, started, data, word: takes?.word }),
    };
  },
};

function rustNotes(
  tree: SourceTree,
  folders: string[],
  { name, others, data, takes }: { name: string; others: string[]; data: string[]; takes: Subcommand | undefined },
): string[] {
  return [
    ...sourceNotes(tree, folders),
    ...(onlyTalks(tree, folders) ? [talksNote] : []),
    ...(takes === undefined ? [] : [takes.note]),
    ...frontEndOf(tree, "rust").notes,
    ...(others.length === 0
      ? []
      : [
          `of the programs of Cargo.toml, ${name} is started, and not ${others.join(", ")}; to start another, set build.path, or write a Dockerfile`,
        ]),
    ...(data.length === 0
      ? []
      : [
          `${data.map((line) => line.split(" ")[1]).join(", ")} lie beside the program in its working folder; if it reads others while it runs, write a Dockerfile`,
        ]),
  ];
}

/** `name` is the program that starts; those of `started` are named in a Procfile. */
function rustDockerfile(
  tree: SourceTree,
  folders: string[],
  made: {
    version: string;
    toolchain: string;
    name: string;
    started: string[];
    data: string[];
    word: string | undefined;
  },
): string {
  const { version, toolchain, name, started, data, word } = made;
  const pages = frontEndOf(tree, "rust");
  const programs = [...new Set([name, ...started])].map((one) => `--bin ${one}`).join(" ");
  return lines(
    `ARG BASE=${isNightly(tree, folders, toolchain) ? "rustlang/rust:nightly" : `rust:${version}`}`,
    `ARG RUN_BASE=debian:stable-slim`,
    ...pages.stage,
    "FROM ${BASE} AS build",
    "WORKDIR /src",
    "COPY . .",
    ...pages.copies,
    `RUN cargo build --release ${programs}${tree.has("Cargo.lock") ? " --locked" : ""}`,
    "FROM ${RUN_BASE}",
    aptLine("ca-certificates", ...librariesOf(tree, folders)),
    `COPY --from=build /src/target/release/${name} /usr/local/bin/app`,
    ...(started.length > 0 || data.length > 0 ? ["WORKDIR /app"] : []),
    ...started.map((one) => `COPY --from=build /src/target/release/${one} target/release/`),
    ...data,
    // Rocket reads its own.
    `ENV PORT=8080${dependsOn(tree, folders, /^[ \t]*rocket[ \t]*=/m) ? " ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=8080" : ""}`,
    "USER 65532",
    !onlyTalks(tree, folders) && "EXPOSE 8080",
    command("/usr/local/bin/app", ...(word === undefined ? [] : [word])),
  );
}

function dependsOn(tree: SourceTree, folders: string[], names: RegExp): boolean {
  return folders.some((folder) => names.test(tree.read(`${folder}Cargo.toml`) ?? ""));
}

/** Whether a program is a chat bot, which calls a service and listens nowhere. */
function onlyTalks(tree: SourceTree, folders: string[]): boolean {
  const isBot = dependsOn(tree, folders, /^[ \t]*(?:teloxide|serenity|poise|twilight-gateway|frankenstein)[ \t]*=/m);
  return isBot && !dependsOn(tree, folders, /^[ \t]*(?:axum|actix-web|rocket|warp|hyper|poem|tide|salvo)[ \t]*=/m);
}

/** The sources of programs and libraries that say how a whole package is built. */
function sourcesOf(tree: SourceTree, folders: string[]): string {
  const files = folders.flatMap((folder) => {
    const more = tree.list(`${folder}src`).filter((name) => name.endsWith(".rs"));
    return [...new Set(["main.rs", "lib.rs", ...more.slice(0, 30)])].map((name) => `${folder}src/${name}`);
  });
  return files.map((file) => tree.read(file) ?? "").join("\n");
}

function isNightly(tree: SourceTree, folders: string[], toolchain: string): boolean {
  return /\bnightly\b/.test(toolchain) || /^[ \t]*#!\[feature\(/m.test(sourcesOf(tree, folders));
}

/** What the compiler asks for and a build does not have. */
function sourceNotes(tree: SourceTree, folders: string[]): string[] {
  const text = sourcesOf(tree, folders);
  const notes: string[] = [];
  if (/^[ \t]*#!\[feature\(/m.test(text))
    notes.push(
      "#![feature(...)] needs a nightly Rust, so the newest one builds; if that is too new, name one in rust-toolchain.toml",
    );
  const read = [...text.matchAll(/\b(?:dotenv|env)!\(\s*"(?!CARGO_|OUT_DIR)(\w+)"/g)].map(([, name = ""]) => name);
  if (read.length > 0)
    notes.push(
      `the compiler reads ${[...new Set(read)].slice(0, 5).join(", ")}, which no build has: read them with std::env::var when the program runs`,
    );
  const asks = /\bquery(?:_as|_scalar|_file|_file_as)?!\(/.test(text) && dependsOn(tree, folders, /^.{0,20}\bsqlx\b/m);
  if (asks && !tree.has(".sqlx") && !tree.has("sqlx-data.json"))
    notes.push("the macros of sqlx ask a database while they compile: run cargo sqlx prepare, and commit .sqlx");
  return notes;
}

function mentions(line: string, name: string): boolean {
  return line.split(/[\s/;&|"']+/).includes(name);
}

/** Programs are where cargo puts them. Another path of one is the same program. */
function adapted(line: string, chosen: string, built: string[]): Adapted {
  const [program = ""] = lastCommand(line).words;
  if (program === "cargo") return { instead: `${chosen} of Cargo.toml` };
  const name = /^(?:\.\/|\/app\/)?(?:(?:target\/release|target\/debug|bin)\/)?([\w.-]+)$/.exec(program)?.[1];
  if (name !== undefined && built.includes(name)) return { command: line.replace(program, `target/release/${name}`) };
  return program.includes("target/") ? { instead: `${chosen} of Cargo.toml` } : { command: line };
}

/** What the program loads when it runs, by the crate that links it; each is in the base that builds. */
const libraries: readonly [crate: RegExp, library: string][] = [
  [/name = "pq-sys"|^diesel\b.{0,300}"postgres"/m, "libpq5"],
  [/name = "mysqlclient-sys"|^diesel\b.{0,300}"mysql"/m, "libmariadb3"],
  [/name = "openssl-sys"|^(?:openssl|native-tls|reqwest|teloxide|lettre)\b/m, "openssl"],
];

function librariesOf(tree: SourceTree, folders: string[]): string[] {
  const text = [tree.read("Cargo.lock") ?? "", ...folders.map((folder) => tree.read(`${folder}Cargo.toml`) ?? "")].join(
    "\n",
  );
  return libraries.filter(([crate]) => crate.test(text)).map(([, library]) => library);
}
