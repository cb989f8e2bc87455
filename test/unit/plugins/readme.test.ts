import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { YAML } from "bun";
import { fieldsSection } from "../../support/plugin-fields.ts";

const folder = join(import.meta.dir, "../../../plugins");
const read = (plugin: string, file: string) => readFileSync(join(folder, plugin, file), "utf8");

test.each(["postgres", "redis"])("the README of %s has every field of its blocks", (plugin) => {
  const section = fieldsSection(JSON.parse(read(plugin, "schema.json")));
  const readme = read(plugin, "README.md");
  if (process.env.BERTH_WRITE_DOCS === "1") {
    const written = readme.replace(/^## Fields\n[\s\S]*?(?=^## )/m, `${section}\n\n`);
    writeFileSync(join(folder, plugin, "README.md"), written);
  }
  // `BERTH_WRITE_DOCS=1 bun test ./test/unit/plugins/readme.test.ts` writes it.
  expect(/^## Fields\n[\s\S]*?(?=\n\n## )/m.exec(read(plugin, "README.md"))?.[0]).toBe(section);
});

test.each(["postgres", "redis"])("the README of %s has every command that somebody can call", (plugin) => {
  const { commands } = YAML.parse(read(plugin, "plugin.yml")) as { commands: { name: string }[] };
  const readme = read(plugin, "README.md");
  const missing = commands.map(({ name }) => name).filter((name) => !new RegExp(`[:\`]${name}\\b`).test(readme));
  expect(missing.filter((name) => name !== "expand" && name !== "attend")).toEqual([]);
});
