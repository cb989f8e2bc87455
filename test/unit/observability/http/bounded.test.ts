import { expect, test } from "bun:test";
import { JsonError } from "../../../../src/base/words/json.ts";
import { readBoundedBody } from "../../../../src/observability/http/bounded.ts";
import { tinyPieces } from "../../../support/tiny-pieces.ts";

const read = (request: Request, bytesMax: number) =>
  readBoundedBody(request, { bytesMax, depthMax: 8 }).catch((error: unknown) => error);

test("a body that comes byte by byte is kept in few pieces", async () => {
  const { request, held } = tinyPieces(20_000);
  // It is letters, and read to its end.
  expect(await read(request, 20_000)).toBeInstanceOf(JsonError);
  expect(held()).toBeLessThan(1_000);
});

test("a body that is too large is refused before its end", async () => {
  expect(await read(tinyPieces(20_000).request, 19_999)).toMatchObject({ code: "too_large" });
});
