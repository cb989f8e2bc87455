import { beforeAll, expect, test } from "bun:test";
import { createAuthority, issueLeaf } from "../../../../src/ingress/certs/authority.ts";
import { readOwnFile } from "../../../../src/ingress/certs/own-file.ts";
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
  [{ issuer: { ...issuer, key: "other.key" } }, 'key "other.key": does not belong to the certificate'],
  [{ issuer: { ...issuer, key: "shop.pem" } }, 'key "shop.pem": none found'],
  [{ issuer: { ...issuer, certificate: "shop.key" } }, 'certificate "shop.key": none found'],
  [{ issuer: { ...issuer, certificate: "gone.pem" } }, 'file "gone.pem" does not exist'],
])("a pair that cannot serve is refused with the file and the reason: %j", async (more, text) => {
  await expect(read(more)).rejects.toThrow(text);
});
