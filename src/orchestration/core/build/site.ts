import { hintedStart } from "./hints/hints.ts";
import { hideManifests, pagesBase, servedByNginx, servePages } from "./pages.ts";
import { command, firstOf, jsonOf, fieldsOf, lines, type Runtime, type SourceTree } from "./runtime.ts";

export const deno: Runtime = {
  name: "deno",
  mark: (tree) => firstOf(tree, ["deno.json", "deno.jsonc", "deno.lock"]) ?? importing(tree),
  plan(tree, { version, entrypoint }) {
    const tasks = fieldsOf(jsonOf(tree, "deno.json").tasks);
    const file = entrypoint ?? firstOf(tree, denoFiles);
    const named = ["start", "serve", "prod", "production"].find((one) => {
      const line = tasks[one];
      return typeof line === "string" && !/--watch/.test(line);
    });
    const task = entrypoint === undefined && named !== undefined;
    const settings = ["deno.json", "deno.jsonc", "import_map.json"].map((one) => tree.read(one) ?? "").join("\n");
    const isFresh = /"(?:\$fresh\/|@fresh\/core|fresh)"\s*:/.test(settings);
    const isOld = version === undefined && isOfFirst(tree, file);
    const builds = isFresh && typeof tasks.build === "string";
    const rights = isFresh ? ["-A"] : ["--allow-net", "--allow-env", "--allow-read"];
    const run = ["run", ...rights, file ?? ""];
    const own = task ? ["deno", "task", named ?? ""] : file === undefined ? undefined : ["deno", ...run];
    const start = own ?? hintedStart(tree) ?? [];
    return {
      port: 8000,
      readsPort: true,
      isTold: isFresh,
      noStart: start.length === 0 ? noStart : undefined,
      notes: isOld
        ? [`Deno ${lastOfFirst} is used, as the imports are of its time; to use another, set build.lang.version`]
        : [],
      dockerfile: lines(
        `ARG BASE=denoland/deno:${version ?? (isOld ? lastOfFirst : "latest")}`,
        "FROM ${BASE}",
        "WORKDIR /app",
        "COPY . .",
        file !== undefined && `RUN deno cache ${file}`,
        builds && "RUN deno task build",
        "ENV PORT=8000",
        "USER deno",
        "EXPOSE 8000",
        start.length > 0 && command(...start),
      ),
    };
  },
};

/** A file with imports that only Deno has. */
function importing(tree: SourceTree): string | undefined {
  if (tree.has("package.json")) return undefined;
  return [...denoFiles, "deps.ts", "src/deps.ts"].find((file) =>
    /["'](?:https:\/\/deno\.land\/|jsr:)|\bDeno\.(?:serve|env|listen)\b/.test(tree.read(file) ?? ""),
  );
}

/** The second version of Deno took away what older packages call, such as Deno.serveHttp. */
const lastOfFirst = "1.46.3";

/** Whether the lock file, or what is imported, is of the time of the first version. */
function isOfFirst(tree: SourceTree, file: string | undefined): boolean {
  const lock = /"version": ?"(\d)"/.exec((tree.read("deno.lock") ?? "").slice(0, 200))?.[1];
  if (lock !== undefined) return Number(lock) < 4;
  const texts = ["import_map.json", "deno.json", "deno.jsonc", "deps.ts", "src/deps.ts", file ?? ""];
  return texts.some((one) =>
    /deno\.land\/(?:std@(?:v?0\.|v?1\.0)|x\/(?:fresh@v?1\.[0-5]\.|oak@v?(?:\d|1[0-2])\.))/.test(tree.read(one) ?? ""),
  );
}

const denoFiles = [
  ...[
    "main.ts",
    "main.tsx",
    "server.ts",
    "mod.ts",
    "main.js",
    "src/main.ts",
    "src/server.ts",
    "server/server.ts",
    "server/main.ts",
  ],
  ...["index.ts", "src/index.ts", "app.ts"],
];

/** The same where a file shows a program: beside another language, deno.json may only be for tools. */
export const denoProgram: Runtime = {
  ...deno,
  mark: (tree) => (firstOf(tree, denoFiles) === undefined ? undefined : deno.mark(tree)),
};

const noStart = "no file that starts the Deno program was found (main.ts, server.ts): set build.lang.entrypoint";

const hugoFiles = ["hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json"];

export const hugo: Runtime = {
  name: "hugo",
  mark: (tree) =>
    firstOf(tree, hugoFiles) ??
    (tree.has("config.toml") && tree.has("content") && tree.has("archetypes") ? "config.toml" : undefined),
  plan: (_tree, { version = "exts" }) => ({
    ...servedByNginx,
    notes: ["hugo makes pages in public, which nginx serves"],
    dockerfile: `${lines(`ARG BASE=hugomods/hugo:${version}`, pagesBase, "FROM ${BASE} AS build", "WORKDIR /src", "COPY . .", "RUN hugo --minify --destination /out")}${servePages("/out", "pages")}`,
  }),
};

const pages = ["index.html", "public/index.html", "dist/index.html", "docs/index.html", "src/index.html"];

/** A folder of pages, which nothing has to build. */
export const site: Runtime = {
  name: "static",
  mark: (tree) => firstOf(tree, pages),
  plan(tree) {
    const folder = firstOf(tree, pages)?.replace("index.html", "") ?? "";
    return {
      ...servedByNginx,
      dockerfile: lines(
        "ARG BASE=nginx:alpine",
        "FROM ${BASE}",
        `COPY ${folder === "" ? "." : folder} /usr/share/nginx/html`,
        folder === "" && hideManifests("/usr/share/nginx/html/"),
        "EXPOSE 80",
      ),
    };
  },
};
