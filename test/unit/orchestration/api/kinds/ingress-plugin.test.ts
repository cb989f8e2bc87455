import { expect, test } from "bun:test";
import {
  beyondPlugin,
  closingFields,
  lostClosings,
  movedToPlugin,
  readClosings,
} from "../../../../../src/orchestration/api/kinds/ingress-plugin.ts";
import { IngressSpec } from "../../../../../src/orchestration/api/kinds/ingress.ts";
import { Tls } from "../../../../../src/orchestration/api/kinds/tls.ts";

const pathsOf = (spec: Record<string, unknown>) => beyondPlugin(spec).map(({ path }) => path);

test("every field of an ingress either reaches a plugin or is told with its path", () => {
  const reaching = ["host", "service", "ordinal", "port", "shared", "tls", "locations", "lb", "plugin"];
  const fields = Object.keys(IngressSpec.properties);
  const told = fields.filter(
    (field) => pathsOf({ host: "a.test", [field]: field === "hosts" ? ["b.test"] : [] }).length > 0,
  );
  expect(told.toSorted()).toEqual(fields.filter((field) => !reaching.includes(field)).toSorted());
  const ofTls = Object.keys(Tls.properties);
  const reachingTls = ["enabled", "provider", "email", "on_demand", "ask"];
  const toldOfTls = ofTls.filter((field) => pathsOf({ tls: { [field]: "internal" } }).length > 0);
  expect(toldOfTls.toSorted()).toEqual(ofTls.filter((field) => !reachingTls.includes(field)).toSorted());
});

test("a field of a later version is told too, one host may be in the list, and TLS that is off says nothing", () => {
  expect(pathsOf({ host: "a.test", waf: {} })).toEqual(["spec.waf"]);
  expect(pathsOf({ hosts: ["a.test"] })).toEqual([]);
  expect(pathsOf({ host: "A.test", hosts: ["a.test"] })).toEqual([]);
  expect(pathsOf({ tls: { enabled: false, provider: "acme", directory: "x" } })).toEqual([]);
});

test("a moved ingress keeps what reaches the plugin, and says what it loses", () => {
  const spec = {
    ...{ hosts: ["a.test", "b.test"], plugin: "old", service: "api", port: 80, compress: true },
    tls: { provider: "acme", directory: "https://ca.test", email: "ops@a.test" },
  };
  expect(movedToPlugin(spec, "caddy")).toEqual({
    spec: { host: "a.test", plugin: "caddy", service: "api", port: 80, tls: { email: "ops@a.test" } },
    lost: ["spec.hosts", "spec.compress", "spec.tls.provider", "spec.tls.directory"],
  });
  expect(beyondPlugin(movedToPlugin(spec, "caddy")?.spec ?? {})).toEqual([]);
  expect(movedToPlugin({ tcp: { port: 1883 } }, "caddy")).toBeUndefined();
});

test.each<[string, object, object, string[]]>([
  ["nothing that stood", {}, {}, []],
  ["what stays", { allow: ["10.0.0.0/8"] }, { allow: ["10.0.0.1"] }, []],
  ["what is gone", { allow: ["10.0.0.0/8"], compress: true }, {}, ["allow"]],
  [
    "what is emptied",
    { deny: ["10.0.0.0/8"], basic_auth: { users: { a: "b" } } },
    { deny: [], basic_auth: {} },
    ["deny", "basic_auth"],
  ],
  [
    "a switch that goes off",
    { maintenance: true, limits: { body: "1M" }, rate_limit: { requests: 1 } },
    { maintenance: false },
    ["rate_limit", "limits", "maintenance"],
  ],
  ["what closed nothing", { allow: [], maintenance: false, basic_auth: {} }, {}, []],
])("of closing fields are lost: %s", (_, stands, wanted, lost) => {
  expect(lostClosings({ ...stands }, { ...wanted })).toEqual(lost as never);
});

test("every closing field is one that a plugin does not get", () => {
  expect(beyondPlugin(Object.fromEntries(closingFields.map((field) => [field, {}])))).toHaveLength(
    closingFields.length,
  );
  expect(readClosings(" spec.allow ,deny,")).toEqual({ fields: ["allow", "deny"], unknown: undefined });
  expect(readClosings("allow,x").unknown).toBe("x");
});
