import { beforeAll, expect, test } from "bun:test";
import { createAuthority, issueLeaf } from "../../../../src/ingress/certs/authority.ts";
import { readOwnFile } from "../../../../src/ingress/certs/own-file.ts";
import { thrownBy } from "../../../support/failure.ts";
import { Failure } from "../../../../src/base/wire/failure.ts";

const now = Date.UTC(2026, 0, 1);
const day = 86_400_000;
const files = new Map<string, string>();
const issuer = { kind: "file", certificate: "shop.pem", key: "shop.key" } as const;
const read = (more: Partial<Parameters<typeof readOwnFile>[0]> = {}) =>
  readOwnFile({
    issuer,
    names: ["shop.test"],
    now,
    pemBytesMax: 30_000,
    async readFile(reference) {
      const text = files.get(reference);
      if (text === undefined) throw new Failure("not_found", `file "${reference}" does not exist`);
      return text;
    },
    ...more,
  });

beforeAll(async () => {
  const authority = await createAuthority({ commonName: "ca", now });
  const leaf = await issueLeaf(authority, { names: ["shop.test", "*.shop.test"], now });
  const other = await issueLeaf(authority, { names: ["other.test"], now });
  files.set("shop.pem", leaf.certificate).set("shop.key", leaf.key).set("other.key", other.key);
  files.set("both.pem", `${leaf.certificate}${leaf.key}`);
});

test("a good pair is read, from two files or from one", async () => {
  const pair = await read();
  expect(pair.names).toEqual(["shop.test", "*.shop.test"]);
  expect(await read({ issuer: { kind: "file", certificate: "both.pem", key: "both.pem" } })).toEqual(pair);
});

test.each([
  [{ now: now + 91 * day }, 'certificate "shop.pem": expired on 2026-04-01. Put a renewed one in its place'],
  [{ now: now - 2 * day }, 'certificate "shop.pem": not valid before 2025-12-31'],
  [
    { names: ["a.shop.test", "a.b.shop.test", "x.test"] },
    'certificate "shop.pem": not valid for a.b.shop.test, x.test; it is for shop.test, *.shop.test',
  ],
  [{ pemBytesMax: 100 }, 'certificate "shop.pem": '],
])("a pair that cannot serve is refused with the file and the reason: %j", async (more, text) => {
  await expect(read(more)).rejects.toThrow(text);
});

test("whatever else is at the paths, the text is the same, and the cause says what it is", async () => {
  files.set("shadow", "root:$y$j9T$secret:19000:0:::::\n");
  const texts = new Set<string>();
  const causes: string[] = [];
  for (const [certificate, key] of [
    ["shop.pem", "other.key"],
    ["shop.pem", "shop.pem"],
    ["shop.key", "shop.key"],
    ["shadow", "shadow"],
    ["shop.pem", "shadow"],
    ["shop.pem", "gone"],
    ["gone", "shop.key"],
  ] as const) {
    const failure = await thrownBy(() => read({ issuer: { kind: "file", certificate, key } }));
    texts.add(failure.message.replace(`"${certificate}"`, "A").replace(`"${key}"`, "B"));
    causes.push(String((failure.cause as Error).message));
    expect(failure.message).not.toContain("secret");
  }
  expect([...texts]).toEqual([
    "certificate A and key B are not PEM files that the server can read and that belong together; its log says which and why",
  ]);
  expect(new Set(causes).size).toBeGreaterThan(3);
});
