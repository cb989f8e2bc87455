import {
  aptLine,
  command,
  firstOf,
  lines,
  plainName,
  type Plan,
  type Runtime,
  type SourceTree,
  versionIn,
} from "./runtime.ts";

const small = "debian:stable-slim";

/** Folders of a Go module that hold a program, as far as their names say so. */
function goPrograms(tree: SourceTree): string[] {
  const isProgram = (folder: string) =>
    tree
      .list(folder)
      .some((file) => file.endsWith(".go") && /^package main\b/m.test(tree.read(`${folder}/${file}`) ?? ""));
  return tree
    .list("cmd")
    .filter((name) => name.endsWith("/"))
    .map((name) => `cmd/${name.slice(0, -1)}`)
    .filter((folder) => plainName(folder) !== undefined && isProgram(folder));
}

const usualPrograms = ["server", "api", "web", "app", "main", "http"];

export const go: Runtime = {
  name: "go",
  mark: (tree) => firstOf(tree, ["go.mod"]),
  plan(tree, { version, path }): Plan {
    const module = tree.read("go.mod") ?? "";
    const wanted =
      version ?? versionIn(module, /^toolchain go(\d+\.\d+)/m) ?? versionIn(module, /^go (\d+\.\d+)/m) ?? "1";
    const isMain = tree.list("").some((file) => file.endsWith(".go") && /^package main\b/m.test(tree.read(file) ?? ""));
    const programs = path === undefined && !isMain ? goPrograms(tree) : [];
    const name = /^module (\S{1,1000})[ \t\r]*$/m.exec(module)?.[1] ?? "";
    const own =
      name
        .replace(/\/v\d+$/, "")
        .split(/[^\w.-]/)
        .at(-1) ?? "";
    const chosen =
      path ??
      [own, ...usualPrograms].map((name) => `cmd/${name}`).find((folder) => programs.includes(folder)) ??
      programs[0];
    const others = programs.filter((folder) => folder !== chosen);
    if (chosen === undefined && !isMain && tree.list("").some((file) => file.endsWith(".go")))
      return {
        problem:
          "the Go module has no program in its folder or below cmd: name the folder of package main in build.path",
      };
    // A database library in C needs a compiler, and its own C library when it runs.
    const needsC = /^[ \t]*(?:require )?github\.com\/mattn\/go-sqlite3 /m.test(module);
    return {
      port: 8080,
      notes:
        others.length === 0
          ? []
          : [
              `of the programs of the Go module, ${chosen} is built, and not ${others.join(", ")}; to build another, set build.path`,
            ],
      dockerfile: lines(
        `ARG BASE=golang:${wanted}`,
        `ARG RUN_BASE=${needsC ? small : "gcr.io/distroless/static-debian12:nonroot"}`,
        "FROM ${BASE} AS build",
        "WORKDIR /src",
        `COPY go.mod${tree.has("go.sum") ? " go.sum" : ""} ./`,
        !tree.has("vendor") && "RUN go mod download",
        "COPY . .",
        `RUN CGO_ENABLED=${needsC ? 1 : 0} go build -trimpath -o /app ./${chosen ?? ""}`,
        "FROM ${RUN_BASE}",
        "COPY --from=build /app /app",
        "ENV PORT=8080",
        "USER 65532",
        "EXPOSE 8080",
        command("/app"),
      ),
    };
  },
};

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
    const folders = path === undefined ? ["", ...rustMembers(tree)] : [path.replace(/\/?$/, "/")];
    const [name, ...others] = folders.flatMap((folder) => rustPrograms(tree, folder));
    const toolchain = `${tree.read("rust-toolchain.toml") ?? ""}\n${tree.read("rust-toolchain") ?? ""}`;
    const wanted = version ?? versionIn(toolchain, /^[ \t]*(?:channel[ \t]*=[ \t]*")?(\d+(?:\.\d+){1,2})/m) ?? "1";
    if (name === undefined)
      return {
        problem:
          "Cargo.toml names no program (src/main.rs, src/bin or [[bin]]): name the folder of its package in build.path",
      };
    return {
      port: 8080,
      notes:
        others.length === 0
          ? []
          : [
              `of the programs of Cargo.toml, ${name} is started, and not ${others.join(", ")}; to start another, set build.path, or write a Dockerfile`,
            ],
      dockerfile: lines(
        `ARG BASE=rust:${wanted}`,
        `ARG RUN_BASE=${small}`,
        "FROM ${BASE} AS build",
        "WORKDIR /src",
        "COPY . .",
        `RUN cargo build --release --bin ${name}${tree.has("Cargo.lock") ? " --locked" : ""}`,
        "FROM ${RUN_BASE}",
        aptLine("ca-certificates"),
        `COPY --from=build /src/target/release/${name} /usr/local/bin/app`,
        "ENV PORT=8080",
        "USER 65532",
        "EXPOSE 8080",
        command("/usr/local/bin/app"),
      ),
    };
  },
};

export const elixir: Runtime = {
  name: "elixir",
  mark: (tree) => firstOf(tree, ["mix.exs"]),
  plan(tree, { version }): Plan {
    const project = tree.read("mix.exs") ?? "";
    const app = /app:\s*:(\w+)/.exec(project)?.[1];
    if (app === undefined)
      return {
        problem:
          "mix.exs names no app (app: :name); of an umbrella, name the app's folder in build.path, or write a Dockerfile",
      };
    const hasPackages = tree.has("assets/package.json");
    return {
      port: 4000,
      dockerfile: lines(
        // What mix.exs asks for is the oldest that fits.
        `ARG BASE=elixir:${version ?? "1"}-slim`,
        "FROM ${BASE} AS build",
        "WORKDIR /src",
        "ENV MIX_ENV=prod",
        aptLine("build-essential", "git", ...(hasPackages ? ["nodejs", "npm"] : [])),
        "RUN mix local.hex --force && mix local.rebar --force",
        `COPY mix.exs${tree.has("mix.lock") ? " mix.lock" : ""} ./`,
        "RUN mix deps.get --only prod",
        "COPY . .",
        hasPackages && "RUN npm install --prefix assets",
        /"assets\.deploy"/.test(project) && "RUN mix assets.deploy",
        "RUN mix release --path /out",
        "FROM ${BASE}",
        "COPY --from=build /out /app",
        "ENV PORT=4000 PHX_SERVER=true",
        "USER 65532",
        "EXPOSE 4000",
        command(`/app/bin/${app}`, "start"),
      ),
    };
  },
};
