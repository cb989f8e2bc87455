import { own } from "../../base/pure/fields.ts";
import { specSchemas } from "../../orchestration/api/kinds/schemas.ts";
import { ApiError } from "../../base/wire/client.ts";
import { getPluginSchema, listPlugins, type PluginInfo } from "../../orchestration/api/plugins.ts";
import {
  itemOf,
  schemaFields,
  type SchemaField,
  type SchemaNode,
  typeWords,
} from "../../orchestration/core/schema-fields.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, usageFailure } from "../basics/failures.ts";
import { normalKind } from "../basics/kinds.ts";
import { printable, type Style } from "../basics/style.ts";
import { didYouMean } from "../basics/suggest.ts";
import { listText } from "../basics/table-text.ts";

export const explainCommand: CommandBody = {
  usage: ["explain", "explain KIND[.FIELD…]"],
  examples: [
    "explain deployment  every field",
    "explain deployment.rollout  one part",
    "explain postgres  a plugin's kind",
  ],
  detail: ["Core kinds need no server. For a plugin's kind, berth asks the server that has the plugin."],
  flags: [],
  async run(context, args) {
    const [word, ...more] = args.words;
    if (more.length > 0) throw usageFailure("say one kind: explain KIND[.FIELD]");
    if (word === undefined) return listKinds(context);
    const [first = "", ...path] = word.split(".");
    const kind = normalKind(first);
    const schema = coreSchema(kind) ?? (await blockSchema(context, kind));
    const found = under(schema, { kind, path });
    return answer(context, found, () => explainText([kind, ...path].join("."), found, context.terminal.style));
  },
};

function coreSchema(kind: string): SchemaNode | undefined {
  const found = Object.entries(specSchemas).find(([name]) => name === kind)?.[1];
  return found === undefined ? undefined : JSON.parse(JSON.stringify(found));
}

const servesBlocks = ({ commands, enabled }: PluginInfo) => enabled && commands.some(({ name }) => name === "expand");

async function listKinds(context: Context): Promise<number> {
  const core = Object.keys(specSchemas);
  const plugins = await context.api.call(listPlugins).then(
    (data) => data.plugins.filter(servesBlocks),
    (error: unknown) => {
      if (error instanceof ApiError || error instanceof CommandFailure) return [];
      throw error;
    },
  );
  const blocks = plugins.flatMap(({ name, kinds }) => kinds.map((kind) => ({ kind, plugin: name })));
  return answer(context, { kinds: [...core.map((kind) => ({ kind })), ...blocks] }, () => {
    const rows = [...core.map((kind) => [kind]), ...blocks.map(({ kind, plugin }) => [kind, `plugin ${plugin}`])];
    return listText(rows);
  });
}

async function blockSchema(context: Context, kind: string): Promise<SchemaNode> {
  const { plugins } = await context.api.call(listPlugins);
  const plugin = plugins.find((each) => servesBlocks(each) && each.kinds.includes(kind));
  if (plugin === undefined) {
    const known = [...Object.keys(specSchemas), ...plugins.filter(servesBlocks).flatMap(({ kinds }) => kinds)];
    throw usageFailure(`unknown kind "${kind}"${didYouMean(kind, known) || "; see: berth explain"}`);
  }
  const data = await context.api.call(getPluginSchema, { params: { name: plugin.name }, query: { kind } });
  return isNode(data.schema) ? data.schema : {};
}

function isNode(value: unknown): value is SchemaNode {
  return typeof value === "object" && value !== null;
}

/** The part of a schema that a path leads to; lists are stepped into. */
function under(schema: SchemaNode, { kind, path }: { kind: string; path: readonly string[] }): SchemaNode {
  let node = schema;
  let at = kind;
  for (const part of path) {
    const fields = inside(node).properties ?? {};
    const next = own(fields, part);
    if (next === undefined) {
      throw usageFailure(
        `${at} has no field "${part}"${didYouMean(part, Object.keys(fields), `${at}.`) || `; see: berth explain ${at}`}`,
      );
    }
    node = next;
    at += `.${part}`;
  }
  return node;
}

function inside(node: SchemaNode): SchemaNode {
  return node.type === "array" ? itemOf(node) : node;
}

function explainText(title: string, node: SchemaNode, style: Style): string {
  const fields = schemaFields(inside(node));
  const about = node.description === undefined ? "" : `  ${printable(node.description)}`;
  const type = node.properties === undefined ? `  ${typeWords(node)}${defaultText(node)}` : "";
  const head = `${style.bold(title)}${style.dim(type)}${about}`;
  if (fields.length === 0) return head;
  return [
    head,
    "",
    listText(
      fields.map((field) => row(field, style)),
      { indent: "  " },
    ),
  ].join("\n");
}

function row({ path, node, required }: SchemaField, style: Style): string[] {
  const depth = path.split(".").length - 1;
  const name = `${"  ".repeat(depth)}${path.split(".").at(-1) ?? path}`;
  const must = required ? style.yellow("required") : defaultText(node).trim();
  return [name, style.dim(typeWords(node)), must, printable(node.description ?? "")];
}

function defaultText(node: SchemaNode): string {
  if (node.default === undefined || node.default === "") return "";
  return ` =${typeof node.default === "string" ? node.default : JSON.stringify(node.default)}`;
}
