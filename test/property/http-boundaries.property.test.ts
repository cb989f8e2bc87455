import { expect, test } from "bun:test";
import fc from "fast-check";
import { createBodyBoundary } from "../../src/base/http/front/body-boundary.ts";
import { createHeadReader } from "../../src/base/http/front/request-head.ts";

interface Message {
  head: string;
  path: string;
  body: string;
}

const path = fc.stringMatching(/^\/[a-z0-9/._-]{0,20}$/);
const payload = fc.string({ maxLength: 200 });

const plain = fc.tuple(path, payload, fc.boolean()).map(([target, body, withLength]): Message => {
  const bytes = Buffer.from(withLength ? body : "").toString("latin1");
  const length = withLength ? `Content-Length: ${bytes.length}\r\n` : "";
  return { path: target, body: bytes, head: `POST ${target} HTTP/1.1\r\nHost: a\r\n${length}\r\n${bytes}` };
});

const extension = fc.constantFrom("", ";a=b", " ;x");
const trailers = fc.constantFrom("", "T: 1\r\n", "T: 1\r\nU: 2\r\n");
const chunked = fc
  .tuple(path, fc.array(fc.tuple(fc.string({ minLength: 1, maxLength: 50 }), extension), { maxLength: 5 }), trailers)
  .map(([target, parts, trailer]): Message => {
    const chunks = parts.map(([text, ext]) => ({ bytes: Buffer.from(text).toString("latin1"), ext }));
    const framed = chunks.map(({ bytes, ext }) => `${bytes.length.toString(16)}${ext}\r\n${bytes}\r\n`).join("");
    return {
      path: target,
      body: chunks.map(({ bytes }) => bytes).join(""),
      head: `POST ${target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${framed}0\r\n${trailer}\r\n`,
    };
  });

const pipeline = fc.array(fc.oneof(plain, chunked), { minLength: 1, maxLength: 6 });
const cuts = fc.array(fc.nat({ max: 4_000 }), { maxLength: 30 });

/** Reads requests the way the front does, from pieces. */
function readAll(pieces: Uint8Array[]): { path: string; body: string }[] {
  const reader = createHeadReader({ headBytesMax: 16_384, headersMax: 100 });
  const seen: { path: string; body: string }[] = [];
  let open: { path: string; boundary: ReturnType<typeof createBodyBoundary>; body: string } | undefined;
  for (const piece of pieces) {
    let rest = piece;
    for (;;) {
      if (open === undefined) {
        const step = reader.push(rest);
        if (step.kind === "refused") throw new Error(step.refusal.message);
        if (step.kind === "more") break;
        open = { path: step.head.path, boundary: createBodyBoundary(step.head.framing), body: "" };
        rest = step.rest;
      }
      const current = open;
      const step = current.boundary.take(rest, (part) => {
        current.body += Buffer.from(part).toString("latin1");
      });
      if (step.fault !== undefined) throw new Error(step.fault);
      rest = rest.subarray(step.used);
      if (!step.done) break;
      expect(current.boundary.payloadBytes).toBe(current.body.length);
      seen.push({ path: current.path, body: current.body });
      open = undefined;
      if (rest.length === 0) break;
    }
  }
  return seen;
}

function cut(bytes: Buffer, at: number[]): Uint8Array[] {
  const places = [...new Set(at.filter((place) => place < bytes.length))].sort((a, b) => a - b);
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
}

test("a pipeline of requests reads the same however the stream is cut", () => {
  fc.assert(
    fc.property(pipeline, cuts, (messages, at) => {
      const bytes = Buffer.from(messages.map(({ head }) => head).join(""), "latin1");
      expect(readAll(cut(bytes, at))).toEqual(messages.map(({ path: target, body }) => ({ path: target, body })));
    }),
    { numRuns: 400 },
  );
});

test("one byte at a time, too", () => {
  fc.assert(
    fc.property(pipeline, (messages) => {
      const bytes = Buffer.from(messages.map(({ head }) => head).join(""), "latin1");
      const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
      expect(readAll(single)).toEqual(messages.map(({ path: target, body }) => ({ path: target, body })));
    }),
    { numRuns: 100 },
  );
});

test("arbitrary bytes never crash the readers, and are refused or wait for more", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
      const step = createHeadReader({ headBytesMax: 512, headersMax: 10 }).push(bytes);
      expect(["more", "head", "refused"]).toContain(step.kind);
      const boundary = createBodyBoundary({ kind: "chunked" });
      expect(boundary.take(bytes).used).toBeLessThanOrEqual(bytes.length);
    }),
    { numRuns: 1_000 },
  );
});
