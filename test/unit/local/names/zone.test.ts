import { describe, expect, test } from "bun:test";
import { dnsTypes } from "../../../../src/base/pure/dns-message.ts";
import { addressOf, isInside, judge, numberOf } from "../../../../src/local/names/zone.ts";

const zone = {
  suffix: "berth",
  short: new Set(["db.dev", "sql.dev"]),
  search: ["corp.example"],
  subnets: ["172.18.0.0/16", "10.1.2.128/25"],
};
const ask = (name: string, type: number = dnsTypes.a, kind = 1) => judge(zone, { name, type, class: kind });

describe("the answer to a name", () => {
  const own = [
    "db.dev.berth",
    "x.berth",
    "berth",
    "db.dev",
    "sql.dev",
    "db.dev.berth.corp.example",
    "db.dev.corp.example",
  ];
  for (const name of own) test(`${name} is absent`, () => expect(ask(name)).toBe("absent"));

  const others = [
    "example.com",
    "web.dev",
    "dev",
    "xberth",
    "db.dev.example",
    "xdb.dev",
    "corp.example",
    "db.corp.example",
  ];
  for (const name of others) test(`${name} is left to others`, () => expect(ask(name)).toBe("refused"));

  test("of another type is empty: a container may have the name, and Docker forwards these always", () => {
    expect(ask("db.dev.berth", 65)).toBe("empty");
    expect(ask("db.dev", 16)).toBe("empty");
    expect(ask("db.dev.berth", dnsTypes.aaaa)).toBe("absent");
  });

  test("of another class is left to others", () => expect(ask("db.dev.berth", dnsTypes.a, 3)).toBe("refused"));

  test("of an address of the network is absent, of others it is left to others", () => {
    expect(ask("7.0.18.172.in-addr.arpa", dnsTypes.ptr)).toBe("absent");
    expect(ask("200.2.1.10.in-addr.arpa", dnsTypes.ptr)).toBe("absent");
    for (const name of [
      "7.0.19.172.in-addr.arpa",
      "18.172.in-addr.arpa",
      "7.2.1.10.in-addr.arpa",
      "x.0.18.172.in-addr.arpa",
    ]) {
      expect(ask(name, dnsTypes.ptr)).toBe("refused");
    }
  });
});

test("addresses are inside their subnets alone", () => {
  expect(isInside(zone.subnets, "172.18.255.255")).toBe(true);
  expect(isInside(zone.subnets, "10.1.2.128")).toBe(true);
  for (const address of ["172.19.0.0", "172.17.255.255", "10.1.2.127", "::1", ""]) {
    expect(isInside(zone.subnets, address)).toBe(false);
  }
  expect(isInside([], "172.18.0.1")).toBe(false);
});

test("an address and its number are the same", () => {
  for (const address of ["0.0.0.0", "172.18.0.1", "255.255.255.255"])
    expect(addressOf(numberOf(address) ?? 1)).toBe(address);
  for (const text of ["1.2.3", "1.2.3.256", "1.2.3.4.5", "a.b.c.d", ""]) expect(numberOf(text)).toBeUndefined();
});
