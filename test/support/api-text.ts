/**
 * OpenAPI documents as text for reviewers: a line for each endpoint, parameter and field. A shape that
 * stood before is named by the place where it stands. Descriptions are left out: they stand in the source. So are path
 * parameters that take any text, and the envelope of an answer, {status: "ok", data}, of which only the data is shown.
 */

type Schema = Record<string, unknown>;

const widest = 140;

export function createApiText(): { endpoints(document: unknown): string[] } {
  /** Shape as JSON → the place where its lines stand. */
  const places = new Map<string, string>();

  function endpoints(document: unknown): string[] {
    const { paths, components } = document as { paths: Record<string, Record<string, Schema>>; components: Schema };
    const lines = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) =>
        endpoint(`${method.toUpperCase()} ${path}`, operation),
      ),
    );
    return [...lines, ...under("components", components)];
  }

  function endpoint(name: string, operation: Schema): string[] {
    const responses = operation["responses"] as Record<string, Schema>;
    const failures = Object.keys(responses).filter((status) => "$ref" in (responses[status] ?? {}));
    const security = operation["security"] === undefined ? "" : ` · security ${JSON.stringify(operation["security"])}`;
    return [
      `${name} · ${String(operation["operationId"])}${security} · errors ${failures.join(" ") || "none"}`,
      ...parameters(name, (operation["parameters"] as Schema[] | undefined) ?? []),
      ...contents(name, "  body", operation["requestBody"] as Schema | undefined),
      ...Object.entries(responses)
        .filter(([status]) => !failures.includes(status))
        .flatMap(([status, response]) => contents(name, `  ${status}`, response)),
    ];
  }

  /** Those of one kind stand on one line where there is room. */
  function parameters(name: string, list: readonly Schema[]): string[] {
    const shown = list.filter((parameter) => parameter["in"] !== "path" || oneLine(parameter["schema"]) !== "string");
    return [...Map.groupBy(shown, (parameter) => String(parameter["in"]))].flatMap(([kind, group]) => {
      const named = group.map(
        (parameter) => `${String(parameter["name"])}${parameter["required"] === true ? "" : "?"}`,
      );
      const together = `  ${kind} ${group.map((parameter, at) => `${named[at]}: ${oneLine(parameter["schema"])}`).join(", ")}`;
      if (together.length <= widest) return [together];
      return group.flatMap((parameter, at) => field(`${name} ${kind}`, `  ${kind} ${named[at]}`, parameter["schema"]));
    });
  }

  function contents(place: string, label: string, holder: Schema | undefined): string[] {
    if (holder === undefined) return [];
    const content = Object.entries((holder["content"] ?? {}) as Record<string, Schema>);
    if (content.length === 0) return [`${label} without a body`];
    return content.flatMap(([type, { schema }]) => {
      const data = enveloped(schema);
      const kind = type === "application/json" ? "" : ` ${type}`;
      return field(
        `${place}${label.trimEnd().replace(/^ +/, " ")}`,
        `${label}${data === undefined ? kind : " data"}`,
        data ?? schema,
      );
    });
  }

  /** `label: shape` on one line where that is short, else the shape's fields on lines of their own below. */
  function field(place: string, label: string, shape: unknown): string[] {
    const short = oneLine(shape);
    if (short !== undefined && label.length + short.length + 2 <= widest) return [`${label}: ${short}`];
    const key = JSON.stringify(bare(shape));
    const known = places.get(key);
    if (known !== undefined) return [`${label}: as ${known}`];
    places.set(key, place);
    const schema = shape as Schema;
    const indent = `${/^ */.exec(label)?.[0] ?? ""}  `;
    const alternatives = (schema["anyOf"] ?? schema["oneOf"] ?? schema["allOf"]) as unknown[] | undefined;
    if (alternatives !== undefined) {
      const kind = ["anyOf", "oneOf", "allOf"].find((word) => word in schema);
      return [
        `${label}: ${kind}${limits(schema)}`,
        ...alternatives.flatMap((each, at) => field(`${place}|${at + 1}`, `${indent}| ${at + 1}`, each)),
      ];
    }
    if (schema["items"] !== undefined)
      return field(`${place}[]`, `${label}: list${limits(schema)} of`, schema["items"]);
    const { properties, patternProperties, additionalProperties } = schema as Record<string, Record<string, unknown>>;
    if (properties === undefined && patternProperties === undefined && typeof additionalProperties !== "object") {
      return [`${label}: ${oneLine(shape) ?? JSON.stringify(bare(shape))}`];
    }
    const required = new Set(schema["required"] as string[] | undefined);
    return [
      `${label}: object${limits(schema)}`,
      ...Object.entries(properties ?? {}).flatMap(([name, each]) =>
        field(`${place}.${name}`, `${indent}${name}${required.has(name) ? "" : "?"}`, each),
      ),
      ...Object.entries(patternProperties ?? {}).flatMap(([pattern, each]) =>
        field(`${place}./${pattern}/`, `${indent}/${pattern}/`, each),
      ),
      ...(typeof additionalProperties === "object" ? field(`${place}.*`, `${indent}*`, additionalProperties) : []),
    ];
  }

  function under(place: string, holder: Schema): string[] {
    return Object.entries(holder ?? {}).flatMap(([group, entries]) => [
      `${place} ${group}`,
      ...Object.entries(entries as Record<string, Schema>).flatMap(([name, entry]) =>
        "content" in entry
          ? contents(`${group} ${name}`, `  ${name}`, entry)
          : field(`${group} ${name}`, `  ${name}`, entry),
      ),
    ]);
  }

  return { endpoints };
}

function enveloped(schema: unknown): unknown {
  const { properties = {}, ...rest } = (schema ?? {}) as { properties?: Record<string, Schema> };
  if (Object.keys(properties).join() !== "status,data" || "additionalProperties" in rest) return undefined;
  return properties["status"]?.["const"] === "ok" ? properties["data"] : undefined;
}

/** Limits and the like, as they stand beside a type. */
const beside = [
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minimum",
  "maximum",
  "default",
];

function limits(schema: Schema): string {
  const told = beside.filter((word) => word in schema).map((word) => ` ${word} ${JSON.stringify(schema[word])}`);
  return `${told.join("")}${schema["additionalProperties"] === false ? " closed" : ""}`;
}

/** Undefined for what needs lines of its own. */
function oneLine(shape: unknown): string | undefined {
  if (typeof shape !== "object" || shape === null) return JSON.stringify(shape) ?? "anything";
  const schema = shape as Schema;
  if ("$ref" in schema) return String(schema["$ref"]);
  if ("const" in schema) return `${JSON.stringify(schema["const"])}${limits(schema)}`;
  if ("enum" in schema)
    return `${(schema["enum"] as unknown[]).map((each) => JSON.stringify(each)).join(" | ")}${limits(schema)}`;
  const alternatives = schema["anyOf"] as unknown[] | undefined;
  if (alternatives !== undefined) {
    const parts = alternatives.map(oneLine);
    return parts.includes(undefined) ? undefined : `${parts.join(" | ")}${limits(schema)}`;
  }
  if (schema["items"] !== undefined) {
    const item = oneLine(schema["items"]);
    return item === undefined ? undefined : `list${limits(schema)} of (${item})`;
  }
  const known = new Set(["type", "description", "title", "required", "properties", ...beside]);
  if (Object.keys(schema).some((word) => !known.has(word) && word !== "additionalProperties")) {
    return undefined;
  }
  if (typeof schema["additionalProperties"] === "object") {
    const value = "properties" in schema ? undefined : oneLine(schema["additionalProperties"]);
    return value === undefined ? undefined : `object of (${value})${limits(schema)}`;
  }
  if (schema["properties"] === undefined) return `${String(schema["type"] ?? "anything")}${limits(schema)}`;
  const required = new Set(schema["required"] as string[] | undefined);
  const parts = Object.entries(schema["properties"] as Schema).map(([name, each]) => {
    const text = oneLine(each);
    return text === undefined ? undefined : `${name}${required.has(name) ? "" : "?"}: ${text}`;
  });
  return parts.includes(undefined) ? undefined : `{${parts.join(", ")}}${limits(schema)}`;
}

/** Without what is not shown, so that shapes are equal when their lines are. */
function bare(value: unknown, names = false): unknown {
  if (Array.isArray(value)) return value.map((each) => bare(each));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([word]) => names || (word !== "description" && word !== "title"));
  return Object.fromEntries(
    entries.map(([word, each]) => [word, bare(each, word === "properties" || word === "patternProperties")]),
  );
}
