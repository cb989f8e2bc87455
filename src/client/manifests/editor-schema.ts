import { specSchemas, type WritableKind } from "../../orchestration/api/kinds/schemas.ts";
import type { SchemaNode } from "../../orchestration/core/schema-fields.ts";

type Json = Record<string, unknown>;

const dialect = "http://json-schema.org/draft-07/schema#";

/** `${NAME}` in place of a number, a truth or one of a few words. */
const variable = { type: "string", pattern: "\\$\\{", description: "a variable, such as ${NAME} or ${NAME:-default}" };

/** JSON Schema (draft 7) of manifest files for editors: of one kind, or of all of them and of lists of manifests. */
export function editorSchema(kind?: WritableKind): Json {
  if (kind !== undefined) return { $schema: dialect, title: `berth ${kind}`, ...manifestOf(kind) };
  const kinds = Object.keys(specSchemas) as WritableKind[];
  const known = { enum: kinds, description: "kind of the manifest" };
  const plugin = { type: "string", description: "or the kind of a plugin" };
  const manifest = {
    ...head({ anyOf: [known, plugin] }, { type: "object", description: "fields of the kind" }),
    required: ["kind", "name"],
    allOf: kinds.map((one) => ({
      if: { properties: { kind: { const: one } }, required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
      then: narrowed(one),
    })),
  };
  const [list, single] = [{ items: { $ref: "#/definitions/manifest" } }, { $ref: "#/definitions/manifest" }];
  return {
    $schema: dialect,
    title: "berth manifest",
    if: { type: "array" },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: list,
    else: single,
    definitions: { manifest },
  };
}

function manifestOf(kind: WritableKind): Json {
  const { properties, required } = narrowed(kind);
  return { ...head({ const: kind }, (properties as Json).spec as Json), required: ["kind", ...(required as string[])] };
}

/** What a kind adds to the schema of any manifest. */
function narrowed(kind: WritableKind): Json {
  const spec = nodeOf(specSchemas[kind] as object as SchemaNode, "spec");
  const needsScope = kind !== "asset" && kind !== "registry";
  const { required } = specSchemas[kind] as object as SchemaNode;
  const needsSpec = required !== undefined && required.length > 0;
  return { properties: { spec }, required: [...(needsScope ? ["scope"] : []), "name", ...(needsSpec ? ["spec"] : [])] };
}

function head(kind: Json, spec: Json): Json {
  return {
    type: "object",
    properties: {
      kind,
      scope: { type: "string", description: "group of resources that belong together; registries have none" },
      name: { type: "string", description: "unique in its scope and kind" },
      spec,
      metadata: {
        type: "object",
        properties: {
          if_revision: { type: "integer", minimum: 0, description: "refused unless the stored revision is this one" },
          revision: { type: "integer", description: "written by the server" },
          created_at: { type: "string", description: "written by the server" },
          updated_at: { type: "string", description: "written by the server" },
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  };
}

/** The server's schema of a value, with what berth replaces before the server sees it. */
function nodeOf(node: SchemaNode, name: string): Json {
  const { anyOf, items, properties, patternProperties, ...rest } = node;
  if (name === "env_file") return { description: node.description, anyOf: [{ type: "string" }, listOf(node)] };
  if (anyOf !== undefined) return unionOf(node, anyOf, name);
  if (items !== undefined) return listOf(node);
  if (properties !== undefined) return { ...rest, properties: fieldsOf(properties) };
  if (patternProperties !== undefined) {
    const [value = {}] = Object.values(patternProperties);
    return { ...rest, additionalProperties: nodeOf(value, name === "files" ? "file" : "") };
  }
  if (node.type !== "integer" && node.type !== "number" && node.type !== "boolean") return rest as Json;
  const { description, default: fallback, ...plain } = rest;
  return { ...about(description, fallback), anyOf: [plain, variable] };
}

function about(description: string | undefined, fallback: unknown): Json {
  return {
    description,
    default: fallback,
  };
}

function listOf({ items = {}, ...rest }: SchemaNode): Json {
  return { ...rest, items: nodeOf(items, "") };
}

function unionOf({ description, default: fallback }: SchemaNode, variants: SchemaNode[], name: string): Json {
  const words = variants.flatMap((variant) => (variant.const === undefined ? [] : [variant.const]));
  if (words.length === variants.length) {
    return { ...about(description, fallback), anyOf: [{ enum: words }, variable] };
  }
  const written = variants.map((variant) => nodeOf(variant, ""));
  return { ...about(description, fallback), anyOf: name === "file" ? [...written, taggedUrl] : written };
}

/** What `!url` stands before; the tag itself is nothing that a schema sees. */
const taggedUrl = {
  type: "object",
  description: "after the tag !url",
  properties: {
    url: { type: "string" },
    href: { type: "string", description: "other name of url" },
    timeout: { type: "string" },
    on_failure: { enum: ["stale", "error", "skip"] },
  },
  additionalProperties: false,
};

/** Written by the server itself. */
const hidden = "_asset_digests";

function fieldsOf(properties: Record<string, SchemaNode>): Json {
  const shown = Object.entries(properties).filter(([name]) => name !== hidden);
  return Object.fromEntries(shown.map(([name, node]) => [name, nodeOf(node, name)]));
}
