import { type Sources, sourcesOf } from "./evidence/sources.ts";
import { type FrontEnd, frontEndOf } from "./front-end.ts";
import { readHints } from "./hints/hints.ts";
import { lastCommand } from "./hints/commands.ts";
import { runtimeFolders } from "./runtime-folders.ts";
import { subcommandOf } from "./subcommands.ts";
import {
  type Adapted,
  command,
  lines,
  plainName,
  type Plan,
  type Runtime,
  type SourceTree,
  versionIn,
} from "./runtime.ts";

const small = "debian:stable-slim";
const smallest = "gcr.io/distroless/static-debian12:nonroot";
const usualPrograms = ["server", "api", "web", "app", "main", "http"];

/** Whether a folder holds package main. */
function isMain(tree: SourceTree, folder: string): boolean {
  const within = folder === "" ? "" : `${folder}/`;
  const isCode = (file: string) => file.endsWith(".go") && !file.endsWith("_test.go");
  return tree.list(folder).some((file) => isCode(file) && /^package main\b/m.test(tree.read(within + file) ?? ""));
}

/** Folders of a Go module that hold a program: below cmd, else one below the module itself. */
function goPrograms(tree: SourceTree): string[] {
  const below = (parent: string) =>
    tree
      .list(parent)
      .filter((name) => name.endsWith("/"))
      .map((name) => (parent === "" ? name : `${parent}/${name}`).slice(0, -1))
      .filter((folder) => plainName(folder) !== undefined && isMain(tree, folder));
  const usual = below("cmd");
  if (isMain(tree, "cmd")) return ["cmd", ...usual];
  const near = usual.length > 0 ? usual : below("");
  const folders = tree
    .list("")
    .filter((name) => name.endsWith("/") && !/^(?:\.|_|vendor|node_modules|test|example|tool|script|hack)/.test(name));
  return near.length > 0 ? near : folders.flatMap((name) => below(name.slice(0, -1)));
}

function isHugo(tree: SourceTree): boolean {
  return ["theme.toml", "layouts", "content", "hugo.toml", "hugo.yaml"].some((path) => tree.has(path));
}

function holdsGo(tree: SourceTree): boolean {
  const isCode = (folder: string) => tree.list(folder).some((file) => file.endsWith(".go"));
  const below = (parent: string) =>
    tree
      .list(parent.replace(/\/$/, ""))
      .filter((name) => name.endsWith("/"))
      .map((name) => parent + name);
  const near = below("");
  return (
    isCode("") ||
    near.some((folder) => isCode(folder.slice(0, -1)) || below(folder).some((deeper) => isCode(deeper.slice(0, -1))))
  );
}

function moduleName(text: string): string {
  const name = /^module (\S{1,1000})[ \t\r]*$/m.exec(text)?.[1] ?? "";
  const own =
    name
      .replace(/\/v\d+$/, "")
      .split(/[^\w.-]/)
      .at(-1) ?? "";
  return own;
}

/** What is built: folders of package main, the one that starts first. */
interface Programs {
  chosen: string;
  others: string[];
}

function programsOf(tree: SourceTree, path: string | undefined, named: string): Programs | undefined {
  const isRoot = isMain(tree, "");
  const all = goPrograms(tree);
  if (path !== undefined) return { chosen: path, others: [] };
  if (isRoot) return { chosen: "", others: all.filter((folder) => folder.startsWith("cmd")) };
  const wanted = [`${named}d`, `${named}-server`, named, ...usualPrograms].map((name) =>
    all.find((folder) => folder.split("/").at(-1) === name),
  );
  const chosen = wanted.find((folder) => folder !== undefined) ?? all[0];
  return chosen === undefined ? undefined : { chosen, others: all.filter((folder) => folder !== chosen) };
}

export const go: Runtime = {
  name: "go",
  // Sites and themes of Hugo have a go.mod and no program.
  mark: (tree) => (tree.has("go.mod") && (!isHugo(tree) || holdsGo(tree)) ? "go.mod" : undefined),
  plan(tree, { version, path }): Plan {
    const module = tree.read("go.mod") ?? "";
    const own = moduleName(module);
    const wanted =
      version ?? versionIn(module, /^toolchain go(\d+\.\d+)/m) ?? versionIn(module, /^go (\d+\.\d+)/m) ?? "1";
    const { processes } = readHints(tree);
    const programs = programsOf(tree, path, own) ?? { chosen: "", others: [] };
    const hasCode = tree.list("").some((file) => file.endsWith(".go"));
    if (programs.chosen === "" && (hasCode || holdsGo(tree)) && !isMain(tree, ""))
      return {
        problem:
          "the Go module has no program in its folder or below cmd: name the folder of package main in build.path",
      };
    const { chosen, others } = programs;
    const nameOf = (folder: string) => (folder === "" ? own : (folder.split("/").at(-1) ?? ""));
    // Commands of a Procfile are for a shell, and name programs as they are installed.
    const isNamed = processes.length > 0 && plainName(own) !== undefined;
    const built = isNamed ? [chosen, ...others] : [chosen];
    const data = runtimeFolders(tree, (folder) => isMain(tree, folder), "go");
    const pages = frontEndOf(tree, "go");
    const takes = subcommandOf(programSources(tree, chosen), "go");
    return {
      port: 8080,
      readsPort: true,
      adapt: (line) => adapted(line, { names: built.map(nameOf), chosen: nameOf(chosen) }),
      notes: [
        ...(others.length === 0 || isNamed ? [] : [otherNote(chosen, others)]),
        ...(data.length === 0 ? [] : [dataNote(data)]),
        ...(takes === undefined ? [] : [takes.note]),
        ...pages.notes,
      ],
      dockerfile: goDockerfile(tree, wanted, { built, isNamed, nameOf, data, word: takes?.word, pages }),
    };
  },
};

/** `built`: folders of the programs, the one that starts first; `isNamed`: each is installed under its own name. */
function goDockerfile(
  tree: SourceTree,
  version: string,
  {
    built,
    isNamed,
    nameOf,
    data,
    word,
    pages,
  }: {
    built: string[];
    isNamed: boolean;
    nameOf: (folder: string) => string;
    data: string[];
    word: string | undefined;
    pages: FrontEnd;
  },
): string {
  // A database library in C needs a compiler, and its own C library when it runs.
  const needsC = /^[ \t]*(?:require )?github\.com\/mattn\/go-sqlite3 /m.test(tree.read("go.mod") ?? "");
  return lines(
    `ARG BASE=golang:${version}`,
    `ARG RUN_BASE=${needsC || isNamed ? small : smallest}`,
    ...pages.stage,
    "FROM ${BASE} AS build",
    "WORKDIR /src",
    `COPY go.mod${tree.has("go.sum") ? " go.sum" : ""} ./`,
    !tree.has("vendor") && "RUN go mod download",
    "COPY . .",
    ...pages.copies,
    ...built.map((folder) => {
      const output = isNamed ? `/out/${nameOf(folder)}` : "/app";
      return `RUN CGO_ENABLED=${needsC ? 1 : 0} go build -trimpath -o ${output} ./${folder}`;
    }),
    "FROM ${RUN_BASE}",
    ...(isNamed
      ? [
          "COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/",
          "WORKDIR /app",
          "COPY --from=build /out/ bin/",
          "ENV PATH=/app/bin:$PATH",
        ]
      : ["COPY --from=build /app /app", data.length > 0 && "WORKDIR /srv"]),
    ...data,
    "ENV PORT=8080",
    "USER 65532",
    "EXPOSE 8080",
    command(isNamed ? `/app/bin/${nameOf(built[0] ?? "")}` : "/app", ...(word === undefined ? [] : [word])),
  );
}

/** The sources of one program: those of its folder, and those that programs of a module share. */
function programSources(tree: SourceTree, chosen: string): Pick<Sources, "files"> {
  const isOther = (path: string) => {
    const folder = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
    return folder !== chosen && folder !== "" && isMain(tree, folder);
  };
  return { files: sourcesOf(tree, "go").files.filter(({ path }) => path.endsWith(".go") && !isOther(path)) };
}

function otherNote(chosen: string, others: string[]): string {
  const built = chosen === "" ? "the one of its folder" : chosen;
  return `of the programs of the Go module, ${built} is built, and not ${others.join(", ")}; to build another, set build.path`;
}

function dataNote(data: string[]): string {
  const names = data.map((line) => line.split(" ")[1]).join(", ");
  return `${names} lie beside the program in its working folder; if it reads others while it runs, write a Dockerfile`;
}

/** A program that another builder puts elsewhere (`./app`, `bin/server`) is the one that is built. */
function adapted(line: string, { names, chosen }: { names: string[]; chosen: string }): Adapted {
  const [program = ""] = lastCommand(line).words;
  const name = /^(?:\.\/|\$GOPATH\/|\/go\/)?(?:(?:bin|build|dist|out|tmp)\/)?([\w.-]+)$/.exec(program)?.[1];
  if (name === undefined || ["sh", "bash"].includes(name)) return { command: line };
  if (name === "go") return { instead: `${chosen} of the Go module` };
  const to = `bin/${names.includes(name) ? name : chosen}`;
  return { command: line.replace(program, to) };
}
