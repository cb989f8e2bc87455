import { describe, expect, test } from "bun:test";
import {
  dnsCodes,
  dnsTypes,
  emptyAnswer,
  query,
  readAnswer,
  readQuestion,
} from "../../../../src/base/pure/dns-message.ts";

const bytes = (text: string) => Uint8Array.from(text.split(" ").map((pair) => Number.parseInt(pair, 16)));
const head = "12 34 01 00 00 01 00 00 00 00 00 00";

describe("a question", () => {
  test("is read with its name in lower case", () => {
    expect(readQuestion(bytes(`${head} 02 44 62 03 64 65 76 00 00 1c 00 01`))).toEqual({
      name: "db.dev",
      type: dnsTypes.aaaa,
      class: 1,
      lastLabel: 15,
      end: 24,
      hasEdns: false,
    });
  });

  test("with a dot within a label is not the name of two labels", () => {
    expect(readQuestion(bytes(`${head} 06 64 62 2e 64 65 76 00 00 01 00 01`))?.name).toBe("db\\046dev");
  });

  test("may ask for the root, and may come with EDNS", () => {
    const edns = "12 34 01 00 00 01 00 00 00 00 00 01 00 00 01 00 01 00 00 29 04 d0 00 00 00 00 00 00";
    expect(readQuestion(bytes(edns))).toMatchObject({ name: "", hasEdns: true });
  });

  const broken: Record<string, string> = {
    "a response": "12 34 81 00 00 01 00 00 00 00 00 00 00 00 01 00 01",
    "another kind of query": "12 34 11 00 00 01 00 00 00 00 00 00 00 00 01 00 01",
    "no question": "12 34 01 00 00 00 00 00 00 00 00 00 00 00 01 00 01",
    "two questions": "12 34 01 00 00 02 00 00 00 00 00 00 00 00 01 00 01 00 00 01 00 01",
    "a name that points to itself": `${head} c0 0c 00 01 00 01`,
    "a label that is too long": `${head} 40 ${"61 ".repeat(64)}00 00 01 00 01`,
    "a name that does not end": `${head} 02 64 62`,
    "a name of 256 bytes": `${head} ${`01 61 `.repeat(127)}01 61 00 00 01 00 01`,
    "no class": `${head} 02 64 62 00 00 01`,
    "half a head": "12 34 01 00 00 01",
  };
  for (const [what, text] of Object.entries(broken)) {
    test(`is not read of ${what}`, () => expect(readQuestion(bytes(text))).toBeUndefined());
  }

  test("may have a name of 255 bytes", () => {
    expect(readQuestion(bytes(`${head} ${"01 61 ".repeat(127)}00 00 01 00 01`))?.name.length).toBe(253);
  });
});

describe("an empty answer", () => {
  const asked = query(7, "db.dev.berth", dnsTypes.a);
  const question = readQuestion(asked);

  test("of our own has authority, and must not be kept", () => {
    const answer = emptyAnswer(asked, question, { code: dnsCodes.absent, isOwn: true });
    expect(readAnswer(answer, 7)).toEqual({ code: dnsCodes.absent, isOwn: true });
    const words = Buffer.from(answer);
    expect([4, 6, 8, 10].map((at) => words.readUInt16BE(at))).toEqual([1, 0, 1, 0]);
    // The record: name of the last label, SOA, IN, time to live 0; its last number is how long absence is kept.
    expect(words.subarray(asked.length, asked.length + 10).toString("hex")).toBe(
      "c01300060001000000000018".slice(0, 20),
    );
    expect(words.readUInt32BE(words.length - 4)).toBe(0);
  });

  test("for another server has no authority and no record", () => {
    const answer = emptyAnswer(asked, question, { code: dnsCodes.refused });
    expect(readAnswer(answer, 7)).toEqual({ code: dnsCodes.refused, isOwn: false });
    expect(answer.length).toBe(asked.length);
  });

  test("to a question that cannot be read has only a head", () => {
    expect(emptyAnswer(asked, undefined, { code: dnsCodes.malformed }).length).toBe(12);
  });

  test("to a query with EDNS has EDNS", () => {
    const withEdns = Buffer.concat([asked, Uint8Array.of(0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0)]);
    withEdns[11] = 1;
    const answer = Buffer.from(emptyAnswer(withEdns, readQuestion(withEdns), { code: dnsCodes.refused }));
    expect(answer.readUInt16BE(10)).toBe(1);
    expect(answer.subarray(-11).toString("hex")).toBe("00002904d0000000000000");
  });

  test("is told from an answer to another query", () => {
    expect(readAnswer(emptyAnswer(asked, question, { code: 0 }), 8)).toBeUndefined();
    expect(readAnswer(asked, 7)).toBeUndefined();
  });
});
