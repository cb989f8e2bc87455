import { expect, test } from "bun:test";
import { checkNames, isStale } from "../../../src/local/check-names.ts";

const zone = {
  suffix: "berth",
  short: [],
  search: [],
  subnets: ["172.18.0.0/16"],
  servers: ["172.18.0.1", "192.0.2.1"],
};

test("the doctor says who answers lookups of containers", () => {
  expect(checkNames({ zone, isUp: true, stale: [] })).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("192.0.2.1"),
  });
  expect(checkNames({ zone, isUp: false, stale: [] })).toMatchObject({ status: "warn", mend: "start the server" });
  expect(checkNames({ zone: undefined, isUp: false, stale: [] }).status).toBe("skip");
  const problem = { text: "a firewall", mend: "allow it" };
  expect(checkNames({ zone: { ...zone, servers: [], problem }, isUp: true, stale: [] })).toEqual({
    name: "names of services",
    status: "warn",
    detail: "while a service does not run, its name may be asked of other name servers: a firewall",
    mend: "allow it",
  });
});

test("containers that ask former name servers of the machine are named", () => {
  const stale = ["a", "b", "c", "d", "e", "f"];
  expect(checkNames({ zone, isUp: true, stale })).toMatchObject({
    status: "warn",
    detail: "the name servers of this machine changed, and a, b, c, d, e, … still ask the old ones",
  });
  const container = (...dns: string[]) => ({ HostConfig: { Dns: dns } });
  expect(isStale(container("172.18.0.1", "192.0.2.1"), "172.18.0.1", ["192.0.2.1"])).toBe(false);
  expect(isStale(container("172.18.0.1", "192.0.2.7"), "172.18.0.1", ["192.0.2.1"])).toBe(true);
  expect(isStale(container("192.0.2.7"), "172.18.0.1", ["192.0.2.1"])).toBe(false);
  expect(isStale({}, "172.18.0.1", ["192.0.2.1"])).toBe(false);
});
