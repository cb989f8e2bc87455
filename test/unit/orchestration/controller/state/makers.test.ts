import { expect, test } from "bun:test";
import { bundledPlugins } from "../../../../../plugins/bundled.ts";
import { withWayToOther } from "../../../../../src/orchestration/controller/state/makers.ts";
import { readBlockSchema } from "../../../../../src/orchestration/core/plugins/block-schema.ts";
import { readPluginYml } from "../../../../../src/orchestration/core/plugins/plugin-yml.ts";
import { parsePluginYml } from "../../../../../src/orchestration/plugins/yaml.ts";

/** Fields of public plugins that the bundled ones do not have. */
const foreign: Record<string, readonly string[]> = {
  postgres: ["probes", "health_check", "replication_user"],
  redis: ["probes", "health_check", "sentinel"],
};

for (const { name, yml: text, schemas } of bundledPlugins) {
  const { yml } = readPluginYml(parsePluginYml(text).value, name);
  const schema = schemas[name];
  const plugin = { yml, origin: "bundled" as const, folder: "", lock: undefined, enabled: true, argv: new Map() };
  const { permissions = { actions: [], scopes: [], docker: false } } = yml;
  const told = (path: string) =>
    withWayToOther([{ path, message: "unknown field" }], { ...plugin, permissions }, schema)[0]?.message;

  test.each([...(foreign[name] ?? [])])(
    `${name}: the error for %s names the command that installs the other plugin`,
    (field) => {
      expect(readBlockSchema(schema).problems).toEqual([]);
      expect(told(`spec.${field}`)).toEndWith(
        "for a manifest of another plugin: berth plugins install OWNER/REPO --replace",
      );
    },
  );

  test(`${name}: a misspelled field and a fault inside a known field are what they were`, () => {
    expect(told("spec.replica")).toBe("unknown field");
    expect(told("spec.backups.x")).toBe("unknown field");
    expect(told("spec.image")).toBe("unknown field");
  });
}
