import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { blockCheck, readBlockSchema } from "../../src/orchestration/core/plugins/block-schema.ts";
import { isInside, isPluginName } from "../../src/orchestration/core/plugin-names.ts";
import { readPluginYml } from "../../src/orchestration/core/plugins/plugin-yml.ts";
import { parseSource } from "../../src/orchestration/core/plugins/source.ts";
import { splitPluginWord } from "../../src/client/entry/plugin-words.ts";
import { untar } from "../../src/orchestration/plugins/untar.ts";
import { helloPlugin, type PluginYard, pluginYard, writeTree } from "../support/plugin-yard.ts";
import { tarball } from "../support/release-server.ts";

describe("text from outside", () => {
  test("a plugin.yml never throws, and what passes is safe to use as a path", () => {
    const fields = fc.dictionary(
      fc.constantFrom(
        "name",
        "aliases",
        "kinds",
        "entrypoint",
        "commands",
        "env",
        "schema",
        "permissions",
        "requires",
        "version",
      ),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fields), fc.string(), (value, folder) => {
        const { yml, problems } = readPluginYml(value, folder);
        if (problems.length > 0) return;
        expect([yml.name, ...yml.aliases, ...yml.kinds].every(isPluginName)).toBe(true);
        expect(yml.entrypoint === undefined || isInside(yml.entrypoint)).toBe(true);
        expect(Object.values(yml.schema ?? {}).every(isInside)).toBe(true);
        expect(yml.commands.every(({ name }) => !name.includes("/") && name !== "..")).toBe(true);
      }),
    );
  });

  test("a schema never throws, and neither does checking with it", () => {
    const around = (inner: fc.Arbitrary<unknown>) =>
      fc.record(
        {
          type: fc.constantFrom("object", "array", "string", "integer", "number", "boolean", "null", "odd"),
          properties: fc.dictionary(fc.constantFrom("a", "b", "c"), inner, { maxKeys: 2 }),
          items: inner,
          anyOf: fc.array(inner, { maxLength: 2 }),
          enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
          $ref: fc.constantFrom("#/$defs/x", "#/$defs/y", "other"),
          required: fc.array(fc.constantFrom("a", "b"), { maxLength: 2 }),
          additionalProperties: fc.boolean(),
          minimum: fc.integer(),
          pattern: fc.constantFrom("^a", "(", "."),
        },
        { requiredKeys: [] },
      );
    const node = around(around(fc.constantFrom({}, { type: "string" }, { $ref: "#/$defs/x" }, 7)));
    fc.assert(
      fc.property(node, node, fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue()), (schema, x, spec) => {
        const read = readBlockSchema({ ...(schema as object), type: "object", $defs: { x } });
        if (read.problems.length === 0) expect(blockCheck(read)(spec, 10).length).toBeLessThanOrEqual(10);
      }),
    );
  });

  test("a source is one of three, or none, and never a flag of git", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.stringMatching(/^[-\w.:@/]{0,40}$/)), (text) => {
        const source = parseSource(text);
        if (source?.type === "git") expect(source.url.startsWith("-")).toBe(false);
        if (source?.type === "release") expect(`${source.owner}/${source.repo}`).not.toMatch(/\.\.|^-|\/-|\s/);
      }),
    );
  });

  test("a first word is split at its first colon, and nothing is lost", () => {
    fc.assert(
      fc.property(fc.string(), (word) => {
        const parts = splitPluginWord(word);
        expect(parts.length).toBeLessThanOrEqual(2);
        expect(parts.join(":")).toBe(word);
      }),
    );
  });
});

test("what is archived is unpacked as it was", async () => {
  const part = fc.stringMatching(/^[a-zA-Z0-9_.-]{1,60}$/).filter((text) => !/^\.+$/.test(text));
  const path = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.map((one, depth) => `${depth}${one}`).join("/"));
  const limits = { filesMax: 100, bytesMax: 1_000_000, inflation: { ratioMax: 250, freeBytes: 1_000_000 } };
  const tree = fc.dictionary(path, fc.string({ maxLength: 2_000 }), { minKeys: 1, maxKeys: 6 });
  await fc.assert(
    fc.asyncProperty(tree, async (files) => {
      const paths = Object.keys(files);
      fc.pre(paths.every((one) => !paths.some((other) => other.startsWith(`${one}/`))));
      const folder = mkdtempSync(join(tmpdir(), "berth-untar-"));
      try {
        await untar(new Blob([tarball(files, "repo")]).stream(), folder, limits);
        for (const [name, content] of Object.entries(files)) {
          expect(readFileSync(join(folder, name), "utf8")).toBe(content.toWellFormed());
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 12), 500) },
  );
});

/** What the folder of plugins holds, told without it. */
interface Model {
  /** Oldest activation first; the last is active. */
  versions: string[];
  enabled: boolean;
}

type Step =
  | { do: "install"; version: string; breakAt: string | undefined }
  | { do: "rollback" }
  | { do: "enable" | "disable" | "remove" | "restart" };

const points = ["fetched", "copied", "hooked", "locked", "written", "swapped", "settled"];
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("install" as const),
      version: fc.constantFrom("1", "2", "3", "4"),
      breakAt: fc.option(fc.constantFrom(...points), { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rollback" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("enable" as const, "disable" as const, "remove" as const, "restart" as const),
    }),
  },
);

describe("any order of installs, broken off anywhere", () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "berth-packages-"));
    for (const version of ["1", "2", "3", "4"]) writeTree(join(root, version), helloPlugin(version));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("leaves what a plain list of versions says, and nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const place = mkdtempSync(join(root, "yard-"));
        mkdirSync(join(place, "plugins"), { recursive: true });
        let model: Model | undefined;
        for (const one of steps) {
          const breaks = { at: one.do === "install" ? one.breakAt : undefined };
          const yard = await pluginYard({
            root: place,
            reached: (done) => {
              if (done === breaks.at) throw new Error("broken off");
            },
          });
          model = await take(one, yard, model);
          await expectAs(yard, place, model);
          await yard.close();
        }
        rmSync(place, { recursive: true, force: true });
      }),
      { numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 12), 500) },
    );
  }, 120_000);

  async function take(one: Step, yard: PluginYard, model: Model | undefined): Promise<Model | undefined> {
    const { installer } = yard;
    const works = (work: Promise<unknown>) =>
      work.then(
        () => true,
        () => false,
      );
    if (one.do === "install") {
      await works(installer.install({ source: join(root, one.version) }));
      const isOver = one.breakAt !== undefined && points.indexOf(one.breakAt) < points.indexOf("swapped");
      // Installing what is active already changes nothing.
      if (isOver || model?.versions.at(-1) === one.version) return model;
      return { enabled: model?.enabled ?? true, versions: [...(model?.versions ?? []), one.version].slice(-3) };
    }
    if (one.do === "restart") {
      await yard.recover();
      return model;
    }
    if (one.do === "remove") {
      expect(await installer.remove("hello")).toBe(model !== undefined);
      return undefined;
    }
    if (one.do === "rollback") {
      const isPossible = model !== undefined && model.versions.length > 1;
      expect(await works(installer.rollback("hello"))).toBe(isPossible);
      if (model === undefined || !isPossible) return model;
      const [active = "", before = "", ...others] = model.versions.toReversed();
      return { ...model, versions: [...others.toReversed(), active, before] };
    }
    expect(await works(installer.setEnabled("hello", one.do === "enable"))).toBe(model !== undefined);
    return model && { ...model, enabled: one.do === "enable" };
  }

  async function expectAs(yard: PluginYard, place: string, model: Model | undefined): Promise<void> {
    await yard.registry.refresh();
    const { plugins, errors } = yard.registry.list();
    const found = plugins.map(({ yml, enabled, lock }) => [yml.version, enabled, lock?.previous?.version]);
    const { versions = [], enabled = true } = model ?? {};
    expect([found, errors]).toEqual([
      model === undefined ? [] : [[versions.at(-1) ?? "", enabled, versions.at(-2)]],
      [],
    ]);
    if (model !== undefined) expect(await yard.say("hello", "hello")).toBe(`hello ${versions.at(-1)}`);
    const names = readdirSync(join(place, "plugins")).sort();
    const kept = names.filter((name) => ![".staging", ".state", ".versions"].includes(name));
    expect(kept).toEqual(model === undefined ? [] : ["hello"]);
    expect(readdirSync(join(place, "plugins/.staging"))).toEqual([]);
  }
});
