import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { readSourceArchive } from "../../../../src/base/disk/source-archive.ts";
import { contextDigest } from "../../../../src/base/pure/source-tree.ts";
import { readFolder } from "../../../../src/client/build/folder.ts";
import { packFolder } from "../../../../src/client/build/pack.ts";
import { cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const inflation = { ratioMax: 100, freeBytes: 1_000_000 };
const limits = { filesMax: 100, bytesMax: 1_000_000, textBytesMax: 10_000 };
const pathsOf = async (files: Record<string, string>, always: string[] = []) => {
  using place = folder(files);
  const read = await readFolder(place.path, always, limits);
  return { paths: read.entries.map(({ path }) => path), secrets: read.secrets, rules: read.rules };
};

describe("what is left out", () => {
  test("git, modules and secrets, always; samples of secrets are not", async () => {
    const files = {
      ".git/HEAD": "x",
      "node_modules/a/b.js": "x",
      "sub/node_modules/c": "x",
      ".env": "x",
      "sub/.env.production": "x",
      ".env.example": "x",
      "tls/server.pem": "x",
      ".ssh/id_ed25519": "x",
      "a.js": "x",
    };
    expect(await pathsOf(files)).toEqual({
      paths: [".env.example", ".ssh", "a.js", "sub", "tls"],
      secrets: [".env", ".ssh/id_ed25519", "sub/.env.production", "tls/server.pem"],
      rules: undefined,
    });
  });

  test("settings that .berthignore names are sent, but never what is of a machine of its own", async () => {
    const files = {
      ".npmrc": "x",
      ".env.production": "x",
      "web/.env.staging": "x",
      ".env": "x",
      ".env.local": "x",
      "a.key": "x",
    };
    const all = Object.keys(files).map((path) => `!${path}\n`);
    const { paths, secrets } = await pathsOf({ ...files, ".berthignore": all.join(""), ".gitignore": ".env*\n" });
    expect(paths).toEqual([".berthignore", ".env.production", ".gitignore", ".npmrc", "web/.env.staging"]);
    expect(secrets).toEqual([".env", ".env.local", "a.key"]);
  });

  test("env files with a name before .env; samples and source code are not", async () => {
    const secrets = [".env.local", "a/prod.env", "prod.env", "prod.env.bak", "stage.env.2026"];
    const sent = ["a/prod.env.js", "env", "prod.env.example", "prod.env.sample", "prod.env.template", "sub.envs/a"];
    const code = ["src/app.env.d.ts", "src/environment.ts"];
    const files = Object.fromEntries([...secrets, ...sent, ...code].map((path) => [path, "x"]));
    expect(await pathsOf(files)).toEqual({ paths: [...sent, ...code].toSorted(), secrets, rules: undefined });
  });

  test("no rule of a .dockerignore brings a secret back", async () => {
    const read = await pathsOf({ ".dockerignore": "*\n!prod.env\n!a\n", "prod.env": "x", a: "x" });
    expect([read.paths, read.secrets]).toEqual([[".dockerignore", "a"], ["prod.env"]]);
  });

  test("by .gitignore files, each from its own folder", async () => {
    const files = {
      ".gitignore": "*.log\n/dist\n!keep.log\n",
      "a.log": "x",
      "keep.log": "x",
      "dist/x": "x",
      "sub/dist/y": "x",
      "sub/.gitignore": "local\n",
      "sub/local": "x",
      local: "x",
    };
    const { paths, rules } = await pathsOf(files);
    expect(paths).toEqual([".gitignore", "keep.log", "local", "sub/.gitignore", "sub/dist/y"]);
    expect(rules).toBe(".gitignore");
  });

  test("a .gitignore further down brings back what one above leaves out, but nothing of a folder that is out", async () => {
    const files = {
      ".gitignore": "*.log\nout/\n",
      "sub/.gitignore": "!keep.log\n",
      "sub/keep.log": "x",
      "sub/deep/keep.log": "x",
      "sub/a.log": "x",
      "keep.log": "x",
      "out/.gitignore": "!keep.log\n",
      "out/keep.log": "x",
    };
    const { paths } = await pathsOf(files);
    expect(paths).toEqual([".gitignore", "sub/.gitignore", "sub/deep/keep.log", "sub/keep.log"]);
  });

  test("a line of .dockerignore that is not a pattern is named", async () => {
    const files = { ".dockerignore": "# all\ndocs\n\n*.[oa\r\n", a: "x" };
    await expect(pathsOf(files)).rejects.toThrow('.dockerignore:4: "*.[oa" is not a pattern: check its brackets');
  });

  test("a Dockerfile goes by the rules that it has of its own", async () => {
    const files = {
      ".dockerignore": "web\n",
      ".gitignore": "api\n",
      "docker/web.Dockerfile": "FROM x",
      "docker/web.Dockerfile.dockerignore": "api\n",
      "api/a": "x",
      "web/a": "x",
    };
    const web = await pathsOf(files, ["docker/web.Dockerfile"]);
    expect(web.paths).toContain("web/a");
    expect(web.paths).not.toContain("api/a");
    expect(web.rules).toBe("docker/web.Dockerfile.dockerignore");
    const other = await pathsOf(files, ["Dockerfile"]);
    expect(other.paths).toContain("api/a");
    expect(other.paths).not.toContain("web/a");
    const broken = { "Dockerfile.dockerignore": "*.[oa", Dockerfile: "FROM x" };
    await expect(pathsOf(broken, ["Dockerfile"])).rejects.toThrow("Dockerfile.dockerignore:1:");
  });

  test("by .dockerignore in place of .gitignore: from the root, and what is out may come back", async () => {
    const files = {
      ".dockerignore": "docs\n!docs/api.md\n**/*.tmp\nDockerfile\n",
      ".gitignore": "a.js\n",
      "a.js": "x",
      "docs/x.md": "x",
      "docs/api.md": "x",
      "sub/docs/y.md": "x",
      "sub/z.tmp": "x",
      Dockerfile: "x",
    };
    const { paths, rules } = await pathsOf(files, ["Dockerfile"]);
    expect(paths).toEqual([".dockerignore", ".gitignore", "Dockerfile", "a.js", "docs/api.md", "sub/docs/y.md"]);
    expect(rules).toBe(".dockerignore");
  });

  test("by .berthignore besides", async () => {
    const { paths } = await pathsOf({
      ".berthignore": "big\n",
      ".gitignore": "b\n",
      big: "x",
      "sub/big": "x",
      a: "x",
      b: "x",
    });
    expect(paths).toEqual([".berthignore", ".gitignore", "a", "sub"]);
  });
});

describe("a folder is refused", () => {
  test("with a link that leads out of it, naming both", async () => {
    using place = folder({ "a/b": "x" });
    symlinkSync("../../etc", join(place.path, "a/link"));
    expect(readFolder(place.path, [], limits)).rejects.toThrow('"a/link" leads to "../../etc", out of the folder');
  });

  test("with more files or bytes than the limit", async () => {
    using place = folder({ a: "x", b: "xy" });
    expect(readFolder(place.path, [], { ...limits, filesMax: 1 })).rejects.toThrow("more than 1 files");
    expect(readFolder(place.path, [], { ...limits, bytesMax: 2 })).rejects.toThrow("more than 2 bytes");
  });
});

test("the archive holds what the digest names, and is the same at another time", async () => {
  using place = folder({ "bin/run": "#!/bin/sh\n", [`${"long/".repeat(40)}name`]: "x", empty: "", "ü.txt": "é" });
  chmodSync(join(place.path, "bin/run"), 0o775);
  mkdirSync(join(place.path, "tmp/pids"), { recursive: true });
  mkdirSync(join(place.path, "private"));
  writeFileSync(join(place.path, "private/key.txt"), "x");
  chmodSync(join(place.path, "private"), 0o700);
  chmodSync(join(place.path, "empty"), 0o600);
  symlinkSync("bin/run", join(place.path, "start"));
  const read = await readFolder(place.path, [], limits);
  read.entries.push({ path: ".made", kind: "file", mode: 0o644, digest: "x", size: 2, target: "", text: "hi" });
  const bytes = async () => Buffer.from(await new Response(packFolder(read) as never).arrayBuffer());
  const first = await bytes();
  utimesSync(join(place.path, "empty"), 1, 1);
  chmodSync(join(place.path, "bin/run"), 0o755);
  expect((await bytes()).equals(first)).toBe(true);
  const found = await readSourceArchive(
    { bytes: Readable.from([first]), size: first.length },
    { ...limits, inflation },
  );
  const own = found.filter(({ path }) => path !== ".made");
  expect(contextDigest(own)).toBe(contextDigest(read.entries.slice(0, -1)));
  const modes = Object.fromEntries(own.map(({ path, mode }) => [path, mode]));
  expect(modes).toMatchObject({ "bin/run": 0o755, empty: 0o600, "tmp/pids": 0o755, private: 0o700, "ü.txt": 0o644 });
  expect(Object.keys(modes)).not.toContain("tmp");
});

test("a reader of the archive may stop early, as an upload that fails does", async () => {
  using place = folder({ big: crypto.getRandomValues(Buffer.alloc(60_000)).toString("hex").repeat(20) });
  const read = await readFolder(place.path, [], { ...limits, bytesMax: 10_000_000 });
  const upload = async () => {
    for await (const _ of packFolder(read)) throw new Error("the server is away");
  };
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("uncaughtException", note);
  await expect(upload()).rejects.toThrow("the server is away");
  await new Promise((resolve) => setImmediate(resolve));
  process.off("uncaughtException", note);
  expect(unhandled).toEqual([]);
});

test("the secrets and the LFS pointers of a folder are told once for all its builds, and those of another folder too", async () => {
  const app = (name: string, context: string) =>
    `kind: deployment\nscope: shop\nname: ${name}\nspec: { build: { context: ${context} } }\n`;
  using place = folder({
    "berth.yaml": [app("web", "a"), app("worker", "a"), app("api", "b")].join("---\n"),
    "a/Dockerfile": "FROM scratch\n",
    "a/prod.env": "x",
    "a/big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    "b/Dockerfile": "FROM scratch\n",
    "b/dev.env": "x",
  });
  const { err } = await cli(["apply", "-f", "berth.yaml", "--dry-run"], { cwd: place.path });
  const told = err.split("\n").filter((line) => line.includes("look like secrets"));
  expect(told).toEqual([
    expect.stringContaining("shop/web: not sent, since they look like secrets: prod.env;"),
    expect.stringContaining("shop/api: not sent, since they look like secrets: dev.env;"),
  ]);
  const pointers = err.split("\n").filter((line) => line.includes("Git LFS"));
  expect(pointers).toEqual([
    expect.stringContaining('only the Git LFS pointers are sent of big.bin; to send the files, run "git lfs pull"'),
  ]);
});

test("pointers of Git LFS are found by what they hold, wherever they lie", async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12345\n`;
  using place = folder({
    "models/a.bin": pointer,
    "b.png": pointer,
    "docs/lfs.md": `A pointer:\n${pointer}`,
    "long.txt": pointer + "x".repeat(1024),
    "empty.txt": "",
    "ignored.bin": pointer,
    ".berthignore": "ignored.bin\n",
  });
  expect((await readFolder(place.path, [], limits)).pointers).toEqual(["b.png", "models/a.bin"]);
});
