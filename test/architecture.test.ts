import { describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";
import { planeEndpoints } from "../src/observability/api/endpoints.ts";
import { deadExports } from "./support/dead-exports.ts";
import { linesMax, mayImport, oddWords } from "./support/house.ts";
import { laws } from "./support/laws.ts";
import { paragraphs, readPages } from "./support/pages.ts";
import { scopeMatrix } from "./support/scope-matrix.ts";
import { source } from "./support/source.ts";

const checkout = join(import.meta.dir, "..");

let known: ReturnType<typeof readAll> | undefined;

/** Every file of the product; all laws look at the same reading. */
const readSources = () => (known ??= readAll());

async function readAll() {
  const paths = [...new Glob("{src,plugins}/**/*.{ts,tsx}").scanSync(checkout)].sort();
  return Promise.all(paths.map(async (path) => source(path, await Bun.file(join(checkout, path)).text())));
}

describe("this checkout", () => {
  for (const [name, law] of Object.entries(laws)) {
    test(name, async () => expect(law(await readSources())).toEqual([]));
  }

  test("every name that is exported is imported by another file", async () => {
    const paths = [...new Glob("{src,plugins,test}/**/*.{ts,tsx}").scanSync(checkout), "build.ts"];
    const users = await Promise.all(
      paths.map(async (path) => ({ path, text: await Bun.file(join(checkout, path)).text() })),
    );
    const files = (await readSources()).filter(({ path }) => path.startsWith("src/"));
    expect(deadExports(files, users)).toEqual([]);
  });

  test("pages are plain English", () => {
    const odd = readPages(checkout).flatMap(({ path, text }) => {
      const prose = paragraphs(text).map((one) => one.replaceAll(/`[^`]*`/g, ""));
      return prose.flatMap((one) => oddWords.flatMap(({ word }) => (word.test(one) ? [`${path}: ${one}`] : [])));
    });
    expect(odd).toEqual([]);
  });

  test("every route of the observability plane has its row in test/support/scope-matrix.ts", () => {
    const routes = planeEndpoints.map(({ method, path, scope }) => [`${method} ${path}`, scope]);
    expect(Object.fromEntries(routes)).toEqual(scopeMatrix);
  });

  test("is really read", async () => {
    const paths = (await readSources()).map(({ path }) => path);
    expect(paths).toContain("src/config/config.ts");
    expect(paths).toContain("src/base/wire/failure.ts");
  });
});

/** [law, path, text]: a file that breaks the law. */
const broken: [string, string, string][] = [
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/identity/service/a.ts",
    'import { x } from "../../orchestration/core/naming.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/http/a.ts",
    'import type { X } from "../../identity/service/users.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/base/http/a.ts",
    'import type { X } from "../../orchestration/api/manifest.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/base/words/a.ts",
    'import { x } from "../wire/failure.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/api/a.ts",
    'import { x } from "../../base/words/log.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/core/a.ts",
    'import { x } from "../../base/words/log.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/core/a.ts",
    'import type { X } from "../store/store.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/store/a.ts",
    'import { x } from "../engine/engine.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/base/disk/a.ts",
    'export { x } from "../../orchestration/plugins/host.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/controller/a.ts",
    'import type { X } from "../../identity/service/users.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/controller/a.ts",
    'import { x } from "../../config/config.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/http/a/b.ts",
    'import { x } from "../../store/store.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/http/a.ts",
    'const x = import("../../client/main.ts");',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/client/a.ts",
    'import "../orchestration/controller/apply.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/helpers/a.ts",
    'import { x } from "../base/words/log.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/client/a.ts",
    'import { x } from "../../test/support/wait.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "plugins/web/expand.ts",
    'import { x } from "../../src/orchestration/core/naming.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "plugins/web/expand.ts",
    'import { x } from "../shop/expand.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "plugins/kit/a.ts",
    'import { x } from "../web/expand.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/orchestration/controller/a.ts",
    'import { x } from "../../../plugins/bundled.ts";',
  ],
  [
    "imports point down the layers, and services and siblings are blind to each other",
    "src/main.ts",
    'import { x } from "../plugins/kit.ts";',
  ],
  ["relative imports carry their extension", "src/base/words/a.ts", 'import { x } from "./b";'],
  ["each outside package has its one home", "src/orchestration/controller/a.ts", 'import Docker from "dockerode";'],
  [
    "each outside package has its one home",
    "src/orchestration/engine/share.ts",
    'import type Docker from "dockerode";',
  ],
  [
    "each outside package has its one home",
    "src/orchestration/controller/a.ts",
    'import { Database } from "bun:sqlite";',
  ],
  ["each outside package has its one home", "src/client/a.ts", 'import { Elysia } from "elysia";'],
  ["each outside package has its one home", "src/orchestration/core/a.ts", 'import { parse } from "yaml";'],
  [
    "each outside package has its one home",
    "src/orchestration/store/a.ts",
    'import { Value } from "@sinclair/typebox/value";',
  ],
  ["each outside package has its one home", "src/client/a.ts", 'import chalk from "chalk";'],
  [
    "each outside package has its one home",
    "src/orchestration/controller/a.ts",
    'import { rm } from "node:fs/promises";',
  ],
  ["each outside package has its one home", "src/orchestration/core/a.ts", 'import { readFileSync } from "node:fs";'],
  [
    "each outside package has its one home",
    "src/orchestration/core/plan.ts",
    'import { createHash } from "node:crypto";',
  ],
  ["each outside package has its one home", "src/local/a.ts", 'import { spawn } from "node:child_process";'],
  ["each platform call has its home", "src/orchestration/controller/a.ts", 'Bun.spawn(["ls"]);'],
  ["each platform call has its home", "src/client/edit.ts", "Bun.spawnSync([editor]);"],
  ["each platform call has its home", "src/orchestration/controller/a.ts", "Bun.serve({ fetch });"],
  ["each platform call has its home", "src/client/shell/a.ts", "Bun.listen(options);"],
  ["each platform call has its home", "src/client/shell/a.ts", "await globalThis.fetch(url);"],
  ["each platform call has its home", "src/client/forward/a.ts", "new WebSocket(url);"],
  ["each platform call has its home", "src/identity/service/a.ts", "const ask = createOutside(process);"],
  ["each platform call has its home", "src/observability/service/a.ts", "await through(proxy, url);"],
  ["each platform call has its home", "src/identity/service/a.ts", "const text = await Bun.file(path).text();"],
  ["each platform call has its home", "src/client/a.ts", "const home = process.env.HOME;"],
  ["each platform call has its home", "src/main.ts", "const home = Bun.env.HOME;"],
  [
    "each platform call has its home",
    "src/orchestration/controller/rollout/a.ts",
    "const { phase } = notes.status(key);",
  ],
  [
    "each platform call has its home",
    "src/orchestration/controller/write/a.ts",
    "const { phase } = tx.status.get(key);",
  ],
  ["the heart is pure", "src/orchestration/core/a.ts", "export const at = () => Date.now();"],
  ["the heart is pure", "src/orchestration/core/a.ts", "export const at = new Date();"],
  ["the heart is pure", "src/orchestration/core/a.ts", "export const id = Math.random();"],
  ["the heart is pure", "src/orchestration/core/a.ts", "export async function plan() {}"],
  ["the heart is pure", "src/orchestration/core/a.ts", 'console.log("x");'],
  ["the heart is pure", "plugins/web/expand.ts", "export const id = crypto.randomUUID();"],
  ["the heart is pure", "plugins/web/block.ts", "export const at = () => Date.now();"],
  ["the heart is pure", "plugins/kit/scripts.ts", "export const at = () => Date.now();"],
  [
    "the engine is used through its seam",
    "src/orchestration/controller/a.ts",
    'import type { Dialling } from "../engine/dial.ts";',
  ],
  [
    "the engine is used through its seam",
    "src/orchestration/controller/pods/a.ts",
    'import { createHelper } from "../../engine/local-helper.ts";',
  ],
  [
    "the engine is used through its seam",
    "src/daemon/start.ts",
    'import type { X } from "../orchestration/engine/dial.ts";',
  ],
  [
    "the engine is used through its seam",
    "src/local/a.ts",
    'import { x } from "../orchestration/engine/docker/docker.ts";',
  ],
  ["the engine seam is types only", "src/orchestration/engine/engine.ts", "export const x = 1;"],
  ["no barrels", "src/base/words/a.ts", 'export * from "./b.ts";'],
  ["no barrels", "src/base/words/a.ts", 'export { b } from "./b.ts";\nexport { c } from "./c.ts";'],
  ["no barrels", "src/base/words/a.ts", 'import { b } from "./b.ts";\nexport { b };'],
  ["no default exports", "src/base/words/a.ts", "export default 1;"],
  ["no default exports", "src/base/words/a.ts", "const a = 1;\nexport { a as default };"],
  [
    "the contract's own client is known at the doors alone",
    "src/local/a.ts",
    'import { withContractClient } from "../compat/door.ts";',
  ],
  ["the contract's own client is known at the doors alone", "src/compat/a.ts", "const a = 1;\n".repeat(1_501)],
  ["files stay short", "src/base/words/a.ts", "const a = 1;\n".repeat(linesMax + 1)],
  ['no "any"', "src/base/words/a.ts", "const a = b as any;"],
  ['no "any"', "src/base/words/a.ts", "function f(a: Record<string, any>): any[] {}"],
  ["no silenced checks", "src/base/words/a.ts", "// @ts-ignore\nf(1);"],
  ["no silenced checks", "src/base/words/a.ts", "f(1 as never); // @ts-expect-error"],
  ["an expression reads blanks in one way", "src/base/words/a.ts", "const a = /f\\(\\s*\\(?\\s*(\\d+)/;"],
  ["an expression reads blanks in one way", "src/base/words/a.ts", "const a = /a\\s*(?:b|c)?\\s*d/;"],
  ["each outside package has its one home", "src/base/words/a.ts", 'import { spawn } from "bun";'],
  ["texts are plain English", "src/client/a.ts", 'const text = `"${word}" is no number`;'],
  ["texts are plain English", "src/client/a.ts", "const text = 'make it anew';"],
  ["texts are plain English", "src/client/a.ts", "const text = 'the server lets go of it';"],
  ["comments are plain English", "src/client/a.ts", "/** Whoever calls it. */"],
  ["comments are plain English", "src/client/a.ts", "const one = 1; // nobody reads it"],
  ["comments are plain English", "src/client/a.ts", "  /** Of one file. */"],
  ["the client reads no text of the server", "src/client/a.ts", "if (/^unknown kind/.test(error.message)) f();"],
  ["the client reads no text of the server", "src/client/a.ts", "const [, ref] = pattern.exec(message) ?? [];"],
  ["the client reads no text of the server", "src/client/a.ts", 'const is = look.why?.startsWith("CrashLoop:");'],
  ["the client reads no text of the server", "src/client/a.ts", 'const lines = run.error.split("\\n");'],
  ["specs are decoded once", "src/orchestration/core/plan/a.ts", 'import { textOf } from "../spec/lenient.ts";'],
  [
    "specs are decoded once",
    "src/client/commands/a.ts",
    'import { x } from "../../orchestration/core/spec/lenient.ts";',
  ],
];

/** Files that come close and keep every law. */
const kept: [string, string][] = [
  ["src/orchestration/api/a.ts", 'import { x } from "../../identity/api/users.ts";\nexport const y = x;'],
  ["src/orchestration/http/a.ts", 'import type { Socket } from "bun";\nexport const s = (socket: Socket) => socket;'],
  ["src/orchestration/core/a.ts", "export const id = (randomBytes: Uint8Array) => randomBytes[0];"],
  [
    "src/orchestration/core/a.ts",
    '// imports "../store/store.ts" from nowhere; Date.now()\nexport const text = "await Bun.serve process.env any";',
  ],
  [
    "src/orchestration/core/a.ts",
    'export const text = `#["Bun.spawn"].map((x) => `#x} as any`).join("{")} export default`;'.replaceAll(
      "#",
      "$" + "{",
    ),
  ],
  ["src/orchestration/core/a.ts", "export const pattern = /[/\"'`]any\\/* await/;\nexport const ratio = 4 / 2 / 1;"],
  ["src/orchestration/core/a.ts", "export const at = (now: number) => new Date(now).toISOString();"],
  ["src/base/words/secret.ts", 'import { hkdfSync } from "node:crypto";\nexport const d = hkdfSync;'],
  [
    "src/base/sqlite/database.ts",
    'import { rmSync } from "node:fs";\nimport { Database } from "bun:sqlite";\nexport const d = [rmSync, Database];',
  ],
  [
    "src/orchestration/http/a.ts",
    'import type { Controller } from "../controller/controller.ts";\nexport const s = (c: Controller) => Bun.serve(c);',
  ],
  ["src/base/words/a.ts", "export const check = { any: 1, some: z.any(), of: AbortSignal.any([]) };"],
  ["src/client/a.ts", 'import { versionText } from "../version.ts";\nexport const v = versionText();'],
  ["src/base/words/a.ts", 'export { b } from "./b.ts";\nexport const c = 1;'],
  ["src/client/a.ts", 'export const is = (error: E) => error.data.reason === "UnknownKind" && /x/.test(error.code);'],
  ["src/base/words/a.ts", "export const is = (error: Error) => /x/.test(error.message);"],
  [
    "src/local/a.ts",
    'import { limits } from "../config/config.ts";\nimport { naming } from "../orchestration/core/naming.ts";\nexport const a = [limits, naming];',
  ],
  ["src/base/words/a.ts", "const a = 1;\n".repeat(linesMax)],
  [
    "src/daemon/start.ts",
    'import { createHelper } from "../orchestration/engine/local-helper.ts";\nexport const a = createHelper;',
  ],
  [
    "src/orchestration/controller/a.ts",
    'import type { Engine } from "../engine/engine.ts";\nexport const a = (engine: Engine) => engine;',
  ],
  ["src/main.ts", 'export const a = () => import("../plugins/bundled.ts");'],
  ["plugins/bundled.ts", 'export const a = () => import("./web/main.ts");'],
  ["plugins/web/expand.ts", 'import { usage } from "../kit.ts";\nexport const a = usage;'],
  [
    "plugins/web/expand.ts",
    'import type { Manifest } from "../../src/orchestration/api/manifest.ts";\nexport const a = (m: Manifest) => m;',
  ],
];

const title = (text: string) => text.replaceAll("\n", " ").slice(0, 70);

describe("the laws themselves", () => {
  for (const [law, path, text] of broken) {
    test(`${law}: caught in ${path}: ${title(text)}`, () => {
      expect(laws[law]?.([source(path, text)])).toHaveLength(1);
    });
  }

  for (const [path, text] of kept) {
    test(`kept by ${path}: ${title(text)}`, () => {
      const file = source(path, text);
      expect(Object.values(laws).flatMap((law) => law([file]))).toEqual([]);
    });
  }

  test("a cycle is caught, also through a type import, and told whole", () => {
    const a = source("src/base/words/a.ts", 'import { b } from "./b.ts";\nexport const a = b;');
    const b = source("src/base/words/b.ts", 'import type { C } from "./c.ts";\nexport const b = (c: C) => c;');
    const c = source("src/base/words/c.ts", 'import { a } from "./a.ts";\nexport type C = typeof a;');
    expect(laws["no import cycles"]?.([a, b, c])).toEqual([
      "src/base/words/a.ts → src/base/words/b.ts → src/base/words/c.ts → src/base/words/a.ts",
    ]);
    expect(laws["no import cycles"]?.([a, b])).toEqual([]);
  });

  describe("rooms of a layer", () => {
    const law = laws["rooms of a layer import each other one way"];
    const file = (path: string, target: string) => source(path, `import { b } from "${target}";\nexport const a = b;`);

    test("that reach each other are caught, also by way of a third", () => {
      const core = "src/orchestration/core";
      const files = [
        file(`${core}/plan/a.ts`, "../rules/a.ts"),
        file(`${core}/rules/a.ts`, "../spec/a.ts"),
        file(`${core}/spec/a.ts`, "../plan/b.ts"),
        source(`${core}/plan/b.ts`, "export const b = 1;"),
      ];
      expect(law?.(files)).toEqual([`rooms that import each other: ${core}/plan, ${core}/rules, ${core}/spec`]);
      expect(law?.(files.filter(({ path }) => !path.includes("/rules/")))).toEqual([]);
    });

    test("stand in their order, and none is left out of it", () => {
      const files = [
        file("src/ui/data/a.ts", "../parts/a.ts"),
        source("src/ui/parts/a.ts", "export const b = 1;"),
        source("src/ui/attic/a.ts", "export const b = 1;"),
      ];
      expect(law?.(files)).toEqual([
        "src/ui/data/a.ts imports src/ui/parts/a.ts; src/ui/parts stands after src/ui/data in roomOrder",
        "src/ui/attic is an unknown room; add it to roomOrder in test/support/house.ts",
      ]);
      expect(
        law?.([file("src/ui/parts/a.ts", "../data/a.ts"), source("src/ui/data/a.ts", "export const b = 1;")]),
      ).toEqual([]);
    });
  });

  describe("an exported name", () => {
    const file = source(
      "src/base/words/a.ts",
      "export const a = 1;\nexport interface B {}\nexport async function c() {}\nexport const D = 1;\nexport type D = 1;\n",
    );
    const dead = (...texts: string[]) =>
      deadExports(
        [file],
        texts.map((text) => ({ path: "src/base/words/user.ts", text })),
      ).map((text) => /exports (\w+),/.exec(text)?.[1]);

    test("that nobody imports is caught, once for a value and a type of one name", () => {
      expect(dead()).toEqual(["a", "B", "c", "D"]);
      expect(dead('import { a } from "./other.ts";', 'import { a } from "a.ts";')).toEqual(["a", "B", "c", "D"]);
    });

    test("counts as used however it is imported", () => {
      expect(dead('import { a, type B } from "./a.ts";\nimport {\n  c as other,\n  D,\n} from "./a.ts";')).toEqual([]);
      expect(dead('import type { B } from "./a.ts";', 'export { a } from "./a.ts";')).toEqual(["c", "D"]);
      expect(dead('import * as all from "./a.ts";')).toEqual([]);
      expect(dead('const all = await import("./a.ts");')).toEqual([]);
    });
  });

  test("a diamond is no cycle", () => {
    const files = [
      source("src/base/words/a.ts", 'import { b } from "./b.ts";\nimport { c } from "./c.ts";'),
      source("src/base/words/b.ts", 'import { d } from "./d.ts";'),
      source("src/base/words/c.ts", 'import { d } from "./d.ts";'),
    ];
    expect(laws["no import cycles"]?.(files)).toEqual([]);
  });

  test("every floor of the table imports only floors that are in the table", () => {
    for (const allowed of Object.values(mayImport)) {
      for (const folder of allowed === "*" ? [] : allowed) expect(Object.keys(mayImport)).toContain(folder);
    }
  });
});
