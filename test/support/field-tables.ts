import type { TSchema } from "@sinclair/typebox";
import { schemaFields, type SchemaNode, typeWords } from "../../src/orchestration/core/schema-fields.ts";

/**
 * The fields of a spec as a Markdown table, nested ones as dotted paths (`[]` for the items of a list). Fields named in
 * `elsewhere` are left out: a line above the table says where they stand.
 */
export function fieldTable(schema: TSchema, elsewhere: readonly string[] = []): string {
  const plain: SchemaNode = JSON.parse(JSON.stringify(schema));
  const rows = schemaFields(plain).filter(({ path }) => !elsewhere.includes(path.split(/[.[]/, 1)[0] ?? ""));
  const lines = rows.map(({ path, node, required }) => {
    const fallback = node.default === undefined || node.default === "" ? "" : `\`${String(node.default)}\``;
    const standard = required ? "**required**" : fallback;
    return `| \`${path}\` | ${cellText(typeWords(node, "`"))} | ${standard} | ${cellText(node.description ?? "")} |`;
  });
  return ["| field | type | default | meaning |", "|---|---|---|---|", ...lines].join("\n");
}

function cellText(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
