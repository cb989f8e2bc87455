import { isFields } from "../../base/pure/fields.ts";
import { readBounded } from "../../base/words/read-bounded.ts";
import { encodedBodyText, Failure } from "../../base/wire/failure.ts";

/** The body as text. Fails `too_large`, before the rest of it is read. */
export function readText(request: Request, { bodyBytesMax }: { bodyBytesMax: number }): Promise<string> {
  const coding = request.headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") {
    return Promise.reject(new Failure("unsupported_media_type", encodedBodyText(coding)));
  }
  const declared = request.headers.get("content-length");
  if (declared === null) {
    // A body without a declared length ends where the limit is.
    return readBounded(request, bodyBytesMax, () => tooLarge(bodyBytesMax)).then((bytes) => bytes.toString());
  }
  return Number(declared) > bodyBytesMax ? Promise.reject(tooLarge(bodyBytesMax)) : request.text();
}

/**
 * The fields of a JSON body; the Content-Type does not matter, and an empty body has none. Fails `invalid` for what is
 * no JSON object.
 */
export function fieldsOf(text: string): Record<string, unknown> {
  if (text === "") return {};
  const value = parsed(text);
  if (isFields(value)) return value;
  throw new Failure("invalid", "Body is not a JSON object");
}

function tooLarge(bodyBytesMax: number): Failure {
  return new Failure("too_large", `Body is larger than ${bodyBytesMax} bytes`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Failure("invalid", "Body is not JSON", { cause });
  }
}
