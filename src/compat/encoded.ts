import type { TSchema } from "@sinclair/typebox";
import { parseBody } from "../base/http/request.ts";
import { isFields } from "../base/pure/fields.ts";
import { apply } from "../orchestration/api/apply.ts";
import { specSchemas } from "../orchestration/api/kinds/schemas.ts";
import { dispatchPlugin } from "../orchestration/api/dispatch.ts";
import { installPlugin } from "../orchestration/api/plugins.ts";
import { parseKind } from "../orchestration/core/kind.ts";
import type { ReadingLimits, Translation } from "./translation.ts";

/**
 * Its encoder writes fields that were not filled in, and leaves out those that are false. What the schema of a kind says
 * about a field decides what an empty value of it means; specs of plugins are theirs to read.
 */
export const encoded: Translation = {
  claims: (method, path) => bodyOf(method, path) !== undefined,
  async request(sent, limits) {
    const read = parsed(await sent.clone().arrayBuffer(), limits);
    if (read === undefined) return sent;
    const meantBody = bodyOf(sent.method, new URL(sent.url).pathname)?.(read) ?? read;
    if (Bun.deepEquals(read, meantBody)) return sent;
    const headers = new Headers(sent.headers);
    headers.delete("content-length");
    const { method, url, signal } = sent;
    return new Request(url, { method, headers, signal, body: JSON.stringify(meantBody) });
  },
};

/** How the body of a request is read; undefined for requests that are taken as they are. */
function bodyOf(method: string, path: string): ((read: unknown) => unknown) | undefined {
  if (method !== "POST") return undefined;
  if (path === apply.path) return (read) => (Array.isArray(read) ? read.map(manifestOf) : manifestOf(read));
  if (path === installPlugin.path) return (read) => cleaned(read, installPlugin.body);
  return command.test(path) ? (read) => cleaned(read, dispatchPlugin.body) : undefined;
}

const command = new RegExp(`^${dispatchPlugin.path.replace(":name", "[^/]+").replace(":command", "[^/]+")}$`);

/** Read as the server reads it. What it would refuse stays as it is, and the server says where the fault is. */
function parsed(bytes: ArrayBuffer, { jsonDepthMax: depthMax }: ReadingLimits): unknown {
  try {
    return parseBody(bytes, { depthMax });
  } catch {
    return undefined;
  }
}

function manifestOf(written: unknown): unknown {
  if (!isFields(written)) return written;
  const manifest = withoutNulls(written);
  const kind = typeof manifest.kind === "string" ? parseKind(manifest.kind) : undefined;
  if (kind === undefined || !isFields(manifest.spec)) return manifest;
  const spec = cleaned(manifest.spec, specSchemas[kind]);
  return { ...manifest, spec: isFields(spec) ? meant(spec) : spec };
}

function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** What the fields of a spec mean together. */
function meant(spec: Record<string, unknown>): Record<string, unknown> {
  const { tls, autoscale, replicas } = spec;
  const fields = { ...spec };
  // It writes `enabled` where it is true, and a provider always.
  if (isFields(tls) && tls.enabled === undefined) fields.tls = { ...tls, enabled: false };
  // Its parser fills this number in: the one to begin with, which is the smallest here too.
  if (isFields(autoscale) && typeof replicas === "number" && replicas <= Number(autoscale.min)) delete fields.replicas;
  return fields;
}

function cleaned(value: unknown, schema: TSchema | undefined): unknown {
  if (schema === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => cleaned(item, schema.items));
  if (!isFields(value)) return value;
  const { properties, required = [], entries } = objectSchema(schema, value);
  const fields = Object.entries(value).flatMap(([name, written]): [string, unknown][] => {
    const field: TSchema | undefined = properties?.[name] ?? entries;
    if (field === undefined) return [[name, written]];
    const isOptional = properties?.[name] !== undefined && !required.includes(name);
    if (isOptional && isUnfilled(written, field)) return [];
    const inner = cleaned(written, field);
    return isOptional && isEmptied(written, inner) ? [] : [[name, inner]];
  });
  return Object.fromEntries(fields);
}

interface ObjectSchema {
  properties?: Record<string, TSchema>;
  required?: readonly string[];
  /** Schema of the values of a map with free keys. */
  entries?: TSchema;
}

/** Picks, among several forms, the one whose fixed words the value has. */
function objectSchema(schema: TSchema, value: Record<string, unknown>): ObjectSchema {
  const forms: TSchema[] = schema.anyOf ?? [schema];
  const form = forms.find(
    ({ properties }) =>
      Object.entries((properties ?? {}) as Record<string, TSchema>).every(
        ([name, field]) => field.const === undefined || field.const === value[name],
      ) && properties !== undefined,
  );
  if (form !== undefined) return { properties: form.properties, required: form.required ?? [] };
  const [entries] = Object.values((schema.patternProperties ?? {}) as Record<string, TSchema>);
  return entries === undefined ? {} : { entries };
}

/** A value that its encoder writes where nothing was said, and that the field cannot mean. */
function isUnfilled(value: unknown, schema: TSchema): boolean {
  if (value === null) return true;
  if (value === "") return isText(schema);
  return value === 0 && (schema.minimum > 0 || schema.exclusiveMinimum >= 0);
}

function isText(schema: TSchema): boolean {
  const forms: TSchema[] = schema.anyOf ?? [schema];
  return forms.every(({ type }) => type === "string");
}

/** A block of which nothing was filled in; one that was written empty stays, for the server to judge. */
function isEmptied(before: unknown, after: unknown): boolean {
  return isFields(before) && isFields(after) && Object.keys(before).length > 0 && Object.keys(after).length === 0;
}
