import { expect, test } from "bun:test";
import { checkStrays } from "../../../src/local/stray-routes.ts";

const subnet = "172.18.0.0/16";
const bridge = { subnet, metric: 0, isUnreachable: false };
const closed = { subnet, metric: 1_650_815_604, isUnreachable: true };
const check = (rows: (typeof bridge)[], subnets = [subnet]) => checkStrays({ network: "berth0", subnets, rows });

test("a subnet without its unreachable route is named, with the command that adds it", () => {
  expect(check([bridge, closed]).status).toBe("ok");
  for (const rows of [[bridge], [bridge, { ...closed, metric: 5 }]]) {
    const { status, detail, mend } = check(rows);
    expect([status, detail.includes(subnet)]).toEqual(["warn", true]);
    expect(mend).toContain(`ip -4 route replace unreachable ${subnet} metric 1650815604`);
  }
});

test("without a network, and with one of another machine, nothing is checked", () => {
  expect(check([bridge], []).status).toBe("skip");
  expect(check([]).status).toBe("skip");
});
