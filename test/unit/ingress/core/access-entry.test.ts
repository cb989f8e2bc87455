import { expect, test } from "bun:test";
import { accessEntry, isAskedFor, isStatusFilter, readEntry } from "../../../../src/ingress/core/access-entry.ts";
import { accessLine } from "../../../support/access-lines.ts";

const place = { site: "shop/web", answeredBy: { upstream: "c1", replica: "k3" }, accessLog: "all" as const };
const entry = accessEntry(accessLine(), place, 7);

test("an entry says who asked for what, and what became of it", () => {
  expect(entry).toEqual({
    ...{ seq: 7, time: "2023-11-14T22:13:20.000Z", ingress: "shop/web", replica: "k3", client: "203.0.113.7" },
    ...{ method: "GET", host: "web.test", path: "/a", status: 200, bytes_in: 70, bytes_out: 400 },
    ...{ ms: 12, held_ms: 0, retries: 0, request_id: "id-1" },
  });
  const lost = accessEntry(accessLine({ status: -1, server: "<NOSRV>" }), { ...place, answeredBy: undefined }, 8);
  expect([lost.status, lost.replica]).toEqual([undefined, undefined]);
});

test("an entry is read back, and a line that was cut off is none", () => {
  expect(readEntry(JSON.stringify(entry))).toEqual(entry);
  for (const text of ["", '{"seq":7,"time', "{}", "null"]) expect(readEntry(text)).toBeUndefined();
});

test("a filter names a scope or an ingress, a status or a class, a request, and what is already known", () => {
  expect(isAskedFor(entry, {})).toBe(true);
  for (const ingress of ["shop", "shop/web"]) expect(isAskedFor(entry, { ingress })).toBe(true);
  for (const ingress of ["sho", "shop/we", "web"]) expect(isAskedFor(entry, { ingress })).toBe(false);
  for (const status of ["200", "2xx"]) expect(isAskedFor(entry, { status })).toBe(true);
  for (const status of ["201", "5xx"]) expect(isAskedFor(entry, { status })).toBe(false);
  expect([isAskedFor(entry, { requestId: "id-1" }), isAskedFor(entry, { requestId: "id-2" })]).toEqual([true, false]);
  expect([isAskedFor(entry, { after: 6 }), isAskedFor(entry, { after: 7 })]).toEqual([true, false]);
});

test("a status is a number or a class", () => {
  for (const text of ["404", "5xx", "101"]) expect(isStatusFilter(text)).toBe(true);
  for (const text of ["", "5x", "6xx", "40", "5XX", "2000"]) expect(isStatusFilter(text)).toBe(false);
});
