import { expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { createSent } from "../../../../src/client/build/sent.ts";
import { sourceTree } from "../../../../src/client/build/place.ts";
import { generateDockerfile } from "../../../../src/orchestration/core/build/generate.ts";
import { clientLimits } from "../../../../src/config/client-limits.ts";
import { folder } from "../../../support/files.ts";

const sent = (files: Record<string, string>, ...paths: string[]) => {
  using at = folder(files);
  return paths.filter(createSent(at.path, clientLimits.folder));
};

test("what git ignores is not there, in the folder and below", () => {
  const files = { ".gitignore": "/dist/\n*.log\n", "web/.gitignore": "out\n", "dist/a.js": "", "web/out/b": "" };
  const paths = [
    "dist",
    "dist/a.js",
    "web",
    "web/out",
    "web/out/b",
    "a.log",
    "web/a.log",
    "src/dist/x",
    "node_modules/x",
  ];
  expect(sent(files, ...paths)).toEqual(["web", "src/dist/x"]);
});

test("a .dockerignore holds in place of .gitignore, and brings files back; .berthignore adds to both", () => {
  const files = { ".gitignore": "lib\n", ".dockerignore": "*\n!src\n!lib\n", ".berthignore": "src/big\n", "src/a": "" };
  expect(sent(files, "src", "src/a", "lib/x", "other", "src/big", "src/big/x")).toEqual(["src", "src/a", "lib/x"]);
});

test("files that say how to build and run count although they are not sent", () => {
  const files = { ".dockerignore": "Dockerfile\nProcfile\nfly.toml\n.env*\n" };
  expect(sent(files, "Dockerfile", "Procfile", "fly.toml", ".env.example", ".env", "")).toHaveLength(6);
});

test("an older build on the machine of its author decides nothing", () => {
  const files = {
    "package.json": '{"main":"dist/index.js"}',
    "dist/index.js": "",
    "server.js": "",
    ".gitignore": "dist\n",
  };
  using at = folder(files);
  const tree = sourceTree(at.path, clientLimits.folder);
  expect([tree.has("dist"), tree.read("dist/index.js"), tree.list("dist"), tree.list("")]).toEqual([
    false,
    undefined,
    [],
    [".gitignore", "package.json", "server.js"],
  ]);
  expect(generateDockerfile(tree, {})).toMatchObject({
    build: { dockerfile: expect.stringContaining('CMD ["node","server.js"]') },
  });
});

test("a file of rules without end is refused, as it is where the folder is packed", () => {
  for (const name of [".gitignore", ".dockerignore", ".berthignore", "web/.gitignore"]) {
    using at = folder({ [name]: "", "web/a": "" });
    truncateSync(join(at.path, name), 9 * 1024 * 1024);
    expect(() => createSent(at.path, clientLimits.folder)("web/a")).toThrow("more than the 8388608 that are read");
  }
});
