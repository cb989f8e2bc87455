import { expect, test } from "bun:test";
import { allowedBy } from "../../../../src/ingress/proxy/open-files.ts";

const wanted = { connectionsMax: 20_000, splicesMax: 1_000 };

test.each([
  [1_048_576, wanted],
  [47_000, wanted],
  [46_999, { connectionsMax: 20_000, splicesMax: 0 }],
  [23_000, { connectionsMax: 10_000, splicesMax: 0 }],
  [1_024, { connectionsMax: 100, splicesMax: 0 }],
])("with %d open files the proxy may carry %o", (files, allowed) => {
  expect(allowedBy(files, wanted)).toEqual(allowed);
});
