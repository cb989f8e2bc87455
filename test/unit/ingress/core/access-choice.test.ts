import { expect, test } from "bun:test";
import { createAccessChoice } from "../../../../src/ingress/core/access-choice.ts";

const place = (accessLog: "off" | "sampled" | "all", site = "shop/web") => ({ site, accessLog });
const line = (status: number | undefined = 200, at = 0) => ({ status, at });

test("off writes nothing, all writes everything", () => {
  const isChosen = createAccessChoice(1);
  for (const status of [200, 503, undefined]) {
    expect(isChosen({ status, at: 0 }, place("off"))).toBe(false);
    expect(isChosen({ status, at: 0 }, place("all"))).toBe(true);
  }
});

test("sampled writes the first of each second of each ingress", () => {
  const isChosen = createAccessChoice(2);
  const chosen = (at: number, site?: string) => isChosen(line(200, at), place("sampled", site));
  expect([chosen(0), chosen(1), chosen(2), chosen(0, "shop/b"), chosen(999)]).toEqual([true, true, false, true, false]);
  expect(chosen(1_000)).toBe(true);
});

test("sampled writes every answer of 500 and above", () => {
  const isChosen = createAccessChoice(0);
  expect(isChosen(line(503), place("sampled"))).toBe(true);
  expect(isChosen(line(404), place("sampled"))).toBe(false);
  expect(isChosen({ status: undefined, at: 0 }, place("sampled"))).toBe(false);
});
