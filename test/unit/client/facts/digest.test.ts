import { expect, test } from "bun:test";
import { digestOf } from "../../../../src/client/facts/digest.ts";

test("equal values look equal, others do not; bytes and text of the same content are equal", () => {
  expect(digestOf("s3cret")).toMatch(/^#[0-9a-f]{8}$/);
  expect(digestOf("s3cret")).toBe(digestOf(new TextEncoder().encode("s3cret")));
  expect(digestOf("s3cret")).not.toBe(digestOf("s3cres"));
});

test("nobody can tell the value by hashing likely ones", () => {
  const plain = new Bun.CryptoHasher("sha256").update("true").digest("hex").slice(0, 8);
  expect(digestOf("true")).not.toBe(`#${plain}`);
});

test("another run of the client shows other digests", () => {
  const file = new URL("../../../../src/client/facts/digest.ts", import.meta.url).pathname;
  const script = `import { digestOf } from ${JSON.stringify(file)}; console.log(digestOf("true"))`;
  const told = () => Bun.spawnSync([process.execPath, "-e", script]).stdout.toString().trim();
  const first = told();
  expect(first).toMatch(/^#[0-9a-f]{8}$/);
  expect(told()).not.toBe(first);
});
