import { describe, expect, test } from "bun:test";
import { bundledPlugins } from "../../../plugins/bundled.ts";
import { readBlockSchema } from "../../../src/orchestration/core/plugins/block-schema.ts";
import { readPluginYml } from "../../../src/orchestration/core/plugins/plugin-yml.ts";
import { parsePluginYml } from "../../../src/orchestration/plugins/yaml.ts";

for (const { name, yml: text, schemas, load } of bundledPlugins) {
  describe(name, () => {
    const { yml, problems } = readPluginYml(parsePluginYml(text).value, name);
    const declared = yml.commands.map((command) => command.name).sort();

    test("its plugin.yml has no fault", () => {
      expect(parsePluginYml(text).fault).toBeUndefined();
      expect(problems).toEqual([]);
      expect(yml).toMatchObject({ name, protocol: 1 });
    });

    test("what it declares is what it has, and each command says how it is written", async () => {
      const { expand, commands } = await load();
      expect(expand).toBeDefined();
      expect(["expand", ...Object.keys(commands)].sort()).toEqual(declared);
      for (const { name: command, usage, help } of yml.commands) {
        expect([command, help]).not.toContain(undefined);
        if (command !== "expand") expect([command, usage]).toEqual([command, expect.stringMatching(/^SCOPE\/NAME/)]);
      }
    });

    test("a schema for each kind, of which every word has an effect", () => {
      expect(Object.keys(schemas).sort()).toEqual([...yml.kinds].sort());
      for (const schema of Object.values(schemas)) {
        expect(readBlockSchema(schema)).toMatchObject({ problems: [], unread: [] });
      }
    });

    test("the schema and expand know the same fields", async () => {
      const { expand } = await load();
      const properties = Object.keys((schemas[name] as { properties: object }).properties).sort();
      const call = {
        command: "expand",
        args: [],
        input: { kind: name, scope: "a", name: "b", spec: { nonsense: 1 } },
        env: {},
        progress: () => undefined,
      };
      const error = await Promise.resolve()
        .then(() => expand?.(call))
        .catch((thrown: Error) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect((error as Error).message).toBe(`spec.nonsense: unknown field; known are ${properties.join(", ")}`);
    });

    test("only what moves or loses data is asked about, and long ones are told to be long", () => {
      const destructive = yml.commands.filter((command) => command.destructive).map((command) => command.name);
      expect(destructive.sort()).toEqual(
        ["backups:delete", "backups:prune", "expose", name === "redis" ? "failover" : "promote", "restore"].sort(),
      );
      for (const long of ["backup", "restore", "rejoin"]) {
        expect(yml.commands.find((command) => command.name === long)).toMatchObject({ long: true });
      }
    });
  });
}
