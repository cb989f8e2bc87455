// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles hold such text
import { expect, test } from "bun:test";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";
import { treeOf } from "../../../../support/source-tree.ts";

type Files = Record<string, string>;
function made(files: Files, choice = {}) {
  const result = generateDockerfile(treeOf(files), choice);
  if (!result.ok) throw new Error(result.problem);
  return result.build;
}
const dockerfile = (files: Files, choice = {}) => made(files, choice).dockerfile;

const go = { "go.mod": "module example.com/shop\n", "main.go": "package main\n" };

test("programs of Go are where a Procfile looks for them, on a base with a shell", () => {
  const files = { ...go, "cmd/mails/main.go": "package main\n", Procfile: "web: bin/shop\nworker: mails -x\n" };
  const { dockerfile: text, adapt } = made(files);
  expect(text).toContain("ARG RUN_BASE=debian:stable-slim");
  expect(text).toContain("-o /out/shop ./\nRUN CGO_ENABLED=0 go build -trimpath -o /out/mails ./cmd/mails");
  expect(text).toContain("COPY --from=build /out/ bin/");
  expect(["./app -p $PORT", "bin/shop", "mails -x", "go run main.go", "sh -c x"].map(adapt)).toEqual([
    { command: "bin/shop -p $PORT" },
    { command: "bin/shop" },
    { command: "bin/mails -x" },
    { instead: "shop of the Go module" },
    { command: "sh -c x" },
  ]);
});

test("what a program of Go or Rust reads while it runs lies beside it", () => {
  const data = { "templates/a.html": "", "static/css/a.css": "", "config/config.go": "package config\n" };
  expect(dockerfile({ ...go, ...data })).toContain(
    "WORKDIR /srv\nCOPY static/ ./static/\nCOPY templates/ ./templates/\nENV",
  );
  expect(dockerfile(go)).not.toContain("WORKDIR /srv");
  const rust = {
    "Cargo.toml": '[package]\nname = "shop"\n[dependencies]\nrocket = "0.5"\n',
    "src/main.rs": "",
    "Rocket.toml": "",
  };
  const text = dockerfile({ ...rust, ...data });
  expect(text).toContain("COPY templates/ ./templates/\nCOPY Rocket.toml ./");
  expect(text).toContain("ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=8080");
});

test("a program of Go in a folder of its own is found", () => {
  const files = { "go.mod": "module x\n", "server/main.go": "package main\n", "lib/lib.go": "package lib\n" };
  expect(dockerfile(files)).toContain("-o /app ./server");
});

test("programs of Rust are where cargo puts them", () => {
  const files = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/main.rs": "",
    "src/bin/mails.rs": "",
    Procfile: "web: ROCKET_PORT=$PORT ./target/release/shop\nworker: mails\n",
  };
  const { dockerfile: text, adapt } = made(files);
  expect(text).toContain("cargo build --release --bin shop --bin mails");
  expect(text).toContain("COPY --from=build /src/target/release/mails target/release/");
  expect(["A=1 ./target/release/shop", "mails", "target/release/gone", "cargo run"].map(adapt)).toEqual([
    { command: "A=1 target/release/shop" },
    { command: "target/release/mails" },
    { instead: "shop of Cargo.toml" },
    { instead: "shop of Cargo.toml" },
  ]);
});

test("what a Procfile names of a Java build is in the image", () => {
  const spring = "<artifactId>spring-boot-maven-plugin</artifactId><goal>repackage</goal>";
  expect(dockerfile({ "pom.xml": spring, Procfile: "web: java -jar target/shop-1.jar\n" })).toContain(
    "COPY --from=build /src /app",
  );
  expect(dockerfile({ "pom.xml": spring })).not.toContain("COPY --from=build /src /app");
  const gradle = { "build.gradle": "id 'org.springframework.boot'", Procfile: "web: build/install/shop/bin/shop\n" };
  expect(dockerfile(gradle)).toContain("assemble installDist");
});

test("a jar without what it needs starts by its classes; without a program it is an error", () => {
  const main = { "src/main/java/shop/App.java": "class App { public static void main(String[] a) {} }" };
  const text = dockerfile({ "pom.xml": "<packaging>jar</packaging>", ...main });
  expect(text).toContain("dependency:copy-dependencies");
  expect(text).toContain('"-cp","/app/classes:/app/lib/*","shop.App"]');
  expect(made({ "pom.xml": "<packaging>jar</packaging>" }).noStart).toContain("does not pack a program");
  expect(dockerfile({ "pom.xml": "<packaging>war</packaging><groupId>javax.servlet</groupId>" })).toContain(
    "tomcat:9-jre21",
  );
});

test("of several modules of Maven one is built, and the others are named", () => {
  const boot = "<artifactId>spring-boot-maven-plugin</artifactId>";
  const files = {
    "pom.xml":
      "<modules><module>lib</module><module>api</module><module>admin</module></modules><java.version>18</java.version>",
    "lib/pom.xml": "",
    "api/pom.xml": boot,
    "admin/pom.xml": boot,
  };
  const build = made(files);
  // Without its parent, the plugin of Spring packs nothing by itself.
  expect(build.dockerfile).toContain("-pl api package spring-boot:repackage");
  expect(build.dockerfile).toContain("ARG BASE=maven:3-eclipse-temurin-21");
  expect(build.notes.join()).toContain("api is started, and not admin");
  expect(dockerfile(files, { path: "admin" })).toContain("-pl admin package");
});

test("commands of another builder are not in images of .NET and Elixir", () => {
  const web = '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net9.0</TargetFramework></Project>';
  expect(made({ "Shop.csproj": web }).adapt("dotnet run")).toEqual({ instead: "Shop.dll of Shop.csproj" });
  const { adapt } = made({ "mix.exs": "app: :shop" });
  expect([adapt("mix phx.server"), adapt("bin/shop start")]).toEqual([
    { instead: "the release of shop" },
    { command: "bin/shop start" },
  ]);
});

test("Apache serves in place of other servers of PHP, from the folder that they name", () => {
  const files = { "composer.json": "{}", "site/index.php": "", Procfile: "web: vendor/bin/heroku-php-apache2 site/\n" };
  const build = made(files);
  expect(build.dockerfile).toContain("APACHE_DOCUMENT_ROOT=/var/www/html/site");
  expect(build.adapt("vendor/bin/heroku-php-apache2 site/")).toEqual({ instead: "Apache with site" });
  expect(build.adapt("php artisan queue:work")).toEqual({ command: "php artisan queue:work" });
});

test("the version of PHP is one that each locked package allows", () => {
  const lock = JSON.stringify({ packages: [{ require: { php: ">=8.0" } }, { require: { php: "~8.1.0 || ~8.2.0" } }] });
  const files = { "composer.json": '{"require":{"php":"^8.1"}}', "composer.lock": lock, "index.php": "" };
  expect(dockerfile(files)).toContain("ARG BASE=php:8.2-apache");
});

test("Rails installs its assets by the packager of the folder", () => {
  const files = { Gemfile: "", "config/application.rb": "", "package.json": "{}", "pnpm-lock.yaml": "" };
  expect(dockerfile(files)).toContain("RUN npm install -g pnpm && pnpm install --frozen-lockfile");
});
