import { command, firstOf, lines, type Runtime, versionIn } from "./runtime.ts";

const small = "debian:stable-slim";

const go: Runtime = {
  name: "go",
  port: 8080,
  mark: (tree) => firstOf(tree, ["go.mod"]),
  dockerfile(tree, { version, path }) {
    const wanted = version ?? versionIn(tree.read("go.mod"), /^go (\d+\.\d+)/m) ?? "1";
    return lines(
      `ARG BASE=golang:${wanted}`,
      "ARG RUN_BASE=gcr.io/distroless/static-debian12:nonroot",
      "FROM ${BASE} AS build",
      "WORKDIR /src",
      `COPY go.mod${tree.has("go.sum") ? " go.sum" : ""} ./`,
      "RUN go mod download",
      "COPY . .",
      `RUN CGO_ENABLED=0 go build -trimpath -o /app ./${path ?? ""}`,
      "FROM ${RUN_BASE}",
      "COPY --from=build /app /app",
      "ENV PORT=8080",
      "USER 65532",
      "EXPOSE 8080",
      command("/app"),
    );
  },
};

const rust: Runtime = {
  name: "rust",
  port: 8080,
  mark: (tree) => firstOf(tree, ["Cargo.toml"]),
  dockerfile(tree, { version = "1" }) {
    const name = /^\s*name\s*=\s*"([\w-]+)"/m.exec(tree.read("Cargo.toml") ?? "")?.[1] ?? "app";
    return lines(
      `ARG BASE=rust:${version}`,
      `ARG RUN_BASE=${small}`,
      "FROM ${BASE} AS build",
      "WORKDIR /src",
      "COPY . .",
      `RUN cargo build --release${tree.has("Cargo.lock") ? " --locked" : ""}`,
      "FROM ${RUN_BASE}",
      `COPY --from=build /src/target/release/${name} /usr/local/bin/app`,
      "ENV PORT=8080",
      "USER 65532",
      "EXPOSE 8080",
      command("/usr/local/bin/app"),
    );
  },
};

const java: Runtime = {
  name: "java",
  port: 8080,
  mark: (tree) => firstOf(tree, ["pom.xml", "build.gradle", "build.gradle.kts"]),
  dockerfile(tree, { version = "21" }) {
    const isMaven = tree.has("pom.xml");
    const [image, build, folder] = isMaven
      ? [`maven:3-eclipse-temurin-${version}`, "mvn -q -DskipTests package", "target"]
      : [`gradle:jdk${version}`, "gradle --no-daemon assemble", "build/libs"];
    return lines(
      `ARG BASE=${image}`,
      `ARG RUN_BASE=eclipse-temurin:${version}-jre`,
      "FROM ${BASE} AS build",
      "WORKDIR /src",
      "COPY . .",
      `RUN ${build} && mkdir /out && cp "$(ls -S ${folder}/*.jar | grep -v plain | head -n 1)" /out/app.jar`,
      "FROM ${RUN_BASE}",
      "COPY --from=build /out/app.jar /app.jar",
      "ENV PORT=8080",
      "USER 65532",
      "EXPOSE 8080",
      command("java", "-XX:MaxRAMPercentage=75", "-jar", "/app.jar"),
    );
  },
};

const elixir: Runtime = {
  name: "elixir",
  port: 4000,
  mark: (tree) => firstOf(tree, ["mix.exs"]),
  dockerfile(tree, { version = "1" }) {
    const app = /app:\s*:(\w+)/.exec(tree.read("mix.exs") ?? "")?.[1] ?? "app";
    return lines(
      `ARG BASE=elixir:${version}-slim`,
      "FROM ${BASE} AS build",
      "WORKDIR /src",
      "ENV MIX_ENV=prod",
      "RUN mix local.hex --force && mix local.rebar --force",
      `COPY mix.exs${tree.has("mix.lock") ? " mix.lock" : ""} ./`,
      "RUN mix deps.get --only prod",
      "COPY . .",
      tree.has("assets") && "RUN mix assets.deploy",
      "RUN mix release --path /out",
      "FROM ${BASE}",
      "COPY --from=build /out /app",
      "ENV PORT=4000 PHX_SERVER=true",
      "USER 65532",
      "EXPOSE 4000",
      command(`/app/bin/${app}`, "start"),
    );
  },
};

const site: Runtime = {
  name: "static",
  port: 80,
  mark: (tree) => firstOf(tree, ["index.html", "public/index.html", "dist/index.html"]),
  dockerfile(tree) {
    const folder = firstOf(tree, ["index.html", "public/index.html", "dist/index.html"])?.replace("index.html", "");
    return lines(
      "ARG BASE=nginx:alpine",
      "FROM ${BASE}",
      `COPY ${folder === undefined || folder === "" ? "." : folder} /usr/share/nginx/html`,
      "EXPOSE 80",
    );
  },
};

/** Languages that are compiled first, and a folder of pages, which comes last. */
export const compiledRuntimes: readonly Runtime[] = [go, rust, java, elixir];
export const siteRuntime = site;
