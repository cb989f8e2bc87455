import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "bun:test";
import { isSigned, publicKeys, releaseNamespace } from "../../../../src/local/server/ssh-signature.ts";
import { releaseKey } from "../../../support/release-key.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-signature."));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = releaseKey(folder);
const other = releaseKey(folder);
const keys = publicKeys(key.publicText);
const namespace = releaseNamespace;
const text = "# berth 1.2.3\nabc  berth-linux-x64\n";
const signature = key.sign(text);

test("what ssh-keygen has signed is signed", () => {
  expect(isSigned(text, { signature, keys, namespace })).toBe(true);
  expect(isSigned(text, { signature: signature.replaceAll("\n", "\r\n"), keys, namespace })).toBe(true);
  const both = publicKeys(`${other.publicText}\n# a comment\n${key.publicText}`);
  expect(isSigned(text, { signature, keys: both, namespace })).toBe(true);
  expect(isSigned("", { signature: key.sign(""), keys, namespace })).toBe(true);
});

test.each<[string, () => boolean]>([
  ["another text", () => isSigned(`${text} `, { signature, keys, namespace })],
  ["another key", () => isSigned(text, { signature: other.sign(text), keys, namespace })],
  ["no key", () => isSigned(text, { signature, keys: [], namespace })],
  ["another purpose", () => isSigned(text, { signature: key.sign(text, "git"), keys, namespace })],
  ["a purpose that is asked for otherwise", () => isSigned(text, { signature, keys, namespace: "git" })],
  ["nothing", () => isSigned(text, { signature: "", keys, namespace })],
  ["half of one", () => isSigned(text, { signature: signature.slice(0, 150), keys, namespace })],
  ["something behind it", () => isSigned(text, { signature: `${signature}x`, keys, namespace })],
])("%s is not signed", (_, check) => {
  expect(check()).toBe(false);
});

test("no single changed character of a signature passes, and none is an exception", () => {
  const body = signature.split("\n").slice(1, -2).join("");
  const armored = (base64: string) => `-----BEGIN SSH SIGNATURE-----\n${base64}\n-----END SSH SIGNATURE-----\n`;
  expect(isSigned(text, { signature: armored(body), keys, namespace })).toBe(true);
  const original = Buffer.from(body, "base64");
  for (let at = 0; at < original.length; at++) {
    const changed = Buffer.from(original);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect([at, isSigned(text, { signature: armored(changed.toString("base64")), keys, namespace })]).toEqual([
      at,
      false,
    ]);
  }
});

test("keys are read from the usual files, and other kinds of keys are none", () => {
  const [line = ""] = key.publicText.split("\n");
  expect(
    publicKeys(`release ${line}\nrelease namespaces="x" ${line}\n#${line}\nssh-rsa AAAA\nssh-ed25519 AAAA\n`),
  ).toEqual([...keys, ...keys]);
});
