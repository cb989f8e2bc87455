import { expect, test } from "bun:test";
import { nothingAssigned } from "../../../../src/ingress/core/assign.ts";
import { culpritsOf } from "../../../../src/ingress/core/culprits.ts";

const config = [
  "global",
  "  maxconn 10",
  "backend p1 from site",
  "  server s1 10.0.0.1:80",
  "userlist users_d1",
  "  user 'a' password 'x'",
  "backend d1 from base",
  "  acl allowed src 10.0.0.0/99",
  "frontend in_t2 from tcp",
  "  bind 0.0.0.0:6380",
  "",
].join("\n");
const assignment = { ...nothingAssigned, backends: { "a/pool": "p1", "a/own": "d1", "a/tcp": "t2" } };
const sitesIn = (complaint: string) => Object.fromEntries(culpritsOf(complaint, config, assignment).sites);
const at = (line: number, text: string) => `config : parsing [/run/x/haproxy.cfg:${line}] : ${text}`;

test("the line of a complaint leads to the site of its section", () => {
  expect(sitesIn(at(8, "bad network"))).toEqual({ "a/own": "bad network" });
  expect(sitesIn(at(6, "bad hash"))).toEqual({ "a/own": "bad hash" });
  expect(sitesIn(at(10, "bad address"))).toEqual({ "a/tcp": "bad address" });
  expect(sitesIn([at(4, "bad server"), at(8, "bad network")].join("; "))).toEqual({
    "a/pool": "bad server",
    "a/own": "bad network",
  });
});

test("so does the name of a section", () => {
  const complaint = "config : Proxy 'd1': unable to find userlist 'x' referenced";
  expect(sitesIn(complaint)).toEqual({ "a/own": complaint });
});

test("the file of a certificate leads to the certificate", () => {
  const complaint = at(10, "'bind' : unable to load certificate from file '/run/x/certs/a.test-1f.pem'.");
  const { sites, certificates } = culpritsOf(complaint, config, assignment);
  expect([sites.size, [...certificates.keys()]]).toEqual([0, ["a.test-1f"]]);
});

test("a complaint about anything else names nothing", () => {
  for (const complaint of ["", "out of memory", at(2, "bad number"), at(99, "beyond the end"), "Proxy 'zz': odd"]) {
    expect(sitesIn(complaint)).toEqual({});
  }
});
