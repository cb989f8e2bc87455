/** The parts of a JSON Schema of a block that a table of its fields shows. */
interface Schema {
  description?: string;
  default?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
}

const handedOn = "as of a statefulset";

/** The section "Fields" of a bundled plugin's README, as its schema says it. */
export function fieldsSection(schema: Schema): string {
  const rows = [...rowsOf(schema, "")];
  const own = rows.filter(({ text }) => text !== handedOn);
  const others = rows.filter(({ text }) => text === handedOn).map(({ path }) => `\`${path}\``);
  const table = own.map(({ path, text, fallback }) => `| \`${path}\` | ${fallback} | ${text} |`);
  return [
    ...["## Fields", "", "| field | default | |", "|---|---|---|", ...table],
    `| ${others.join(", ")} | | ${handedOn} |`,
  ].join("\n");
}

function* rowsOf(schema: Schema, within: string): Generator<{ path: string; text: string; fallback: string }> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const path = `${within}${name}`;
    const fallback = field.default === undefined ? "" : `\`${String(field.default)}\``;
    yield { path, text: (field.description ?? "").replaceAll("|", "\\|"), fallback };
    const item = field.items ?? {};
    for (const inner of [field, ...(field.oneOf ?? []), ...(field.anyOf ?? [])])
      yield* rowsOf({ properties: inner.properties ?? {} }, `${path}.`);
    for (const inner of [item, ...(item.oneOf ?? []), ...(item.anyOf ?? [])]) yield* rowsOf(inner, `${path}[].`);
  }
}
