import { expect, test } from "bun:test";
import { withBoundedBody } from "../../../../src/observability/http/bounded.ts";
import { tinyPieces } from "../../../support/tiny-pieces.ts";

test("a body that comes byte by byte is kept in few pieces", async () => {
  const { request, held } = tinyPieces(20_000);
  expect(await (await withBoundedBody(request, 20_000)).text()).toBe("x".repeat(20_000));
  expect(held()).toBeLessThan(1_000);
});

test("a body that is too large is refused before its end", async () => {
  const failure = withBoundedBody(tinyPieces(20_000).request, 19_999);
  expect(await failure.catch((error: unknown) => error)).toMatchObject({ code: "too_large" });
});
