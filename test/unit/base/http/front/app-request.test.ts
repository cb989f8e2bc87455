import { expect, test } from "bun:test";
import fc from "fast-check";
import { appRequest, isRewrittenPath } from "../../../../../src/base/http/front/app-request.ts";
import { plainPath } from "../../../../../src/base/pure/percent-path.ts";
import { createHeadReader, type RequestHead } from "../../../../../src/base/http/front/request-head.ts";

function headOf(text: string): RequestHead {
  const step = createHeadReader({ headBytesMax: 16_384, headersMax: 100 }).push(Buffer.from(text, "latin1"));
  if (step.kind !== "head") throw new Error(`not a head: ${JSON.stringify(step)}`);
  return step.head;
}

const signal = new AbortController().signal;
const made = (text: string, body: string[] = [], added?: { name: string; value: string }) =>
  appRequest(
    headOf(text),
    body.map((part) => Buffer.from(part)),
    { added, signal },
  );

test("the request has method, target, headers and body of the client, and a host of ours", async () => {
  const request = made("POST /a/b?c=d%20e HTTP/1.1\r\nHost: evil\r\nX-Tag: t\r\nContent-Length: 4\r\n\r\n", [
    "ab",
    "cd",
  ]);
  expect([request.method, request.url]).toEqual(["POST", "http://localhost/a/b?c=d%20e"]);
  expect([request.headers.get("host"), request.headers.get("x-tag")]).toEqual(["localhost", "t"]);
  expect(request.headers.get("content-length")).toBe("4");
  expect(await request.text()).toBe("abcd");
});

test("headers of the hop stay behind, repeated ones are joined, bytes above ASCII stay what they are", () => {
  const request = made(
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nTE: trailers\r\nX-A: 1\r\nX-A: 2\r\nX-L: caf\xe9\r\n\r\n",
  );
  expect(request.headers.get("connection")).toBeNull();
  expect(request.headers.get("te")).toBeNull();
  expect(request.headers.get("x-a")).toBe("1, 2");
  expect(request.headers.get("x-l")).toBe("caf\xe9");
});

test("an added header takes the place of the client's own", () => {
  const request = made("GET / HTTP/1.1\r\nHost: a\r\nX-Peer: 6.6.6.6\r\n\r\n", [], {
    name: "X-Peer",
    value: "1.2.3.4",
  });
  expect(request.headers.get("x-peer")).toBe("1.2.3.4");
});

test("a GET has no body, whatever the client sent", async () => {
  const request = made("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n", ["ab"]);
  expect(await request.text()).toBe("");
});

test("every path of visible ASCII is either refused or reaches the app as it is compared", () => {
  const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  const odd = fc.constantFrom(".", "..", "/", "//", "\\", "%2e", "%2E", "#", ":", "@", "%", "%5c", "[", "|");
  const path = fc.array(fc.oneof(visible, odd), { maxLength: 30 }).map((parts) => `/${parts.join("")}`);
  fc.assert(
    fc.property(path, (text) => {
      const [plain = ""] = text.split("?");
      if (isRewrittenPath(plain)) return;
      const seen = new URL(made(`GET ${plain} HTTP/1.1\r\nHost: a\r\n\r\n`).url);
      expect(seen.host).toBe("localhost");
      expect(decoded(seen.pathname)).toBe(decoded(plainPath(plain)));
    }),
    { numRuns: 2_000 },
  );
});

/** The URL parser percent-encodes a few characters that nobody reads differently. */
function decoded(path: string): string {
  return path.replace(/%(22|3c|3e|5e|60|7b|7c|7d)/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
