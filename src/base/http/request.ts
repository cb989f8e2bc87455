import type { TSchema } from "@sinclair/typebox";
import { parseSince } from "../pure/since.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { Failure } from "../wire/failure.ts";
import { didYouMean } from "../pure/suggest.ts";
import { parseJson } from "../words/json.ts";

/** Path of a request as sent, without the query. */
export function pathOf(request: Request): string {
  const { url } = request;
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

/**
 * The query parameters that an endpoint knows, trimmed. Reads ignore others, so that clients of a later version get an
 * answer, and take a blank one as left out. Whatever changes something refuses both: a mistyped `dry_run` must not
 * apply, and `ordinal=` of a script with an unset variable must not delete a whole statefulset. Fails `invalid` for
 * these, for a value that does not fit, and for a parameter given twice.
 */
export function readQuery(
  request: Pick<Request, "url">,
  { method, query: schema }: Pick<Endpoint, "method" | "query">,
): Record<string, string | undefined> {
  const query: Record<string, string | undefined> = {};
  const start = request.url.indexOf("?");
  if (start < 0) return query;
  const given = new URLSearchParams(request.url.slice(start + 1));
  const properties: Record<string, TSchema> = schema?.properties ?? {};
  if (method !== "GET") refuseUnknown([...given.keys()], Object.keys(properties));
  for (const [name, property] of Object.entries(properties)) {
    const [value, ...more] = given.getAll(name);
    if (more.length > 0) throw new Failure("invalid", `query ${name}: given more than once`);
    const text = value?.trim();
    if (text === "" && method !== "GET" && !mayBeBlank.includes(name)) {
      throw new Failure("invalid", `query ${name}: is empty; give it a value, or leave it out`);
    }
    if (text === undefined || text === "") continue;
    if (property.pattern !== undefined && !new RegExp(property.pattern).test(text)) {
      throw new Failure("invalid", `query ${name}: ${JSON.stringify(text)} is not a boolean, write true or false`);
    }
    query[name] = text;
  }
  return query;
}

/** A blank scope or kind stands for the only one that fits; both say nothing about how much is changed. */
const mayBeBlank = ["scope", "kind"];

const shownMax = 80;

function refuseUnknown(given: readonly string[], known: readonly string[]): void {
  const name = given.find((word) => !known.includes(word));
  if (name === undefined) return;
  const list = known.length === 0 ? "it takes none" : `it takes ${known.join(", ")}`;
  throw new Failure(
    "invalid",
    `query ${JSON.stringify(name.slice(0, shownMax))}: not a parameter of this request${didYouMean(name, known)}; ${list}`,
  );
}

/** A whole number from 0 to `max` in a query parameter. */
export function readCount(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= max) return count;
  throw new Failure(
    "invalid",
    `query ${name}: ${JSON.stringify(text)} is not a whole number${max === Number.MAX_SAFE_INTEGER ? "" : ` from 0 to ${max}`}`,
  );
}

/** A time of a query: a length of time before now, or a point in time. Epoch milliseconds. */
export function readSince(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const since = parseSince(text, now);
  if (since.ok) return since.value;
  throw new Failure("invalid", `query since: ${since.error}`);
}

/** A pod name from a path; anything else cannot be a container's name. */
export function readPodName(params: { readonly name?: string | null }): string {
  const { name } = params;
  if (typeof name === "string" && /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/.test(name)) return name;
  const hint = "letters, digits, and _ . - after the first";
  throw new Failure("invalid", `pod name ${JSON.stringify(name ?? "")} is not valid, use ${hint}`);
}

/** The JSON body; the Content-Type does not matter. Fails `invalid` for an empty one, `JsonError` for bad syntax. */
export async function readBody(request: Request, options: { depthMax: number }): Promise<unknown> {
  return parseBody(await request.arrayBuffer(), options);
}

/** A body that is text and no JSON. Fails `invalid` where it is not UTF-8. */
export async function readText(request: Request): Promise<string> {
  return decodeText(await request.arrayBuffer());
}

/** A parameter of the path. Fails `invalid` where its percent-encoding is broken. */
export function readParam<Name extends string>(
  params: Readonly<Record<Name, string | null>>,
  name: NoInfer<Name>,
): string {
  const value = params[name];
  if (typeof value === "string") return value;
  throw new Failure("invalid", `the ${name} in the path is not percent-encoded UTF-8`);
}

/** Like `readBody`, where a body may be left out: undefined then. */
export async function readOptionalBody(request: Request, options: { depthMax: number }): Promise<unknown> {
  const bytes = await request.arrayBuffer();
  return bytes.byteLength === 0 ? undefined : parseBody(bytes, options);
}

/** Like `readBody`, for a body that was read already. */
export function parseBody(bytes: ArrayBuffer | Uint8Array, options: { depthMax: number }): unknown {
  const text = decodeText(bytes);
  if (text.trim() === "") throw new Failure("invalid", "the body is empty, send JSON");
  return parseJson(text, options);
}

/** Who asks, for the event log: free text from the header, else `operator`. */
export function readActor(request: Request, header: string): string {
  const actor = request.headers.get(header)?.trim() ?? "";
  return /^[\x20-\x7e]{1,128}$/.test(actor) ? actor : "operator";
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeText(bytes: ArrayBuffer | Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new Failure("invalid", "the body is not UTF-8 text", { cause });
  }
}
