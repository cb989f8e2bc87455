import { sha256Hex } from "../pure/digest.ts";
import { idempotencyHeader } from "../wire/client.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { Failure } from "../wire/failure.ts";

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Carries a request out once for each key. `again`: the answer is that of an earlier one. */
export type CarryOutOnce = (
  asked: { key: string; digest: string },
  work: () => Promise<Answer>,
) => Promise<Answer & { again: boolean }>;

/** The key of a request; undefined without one. Fails `invalid` where the endpoint or the key cannot be. */
export function keyOf(request: Request, { method, path, once }: Endpoint): string | undefined {
  const text = request.headers.get(idempotencyHeader);
  if (text === null || method === "GET") return undefined;
  if (once !== true) {
    throw new Failure("invalid", `${idempotencyHeader}: ${method} ${path} does not support it, leave it out`);
  }
  // A structured header writes texts in quotes.
  const key = text.replace(/^"(.*)"$/, "$1");
  if (/^[\x21-\x7e]{1,128}$/.test(key)) return key;
  throw new Failure("invalid", `${idempotencyHeader}: use 1 to 128 letters, digits and signs, for example a UUID`);
}

/** The same answer for every request with this key. `work` gets the request whole. */
export async function answerOnce(
  carryOut: CarryOutOnce,
  { request, key }: { request: Request; key: string },
  work: (request: Request) => Response | Promise<Response>,
): Promise<Response> {
  const { method, url, headers } = request;
  const body = await request.arrayBuffer();
  const digest = digestOf(request, new Uint8Array(body));
  const whole = () => new Request(url, { method, headers, ...(body.byteLength === 0 ? {} : { body }) });
  const answer = await carryOut({ key, digest }, async () => read(await work(whole())));
  const told = { ...answer.headers, ...(answer.again ? { [replayedHeader]: "true" } : {}) };
  return new Response(answer.body, { status: answer.status, headers: told });
}

/** Tells requests apart that come with the same key. */
export function digestOf({ method, url }: Request, body: Uint8Array): string {
  return sha256Hex(`${method} ${targetOf(url)}\n${sha256Hex(body)}`);
}

const replayedHeader = "Idempotency-Replayed";

async function read(response: Response): Promise<Answer> {
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** Path and query: the name of the host may be any. */
function targetOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("//") + 2));
}
