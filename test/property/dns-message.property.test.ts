import { expect, test } from "bun:test";
import fc from "fast-check";
import { emptyAnswer, isDnsQuery, query, readQuestion } from "../../src/base/pure/dns-message.ts";
import { answerTo } from "../../src/local/names/serve.ts";

const label = fc.stringMatching(/^[a-z0-9_-]{1,20}$/);
const zone = { suffix: "berth", short: new Set(["db.dev"]), search: ["corp.example"], subnets: ["172.18.0.0/16"] };

/** Bytes that begin as a query does, so that the parser gets further than the head. */
const nearQuery = fc
  .tuple(fc.constantFrom(0, 1, 2, 0x80), fc.nat(2), fc.uint8Array({ maxLength: 600 }))
  .map(([flags, count, rest]) => Buffer.concat([Uint8Array.of(1, 2, flags, 0, 0, count, 0, 0, 0, 0, 0, 1), rest]));

test("any bytes are answered shortly or not at all, and a response never", () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 600 }), nearQuery), (bytes) => {
      const answer = answerTo(zone, "172.18.0.9", bytes);
      expect(answer !== undefined).toBe(isDnsQuery(bytes));
      // An answer adds at most a record SOA and EDNS to the question.
      if (answer !== undefined) expect(answer.length).toBeLessThanOrEqual(bytes.length + 36);
      if (answer !== undefined) expect(isDnsQuery(answer)).toBe(false);
    }),
  );
});

test("a name comes back as it was asked, and so does its answer", () => {
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 8 }), fc.nat(0xffff), fc.nat(0xffff), (labels, id, type) => {
      const asked = query(id, labels.join("."), type);
      const question = readQuestion(asked);
      expect(question).toMatchObject({ name: labels.join("."), type, end: asked.length, hasEdns: false });
      const answer = emptyAnswer(asked, question, { code: 3, isOwn: true });
      expect(Buffer.from(answer.subarray(12, asked.length)).equals(Buffer.from(asked.subarray(12)))).toBe(true);
    }),
  );
});

test("no name below the suffix is ever left to another server", () => {
  fc.assert(
    fc.property(
      fc.array(label, { maxLength: 6 }),
      fc.constantFrom("", ".corp.example"),
      fc.nat(0xffff),
      (labels, search, type) => {
        const asked = query(1, [...labels, "BERTH"].join(".") + search, type);
        expect((answerTo(zone, "172.18.0.9", asked)?.[3] ?? 5) & 0x0f).not.toBe(5);
      },
    ),
  );
});
