import { expect, test } from "bun:test";
import { checkNames } from "../../../src/local/check-names.ts";

const zone = {
  suffix: "berth",
  short: [],
  search: [],
  subnets: ["172.18.0.0/16"],
  servers: ["172.18.0.1", "192.0.2.1"],
};

test("the doctor says who answers lookups of containers", () => {
  expect(checkNames({ zone, isUp: true })).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("192.0.2.1"),
  });
  expect(checkNames({ zone, isUp: false })).toMatchObject({ status: "warn", mend: "start the server" });
  expect(checkNames({ zone: undefined, isUp: false }).status).toBe("skip");
  const problem = { text: "a firewall", mend: "allow it" };
  expect(checkNames({ zone: { ...zone, servers: [], problem }, isUp: true })).toEqual({
    name: "names of services",
    status: "warn",
    detail: "while a service does not run, its name may be asked of other name servers: a firewall",
    mend: "allow it",
  });
});
