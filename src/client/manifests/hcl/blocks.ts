import { specSchemas } from "../../../orchestration/api/kinds/schemas.ts";
import { parseKind } from "../../../orchestration/core/kind.ts";
import type { SchemaNode } from "../../../orchestration/core/schema-fields.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { placeOf, type Span } from "../source.ts";
import type { Attribute, Block, Body } from "./syntax.ts";
import { fail, fieldOf, isSwitch, readValue, type Reading } from "./values.ts";

/** Where the fields of a body go. */
interface Target {
  path: string;
  /** Unknown for the blocks of plugins, and for fields that the kind does not have. */
  schema: SchemaNode | undefined;
}

type Fields = Record<string, unknown>;

/** A block at the top of a file as a manifest; its fields have the names of the wire. */
export function readManifest(reading: Reading, block: Block): Fields {
  const kind = parseKind(block.word);
  const { wordSpan, labels } = block;
  reading.places.set("", { value: block.span, key: wordSpan });
  reading.places.set("kind", { value: wordSpan, key: undefined });
  reading.places.set("spec", { value: block.span, key: wordSpan });
  const word = kind ?? block.word;
  if (labels.length > 2)
    fail(reading, labels[2]?.span ?? wordSpan, `a block has a scope and a name: ${word} "SCOPE" "NAME"`);
  const problem = kind === undefined ? undefined : labelProblem(kind, labels.length);
  if (problem !== undefined) fail(reading, wordSpan, problem);
  const [scope, name] = labels.length > 1 ? labels : [undefined, labels[0]];
  if (scope !== undefined) reading.places.set("scope", { value: scope.span, key: undefined });
  reading.places.set("name", { value: name?.span ?? wordSpan, key: undefined });
  const schema: object | undefined = kind === undefined ? undefined : specSchemas[kind];
  return {
    kind: word,
    ...(scope === undefined ? {} : { scope: scope.text }),
    name: name?.text ?? block.word,
    spec: readSpec(reading, block, kind, schema as SchemaNode | undefined),
  };
}

function labelProblem(kind: string, labels: number): string | undefined {
  if (kind === "registry") return labels === 1 ? undefined : 'a registry has a name alone: registry "NAME" { … }';
  if (kind === "asset")
    return labels > 0 ? undefined : 'an asset has a name, and may have a scope: asset "SCOPE" "NAME" { … }';
  return labels === 2 ? undefined : `this block needs a scope and a name: ${kind} "SCOPE" "NAME" { … }`;
}

function readSpec(
  reading: Reading,
  { body, wordSpan }: Block,
  kind: string | undefined,
  schema: SchemaNode | undefined,
): Fields {
  if (kind === "asset") {
    reading.places.set("spec.files", { value: wordSpan, key: undefined });
    // Attributes are files, so that a file can have this name too.
    const isModes = (item: Attribute | Block) => item.type === "block" && item.word === "modes";
    const files = { items: body.items.filter((item) => !isModes(item)) };
    const rest = readBody(reading, { items: body.items.filter(isModes) }, { path: "spec", schema });
    return { files: readBody(reading, files, { path: "spec.files", schema: schema?.properties?.files }), ...rest };
  }
  if (kind !== "cronjob") return readBody(reading, body, { path: "spec", schema });
  // The wire has what each run is made from in an object of its own.
  const own = (item: Attribute | Block) => schema?.properties?.[wordOf(item)] !== undefined;
  reading.places.set("spec.job", { value: wordSpan, key: undefined });
  const spec = readBody(reading, { items: body.items.filter(own) }, { path: "spec", schema });
  const job = { path: "spec.job", schema: schema?.properties?.job };
  const run = readBody(reading, { items: body.items.filter((item) => !own(item)) }, job);
  return { ...spec, job: isFields(spec.job) ? { ...spec.job, ...run } : run };
}

function wordOf(item: Attribute | Block): string {
  return item.type === "attribute" ? item.name : item.word;
}

function readBody(reading: Reading, { items }: Body, target: Target): Fields {
  const fields: Fields = {};
  const first = new Map<string, Span>();
  for (const item of items) {
    if (item.type === "block") {
      readBlock(reading, item, { fields, first, ...target });
      continue;
    }
    const { name, nameSpan: key } = item;
    if (isTwice(reading, first, name, key)) continue;
    const value = readValue(reading, item.value, {
      path: `${target.path}.${name}`,
      key,
      schema: fieldOf(target.schema, name),
    });
    // As the language has it: null is the same as an attribute that is not there.
    if (value !== null || target.schema === undefined) fields[name] = value;
  }
  return fields;
}

function isTwice(reading: Reading, first: Map<string, Span>, name: string, span: Span): boolean {
  const before = first.get(name);
  first.set(name, before ?? span);
  if (before === undefined) return false;
  fail(reading, span, `"${name}" is here twice: first at ${placeOf(before)}`);
  return true;
}

interface Holder extends Target {
  fields: Fields;
  first: Map<string, Span>;
}

function readBlock(reading: Reading, block: Block, holder: Holder): void {
  const { fields, first, path, schema } = holder;
  const field = fieldOfBlock(block.word, schema);
  if (field === undefined) {
    readFreeBlock(reading, block, holder);
    return;
  }
  const { name, node } = field;
  if (node.type !== "array") {
    if (isTwice(reading, first, name, block.wordSpan)) return;
    fields[name] = readLabelled(reading, block, { path: `${path}.${name}`, schema: node });
    return;
  }
  const list = Array.isArray(fields[name]) ? (fields[name] as unknown[]) : [];
  list.push(readLabelled(reading, block, { path: `${path}.${name}[${list.length}]`, schema: node.items }));
  reading.places.set(`${path}.${name}`, { value: block.wordSpan, key: undefined });
  fields[name] = list;
}

/**
 * The field that a block is written for: its own name, or a list whose name is the plural of it. `init` is both: a switch,
 * which no block can be, and the block of one of the `inits`.
 */
function fieldOfBlock(word: string, schema: SchemaNode | undefined): { name: string; node: SchemaNode } | undefined {
  const fields = [word, `${word}s`].flatMap((name) => {
    const node = fieldOf(schema, name);
    return node === undefined ? [] : [{ name, node }];
  });
  return fields.find(({ node }) => !isSwitch(node)) ?? fields[0];
}

/** One label, where the items have a name. */
function readLabelled(reading: Reading, { labels, body, wordSpan, span }: Block, target: Target): Fields {
  reading.places.set(target.path, { value: span, key: wordSpan });
  const [label, ...more] = labels;
  const fields = readBody(reading, body, target);
  if (label === undefined) return fields;
  const isNamed = target.schema?.properties?.name !== undefined;
  if (!isNamed || more.length > 0) {
    fail(reading, (isNamed ? more[0] : label)?.span ?? wordSpan, "this label has no meaning here");
    return fields;
  }
  reading.places.set(`${target.path}.name`, { value: label.span, key: undefined });
  return { name: label.text, ...fields };
}

/** A block of a plugin's kind, or an unknown one: an object, or a list of them when there are several. */
function readFreeBlock(reading: Reading, block: Block, { fields, first, path }: Holder): void {
  const { word, wordSpan, labels } = block;
  const before = fields[word];
  const isFirst = !first.has(word);
  if (!isFirst && !isFields(before) && !Array.isArray(before)) {
    fail(reading, wordSpan, `"${word}" is an attribute already`);
    return;
  }
  first.set(word, first.get(word) ?? wordSpan);
  const list: unknown[] = Array.isArray(before) ? before : isFirst ? [] : [before];
  const at = isFirst ? `${path}.${word}` : `${path}.${word}[${list.length}]`;
  reading.places.set(at, { value: block.span, key: wordSpan });
  const own = readBody(reading, block.body, { path: at, schema: undefined });
  const value = labels.length === 0 ? own : { _labels: labels.map(({ text }) => text), ...own };
  if (!isFirst) list.push(value);
  fields[word] = isFirst ? value : list;
}
