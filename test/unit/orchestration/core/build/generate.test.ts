// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles hold such text
import { describe, expect, test } from "bun:test";
import { buildId } from "../../../../../src/orchestration/core/build/build-id.ts";
import { builtImage } from "../../../../../src/orchestration/core/build/built-image.ts";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";

const tree = (files: Record<string, string>) => ({
  has: (path: string) => Object.keys(files).some((file) => file === path || file.startsWith(`${path}/`)),
  read: (path: string) => files[path],
});
const generate = (files: Record<string, string>, choice = {}) => generateDockerfile(tree(files), choice);
function made(files: Record<string, string>, choice = {}) {
  const result = generate(files, choice);
  if (!result.ok) throw new Error(result.problem);
  return result.build;
}

const json = (value: object) => JSON.stringify(value);

describe("the language of a folder", () => {
  test.each([
    ["go", { "go.mod": "module x\ngo 1.23\n" }, "golang:1.23"],
    ["rust", { "Cargo.toml": '[package]\nname = "shop"\n', "Cargo.lock": "" }, "/src/target/release/shop"],
    ["java", { "pom.xml": "<x/>" }, "maven:3-eclipse-temurin-21"],
    ["java", { "build.gradle": "" }, "gradle --no-daemon assemble"],
    ["elixir", { "mix.exs": "app: :shop," }, '["/app/bin/shop","start"]'],
    ["bun", { "package.json": "{}", "bun.lock": "" }, "bun install --frozen-lockfile"],
    ["deno", { "deno.json": "{}", "main.ts": "" }, "deno cache main.ts"],
    ["node", { "package.json": json({ engines: { node: ">=20" } }) }, "node:20-slim"],
    ["node", { "package.json": "{}", ".nvmrc": "v18.2.0", "server.js": "" }, 'CMD ["node","server.js"]'],
    ["node", { "package.json": json({ scripts: { start: "x", build: "y" } }), "package-lock.json": "" }, "RUN npm ci"],
    ["node", { "package.json": "{}", "pnpm-lock.yaml": "" }, "pnpm install --frozen-lockfile"],
    ["node", { "package.json": "not json", "yarn.lock": "" }, "yarn install --frozen-lockfile"],
    ["python", { "requirements.txt": "", ".python-version": "3.12" }, "python:3.12-slim"],
    ["python", { "pyproject.toml": "", "uv.lock": "" }, "uv sync --frozen"],
    ["python", { "pyproject.toml": "", "poetry.lock": "" }, "poetry install --only main"],
    ["python", { "requirements.txt": "", "manage.py": "" }, '"manage.py"'],
    ["ruby", { Gemfile: 'ruby "3.2.1"\n', "config.ru": "" }, "ruby:3.2.1-slim"],
    ["ruby", { Gemfile: "", "config/application.rb": "" }, "assets:precompile"],
    ["php", { "composer.json": "{}", "public/index.php": "" }, "/var/www/html/public"],
    ["static", { "index.html": "" }, "nginx:alpine"],
  ])("%s", (runtime, files, text) => {
    const build = made(files as Record<string, string>);
    expect(build.runtime).toBe(runtime);
    expect(build.dockerfile).toContain(text);
  });

  test("whatever it is, the base image is an argument and the program does not run as root", () => {
    for (const file of ["go.mod", "package.json", "requirements.txt", "Gemfile"]) {
      const { dockerfile } = made({ [file]: "" });
      expect(dockerfile).toMatch(/^ARG BASE=\S+$/m);
      expect(dockerfile).toContain("FROM ${BASE}");
      expect(dockerfile).toMatch(/^USER (?!root|0)/m);
    }
  });

  test("what installs packages comes before the source, so that a change of it installs nothing again", () => {
    const { dockerfile } = made({ "package.json": "{}", "package-lock.json": "" });
    expect(dockerfile.indexOf("RUN npm ci")).toBeLessThan(dockerfile.indexOf("COPY . ."));
  });

  test("the manifest wins over what is found", () => {
    const build = made({ "package.json": "{}" }, { name: "python", version: "3.9", entrypoint: "web.py" });
    expect(build.dockerfile).toContain("python:3.9-slim");
    expect(build.dockerfile).toContain('CMD ["python","web.py"]');
    expect(made({ "go.mod": "" }, { path: "cmd/api" }).dockerfile).toContain("./cmd/api");
  });

  test.each([
    [{ "README.md": "" }, {}, "the folder has no Dockerfile"],
    [{}, { name: "pyton" }, '"pyton" is not known; did you mean "python"'],
    [{ "go.mod": "" }, { version: "1\nRUN evil" }, "is not a version"],
    [{ "go.mod": "" }, { path: "a b" }, "is not a path"],
    [{ "package.json": "{}" }, { entrypoint: 'x"]\nRUN evil' }, "is not a path"],
  ])("%j with %j is refused", (files, choice, text) => {
    const result = generate(files as Record<string, string>, choice);
    expect(result).toEqual({ ok: false, problem: expect.stringContaining(text) });
  });

  test("versions in files cannot leave their line", () => {
    const { dockerfile } = made({ "package.json": "{}", ".nvmrc": "18\nRUN evil" });
    expect(dockerfile).toContain("node:18-slim");
    expect(dockerfile).not.toContain("evil");
  });
});

test("a build is named by what it is made from", () => {
  const input = { context: "c", dockerfile: "Dockerfile", target: undefined, args: { A: "1", B: "2" } };
  expect(buildId(input)).toBe(buildId({ ...input, args: { B: "2", A: "1" } }));
  for (const other of [{ context: "d" }, { dockerfile: "D" }, { target: "t" }, { args: { A: "1" } }]) {
    expect(buildId({ ...input, ...other })).not.toBe(buildId(input));
  }
});

test("the image of a spec without one", () => {
  expect(builtImage("shop", "web", { buildId: undefined })).toBe("shop-web:latest");
  expect(builtImage("shop", "web", { buildId: "0123456789ab" })).toBe("shop-web:0123456789ab");
});
