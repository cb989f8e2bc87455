import { expect, test } from "bun:test";
import type { AccessEntry } from "../../../../src/ingress/api/access-log.ts";
import { createAccess } from "../../../../src/ingress/service/access.ts";
import { accessLine } from "../../../support/access-lines.ts";

test("what the ingress wants is written, with numbers that grow also when the clock is set back", () => {
  const written: AccessEntry[] = [];
  const times = [2_000, 2_000, 1_000, 3_000];
  const onRequest = createAccess({
    write: (entry) => void written.push(entry),
    now: () => times.shift() ?? 0,
    sampledPerSecond: 10,
  });
  const place = { site: "shop/web", answeredBy: undefined };
  onRequest(accessLine(), { ...place, accessLog: "off" });
  for (let count = 0; count < 4; count++) onRequest(accessLine(), { ...place, accessLog: "all" });
  expect(written.map(({ seq }) => seq)).toEqual([2_000_000, 2_000_001, 2_000_002, 3_000_000]);
});
