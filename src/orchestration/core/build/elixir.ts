import { aptLine, command, firstOf, lines, type Plan, type Runtime } from "./runtime.ts";

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
      readsPort: true,
      // Nothing of mix is in a release.
      adapt: (line) =>
        /\b(?:mix|iex|elixir)\b|_build\//.test(line) ? { instead: `the release of ${app}` } : { command: line },
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
