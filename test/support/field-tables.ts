import type { TSchema } from "@sinclair/typebox";

/** A schema as plain JSON: what of it a table shows. */
interface Node {
  type?: string;
  const?: unknown;
  description?: string;
  default?: unknown;
  properties?: Record<string, Node>;
  required?: string[];
  patternProperties?: Record<string, Node>;
  items?: Node;
  anyOf?: Node[];
}

/**
 * The fields of a spec as a Markdown table, nested ones as dotted paths (`[]` for the items of a list). Fields named in
 * `elsewhere` are left out: a line above the table says where they stand.
 */
export function fieldTable(schema: TSchema, elsewhere: readonly string[] = []): string {
  const plain: Node = JSON.parse(JSON.stringify(schema));
  const rows = fieldsOf(plain, "").filter(({ path }) => !elsewhere.includes(path.split(/[.[]/, 1)[0] ?? ""));
  const lines = rows.map(({ path, node, required }) => {
    const fallback = node.default === undefined || node.default === "" ? "" : `\`${String(node.default)}\``;
    const standard = required ? "**required**" : fallback;
    return `| \`${path}\` | ${cellText(typeText(node))} | ${standard} | ${cellText(node.description ?? "")} |`;
  });
  return ["| field | type | default | meaning |", "|---|---|---|---|", ...lines].join("\n");
}

interface Row {
  path: string;
  node: Node;
  required: boolean;
}

function fieldsOf(node: Node, prefix: string): Row[] {
  return Object.entries(node.properties ?? {})
    .filter(([name]) => name !== "_asset_digests")
    .flatMap(([name, field]) => {
      const path = `${prefix}${name}`;
      const inside = field.type === "array" ? (field.items ?? {}) : field;
      const deeper =
        inside.properties === undefined ? [] : fieldsOf(inside, inside === field ? `${path}.` : `${path}[].`);
      return [{ path, node: field, required: node.required?.includes(name) === true }, ...deeper];
    });
}

function typeText(node: Node): string {
  if (node.anyOf !== undefined) return node.anyOf.map(typeText).filter(Boolean).join(" or ");
  if (node.const !== undefined) return node.const === "" ? "" : `\`${String(node.const)}\``;
  if (node.patternProperties !== undefined) return "map";
  if (node.type === "array") return node.items?.properties === undefined ? "list of text" : "list of objects";
  if (node.type === "string") return "text";
  if (node.type === "object") return "object";
  return node.type ?? "anything";
}

function cellText(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
