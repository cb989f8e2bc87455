import { expect, test } from "bun:test";
import { readText } from "../../../../src/identity/http/body.ts";
import { tinyPieces } from "../../../support/tiny-pieces.ts";

test("a body that comes byte by byte is kept in few pieces", async () => {
  const { request, held } = tinyPieces(20_000);
  expect(await readText(request, { bodyBytesMax: 20_000 })).toBe("x".repeat(20_000));
  expect(held()).toBeLessThan(1_000);
});

test("a body without a length that is too large is refused", async () => {
  const failure = readText(tinyPieces(20_000).request, { bodyBytesMax: 19_999 });
  expect(await failure.catch((error: unknown) => error)).toMatchObject({ code: "too_large" });
});
