import { expect, test } from "bun:test";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";
import { treeOf } from "../../../../support/source-tree.ts";

type Files = Record<string, string>;
function text(files: Files) {
  const result = generateDockerfile(treeOf(files), {});
  return result.ok ? `${result.build.dockerfile}\n${result.build.notes.join("\n")}` : result.problem;
}

test.each([
  ["django==2.2", "3.9"],
  ["Django == 4.2.1", "3.12"],
  ["numpy==1.24.3\r\npandas==2.2.0\r\n", "3.11"],
  ["pandas==1.0.0", "3.8"],
  ["numpy>=1.20", "3.12"],
])("what is pinned to %j runs on Python %s", (requirements, version) => {
  expect(text({ "requirements.txt": requirements, "main.py": "" })).toContain(`python:${version}-slim`);
  expect(text({ "requirements.txt": requirements, "main.py": "", ".python-version": "3.7" })).toContain(
    "python:3.7-slim",
  );
});

test("a package from a file of another machine is an error", () => {
  const line = "mysqlclient @ file:///C:/Python/mysqlclient-1.4.6-cp39-win_amd64.whl";
  expect(text({ "requirements.txt": `flask\n${line}\n`, "main.py": "" })).toContain("a file of another machine");
});

test.each([
  ["gradle-2.1-all.zip", "8"],
  ["gradle-6.9.1-bin.zip", "11"],
  ["gradle-8.4-bin.zip", "17"],
  ["gradle-8.14-bin.zip", "21"],
])("%s runs on Java %s", (file, version) => {
  const properties = `distributionUrl=https\\://services.gradle.org/distributions/${file}\n`;
  const files = {
    "build.gradle": "id 'org.springframework.boot'",
    "gradle/wrapper/gradle-wrapper.properties": properties,
  };
  expect(text(files)).toContain(`eclipse-temurin:${version}-jre`);
});

test.each([
  ['{:phoenix, "~> 1.3.0"}', {}, "1.10"],
  ['{:phoenix, "~> 1.7"}', {}, "1"],
  ["", { ".tool-versions": "erlang 26\nelixir 1.15.7-otp-26\n" }, "1.15.7"],
  ["", { "elixir_buildpack.config": "elixir_version=1.14.2\n" }, "1.14.2"],
])("mix.exs with %j and %j is built by Elixir %s", (dependencies, more: Files, version) => {
  expect(text({ "mix.exs": `app: :shop, ${dependencies}`, ...more })).toContain(`BASE=elixir:${version}-slim`);
});

test("a program of Rust has the libraries that it loads", () => {
  const cargo = (dependency: string) => ({
    "Cargo.toml": `[package]\nname = "a"\n[dependencies]\n${dependency}\n`,
    "src/main.rs": "",
  });
  expect(text(cargo('diesel = { version = "2", features = ["postgres"] }'))).toContain("ca-certificates libpq5");
  expect(text({ ...cargo("x = 1"), "Cargo.lock": 'name = "openssl-sys"\n' })).toContain("ca-certificates openssl");
});

test("a build script that starts the program is an error", () => {
  const scripts = { build: "cd web && yarn build && cd .. && yarn run start", start: "node a.js" };
  expect(text({ "package.json": JSON.stringify({ scripts }), "a.js": "" })).toContain("so it never ends");
});

test("Deno with a program comes before Go; its tools alone do not", () => {
  const go = { "go.mod": "module x\n", "main.go": "package main\n", "deno.json": "{}" };
  expect(text({ ...go, "server/server.ts": "" })).toContain("denoland/deno");
  expect(text(go)).toContain("golang:");
});

test("browsers of playwright are in the image", () => {
  expect(text({ "requirements.txt": "playwright\n", "main.py": "" })).toContain(
    "RUN playwright install --with-deps chromium",
  );
});
