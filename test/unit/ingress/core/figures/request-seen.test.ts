import { expect, test } from "bun:test";
import { requestSeen } from "../../../../../src/ingress/core/figures/request-seen.ts";
import { accessLine } from "../../../../support/access-lines.ts";

const place = { site: "shop/web", answeredBy: { upstream: "c1", replica: "k3" }, accessLog: "off" as const };
const seen = (changed: Parameters<typeof accessLine>[0]) => requestSeen(accessLine(changed), place);

test("a line becomes a request at the end of its answer", () => {
  expect(seen({ heldMs: 3, retries: 1 })).toEqual({
    ...{ at: 1_700_000_000_012, site: "shop/web", upstream: "c1", status: 200, ms: 12 },
    ...{ bytesIn: 70, bytesOut: 400, retries: 1, wasHeld: true, isBroken: false },
  });
  expect(requestSeen(accessLine(), { ...place, answeredBy: undefined }).upstream).toBeUndefined();
});

test.each(["SD", "sD", "PD", "ID", "KD", "DD", "UD", "SL"])("%s is an answer that broke off on our side", (ended) => {
  expect(seen({ ended }).isBroken).toBe(true);
});

test.each(["--", "CD", "cD", "CR", "LR", "PR", "SC", "SH", "sH", "CL", "--NN"])("%s is not", (ended) => {
  expect(seen({ ended }).isBroken).toBe(false);
});

test("a WebSocket counts the time until it was open, and its end breaks nothing off", () => {
  const webSocket = { status: 101, totalMs: 86_400_000, queueMs: 1, connectMs: 2, responseMs: 4, heldMs: 8 };
  expect(seen({ ...webSocket, ended: "sD" })).toMatchObject({ ms: 15, isBroken: false });
});
