import { plainPath } from "../../pure/percent-path.ts";
import type { BodyFraming } from "./body-boundary.ts";
import type { Refusal } from "./refusal.ts";

/** A request head that passed every check of RFC 9112; nothing in it can be read two ways. */
export interface RequestHead {
  method: string;
  /** Path and query, ASCII, starting with a slash; the path in the spelling of `plainPath`. */
  target: string;
  /** `target` without the query; not decoded. */
  path: string;
  version: "1.0" | "1.1";
  /** In the order sent, names in lower case, values as latin1 text without surrounding blanks. */
  headers: [name: string, value: string][];
  /** The host of an absolute target, else that of the header. */
  host: string | undefined;
  framing: BodyFraming;
  /** Whether the client wants the connection to go on. */
  keepAlive: boolean;
  /** The client waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean;
}

interface HeadLimits {
  headBytesMax: number;
  headersMax: number;
}

type HeadStep =
  { kind: "more" } | { kind: "head"; head: RequestHead; rest: Uint8Array } | { kind: "refused"; refusal: Refusal };

/** Reads one head after the other from a byte stream, however it is cut. After a refusal it must not be used again. */
export interface HeadReader {
  push(chunk: Uint8Array): HeadStep;
  /** Bytes of an unfinished head; 0 between requests. */
  readonly pendingBytes: number;
}

export function createHeadReader(limits: HeadLimits): HeadReader {
  let pending: Buffer = Buffer.alloc(0);
  return {
    get pendingBytes() {
      return pending.length;
    },
    push(chunk) {
      const bytes = skipEmptyLines(pending.length === 0 ? asBuffer(chunk) : Buffer.concat([pending, chunk]));
      const end = bytes.indexOf("\r\n\r\n");
      if (end + 4 > limits.headBytesMax || (end < 0 && bytes.length >= limits.headBytesMax)) {
        return refuse(431, `the request head is larger than ${limits.headBytesMax} bytes`);
      }
      if (end < 0) {
        if (bytes.includes("\n\n")) return refuse(400, "lines of the request head must end in CR LF");
        pending = bytes;
        return { kind: "more" };
      }
      pending = Buffer.alloc(0);
      const parsed = parseHead(bytes.toString("latin1", 0, end), limits);
      if ("status" in parsed) return { kind: "refused", refusal: parsed };
      return { kind: "head", head: parsed, rest: bytes.subarray(end + 4) };
    },
  };
}

export function headerOf(head: RequestHead, name: string): string | undefined {
  return head.headers.find(([other]) => other === name)?.[1];
}

const requestLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e]+) HTTP\/(\d\.\d)$/;
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const controlCharacter = /[\x00-\x08\x0a-\x1f\x7f]/;

function parseHead(text: string, limits: HeadLimits): RequestHead | Refusal {
  const [first = "", ...lines] = text.split("\r\n");
  const [, method = "", target = "", version] = requestLine.exec(first) ?? [];
  if (version === undefined)
    return bad("the request line must be METHOD /path HTTP/1.1, non-ASCII bytes percent-encoded");
  if (version !== "1.0" && version !== "1.1")
    return { status: 505, message: `HTTP/${version} is not spoken here, use HTTP/1.1` };
  const place = placeOf(target);
  if (place === undefined) {
    return bad(`request target ${JSON.stringify(target)} must be a path that starts with /, or http://HOST/path`);
  }
  if (lines.length > limits.headersMax) return { status: 431, message: `more than ${limits.headersMax} header lines` };
  const headers: [string, string][] = [];
  for (const line of lines) {
    const field = parseField(line);
    if ("status" in field) return field;
    headers.push([field.name, field.value]);
  }
  return interpret({ method, ...place, version, headers });
}

/**
 * A target is a path, or a whole address: servers must take both, and an address outweighs the header Host (RFC 9112,
 * section 3.2.2). Undefined for everything else.
 */
function placeOf(target: string): Pick<RequestHead, "target" | "path" | "host"> | undefined {
  const [, host, rest = ""] = /^https?:\/\/([^/?#@\\]+)((?:[/?].*)?)$/i.exec(target) ?? [];
  if (host === undefined && !target.startsWith("/")) return undefined;
  const whole = host === undefined ? target : rest.startsWith("/") ? rest : `/${rest}`;
  const query = whole.indexOf("?");
  const path = plainPath(query < 0 ? whole : whole.slice(0, query));
  return { target: query < 0 ? path : `${path}${whole.slice(query)}`, path, host };
}

function parseField(line: string): { name: string; value: string } | Refusal {
  if (line.startsWith(" ") || line.startsWith("\t")) return bad("a header value must not be folded over lines");
  if (controlCharacter.test(line)) return bad("the request head holds a control character");
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(colon, 0));
  if (!fieldName.test(name)) return bad(`header line ${JSON.stringify(line.slice(0, 80))} must be Name: value`);
  return { name: name.toLowerCase(), value: trimBlanks(line, colon + 1) };
}

/** What the fields mean for framing and routing. Every ambiguity is refused: it is how requests are smuggled. */
function interpret(
  fields: Pick<RequestHead, "method" | "target" | "path" | "host" | "version" | "headers">,
): RequestHead | Refusal {
  const all = (name: string) => fields.headers.filter(([other]) => other === name).map(([, value]) => value);
  const hosts = all("host");
  if (hosts.length > 1) return bad("more than one Host header");
  if (hosts.length === 0 && fields.version === "1.1") return bad("the Host header is missing");
  const framing = framingOf(all("content-length"), all("transfer-encoding"), fields.version);
  if ("status" in framing) return framing;
  const wants = all("connection").join(",").toLowerCase().split(",");
  return {
    ...fields,
    host: fields.host ?? hosts[0],
    framing,
    keepAlive: fields.version === "1.1" && !wants.some((word) => word.trim() === "close"),
    expectsContinue: fields.version === "1.1" && all("expect").some((value) => value.toLowerCase() === "100-continue"),
  };
}

function framingOf(lengths: string[], encodings: string[], version: string): BodyFraming | Refusal {
  const [length, ...moreLengths] = lengths;
  const [encoding, ...moreEncodings] = encodings;
  if (encoding !== undefined) {
    if (length !== undefined) return bad("both Content-Length and Transfer-Encoding are given, send one of them");
    if (version === "1.0") return bad("HTTP/1.0 has no Transfer-Encoding, use HTTP/1.1");
    if (encoding.toLowerCase() !== "chunked" || moreEncodings.length > 0) {
      return {
        status: 501,
        message: `transfer encoding ${JSON.stringify(encodings.join(", "))} is not known, use chunked`,
      };
    }
    return { kind: "chunked" };
  }
  if (length === undefined) return { kind: "none" };
  if (moreLengths.length > 0) return bad("more than one Content-Length header");
  if (!/^\d{1,15}$/.test(length)) return bad(`Content-Length ${JSON.stringify(length)} is not a number`);
  return { kind: "length", bytes: Number(length) };
}

/** Empty lines before a request line are allowed (RFC 9112 section 2.2): old clients end a body with one. */
function skipEmptyLines(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === 0x0d && bytes[start + 1] === 0x0a) start += 2;
  return start === 0 ? bytes : bytes.subarray(start);
}

function trimBlanks(line: string, from: number): string {
  const blank = (at: number) => line[at] === " " || line[at] === "\t";
  let start = from;
  let end = line.length;
  while (start < end && blank(start)) start += 1;
  while (end > start && blank(end - 1)) end -= 1;
  return line.slice(start, end);
}

function asBuffer(chunk: Uint8Array): Buffer {
  return chunk instanceof Buffer ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

function refuse(status: number, message: string): HeadStep {
  return { kind: "refused", refusal: { status, message } };
}

function bad(message: string): Refusal {
  return { status: 400, message };
}
