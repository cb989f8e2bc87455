/** A JSON Schema as plain JSON: what of it a reader is shown. */
export interface SchemaNode {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  description?: string;
  default?: unknown;
  properties?: Record<string, SchemaNode>;
  required?: string[];
  patternProperties?: Record<string, SchemaNode>;
  additionalProperties?: boolean | SchemaNode;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  oneOf?: SchemaNode[];
}

export interface SchemaField {
  /** Nested ones dotted, `[]` for the items of a list: `inits[].image`. */
  path: string;
  node: SchemaNode;
  required: boolean;
}

/** Written by the server itself, and not for people who read about a kind. */
const hidden = "_asset_digests";
const depthMax = 16;

/** The fields of an object and of everything in it, in the order in which they are declared. */
export function schemaFields(node: SchemaNode, prefix = "", depth = 0): SchemaField[] {
  if (depth > depthMax) return [];
  return Object.entries(node.properties ?? {})
    .filter(([name]) => name !== hidden)
    .flatMap(([name, field]) => {
      const path = `${prefix}${name}`;
      const inside = field.type === "array" ? itemOf(field) : field;
      const below = `${path}${inside === field ? "." : "[]."}`;
      const deeper = inside.properties === undefined ? [] : schemaFields(inside, below, depth + 1);
      return [{ path, node: field, required: node.required?.includes(name) === true }, ...deeper];
    });
}

/** What stands in a list; of texts or objects, the object. */
export function itemOf({ items = {} }: SchemaNode): SchemaNode {
  return items.anyOf?.find(({ properties }) => properties !== undefined) ?? items;
}

/** What may stand there, in words; `quote` is put around fixed texts. */
export function typeWords(node: SchemaNode, quote = '"'): string {
  const variants = node.anyOf ?? node.oneOf ?? node.enum?.map((value) => ({ const: value }));
  if (variants !== undefined) {
    return variants
      .map((variant) => typeWords(variant, quote))
      .filter(Boolean)
      .join(" or ");
  }
  if (node.const !== undefined) return node.const === "" ? "" : `${quote}${String(node.const)}${quote}`;
  if (node.patternProperties !== undefined) return "map";
  if (node.type === "array") return listWords(node);
  if (node.type === "string") return "text";
  if (node.type === "object") return node.properties === undefined ? "map" : "object";
  return node.type ?? "anything";
}

function listWords(node: SchemaNode): string {
  if (itemOf(node).properties === undefined) return "list of text";
  return node.items?.anyOf === undefined ? "list of objects" : "list of text or objects";
}
