import { readPackage } from "./node/package-json.ts";
import { hintedVersion } from "./hints/hints.ts";
import { aptLine, command, firstOf, lines, type Plan, type Runtime, type SourceTree, versionIn } from "./runtime.ts";

/** What mix.exs asks of Elixir is the oldest that fits; an older Phoenix does not build with the newest. */
function elixirVersion(tree: SourceTree, project: string): string {
  const phoenix = /\{:phoenix,\s*"[~>=\s]*1\.(\d+)/.exec(project)?.[1];
  const byPhoenix = phoenix === undefined || Number(phoenix) > 5 ? undefined : Number(phoenix) === 5 ? "1.12" : "1.10";
  return (
    versionIn(tree.read(".tool-versions"), /^elixir[ \t]+(\d+(?:\.\d+){0,2})/m) ??
    versionIn(tree.read("elixir_buildpack.config"), /^elixir_version=v?(\d+(?:\.\d+){0,2})/m) ??
    hintedVersion(tree, "ELIXIR_VERSION") ??
    byPhoenix ??
    "1"
  );
}

/** How the assets of Phoenix are built: by the script of their package.json that is there. */
function assetsOf(tree: SourceTree, project: string): { hasPackages: boolean; build: (string | undefined)[] } {
  const hasPackages = tree.has("assets/package.json");
  const { scripts } = readPackage(tree, "assets/");
  const makes = ["deploy", "build"].find(
    (name) => scripts[name] !== undefined && !/--watch|-dev-server/.test(scripts[name]),
  );
  const digest = /"assets\.deploy"/.test(project)
    ? "RUN mix assets.deploy"
    : makes === undefined
      ? undefined
      : "RUN mix phx.digest";
  return {
    hasPackages,
    build: [
      hasPackages ? "RUN npm install --prefix assets" : undefined,
      makes === undefined ? undefined : `RUN npm run ${makes} --prefix assets`,
      digest,
    ],
  };
}

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
    const { hasPackages, build } = assetsOf(tree, project);
    const served = ["config/runtime.exs", "config/prod.exs", "config/releases.exs", "config/config.exs"]
      .map((file) => (tree.read(file) ?? "").replaceAll(/#.*/g, ""))
      .join("\n");
    // A release of Phoenix listens where its config says so; newer ones ask PHX_SERVER.
    const isTold = /\bserver:\s*true|PHX_SERVER|:serve_endpoints/.test(served);
    const tells = /\{:phoenix,/.test(project) && tree.has("config/prod.exs") && !isTold;
    return {
      port: 4000,
      readsPort: true,
      notes:
        !hasPackages && (readPackage(tree).dependencies.brunch ?? readPackage(tree).scripts.deploy) !== undefined
          ? ["the assets of package.json (brunch) are not built: commit priv/static, or write a Dockerfile"]
          : [],
      // Nothing of mix is in a release.
      adapt: (line) =>
        /\b(?:mix|iex|elixir)\b|_build\//.test(line) ? { instead: `the release of ${app}` } : { command: line },
      dockerfile: lines(
        `ARG BASE=elixir:${version ?? elixirVersion(tree, project)}-slim`,
        "FROM ${BASE} AS build",
        "WORKDIR /src",
        "ENV MIX_ENV=prod",
        aptLine("build-essential", "git", ...(hasPackages ? ["nodejs", "npm"] : [])),
        "RUN mix local.hex --force && mix local.rebar --force",
        `COPY mix.exs${tree.has("mix.lock") ? " mix.lock" : ""} ./`,
        "RUN mix deps.get --only prod",
        "COPY . .",
        tells && "RUN echo 'config :phoenix, :serve_endpoints, true' >>config/prod.exs",
        ...build,
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
