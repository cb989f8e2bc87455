import { Failure } from "../../api/failure.ts";
import { JsonError, parseJson } from "../../lib/json.ts";

export interface BodyLimits {
  bodyBytesMax: number;
  jsonDepthMax: number;
}

/**
 * The fields of a JSON body; the Content-Type does not matter, and an empty body has none. Fails `too_large`, and
 * `invalid` for what is no JSON object.
 */
export async function readFields(request: Request, limits: BodyLimits): Promise<Record<string, unknown>> {
  const text = await readText(request, limits);
  if (text.trim() === "") return {};
  const value = parsed(text, limits);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Failure("invalid", "Body is not a JSON object");
}

/** The body as text. Fails `too_large`, before the rest of it is read. */
export async function readText(request: Request, { bodyBytesMax }: Pick<BodyLimits, "bodyBytesMax">): Promise<string> {
  const declared = request.headers.get("content-length");
  if (declared !== null) {
    if (Number(declared) > bodyBytesMax) throw tooLarge(bodyBytesMax);
    return request.text();
  }
  // A body without a declared length ends where the limit is.
  return request.body === null ? "" : readChunks(request.body, bodyBytesMax);
}

async function readChunks(body: ReadableStream<Uint8Array>, bodyBytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytesMax) throw tooLarge(bodyBytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function tooLarge(bodyBytesMax: number): Failure {
  return new Failure("too_large", `Body is larger than ${bodyBytesMax} bytes`);
}

function parsed(text: string, { jsonDepthMax }: BodyLimits): unknown {
  try {
    return parseJson(text, { depthMax: jsonDepthMax });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Failure("invalid", `Body is not JSON: line ${error.line} column ${error.column}: ${error.message}`);
  }
}
