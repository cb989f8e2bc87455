import { expect, test } from "bun:test";
import { checkIngress, type IngressFacts } from "../../../src/local/check-ingress.ts";

const binary: IngressFacts["binary"] = {
  ok: true,
  binary: {
    ...{ path: "/usr/sbin/haproxy", version: "2.6.12" },
    capabilities: { major: 2, minor: 6, lua: true, addServer: true },
  },
};
const missing: IngressFacts["binary"] = { ok: false, problem: "HAProxy is not installed" };
const says = (state: string, problem?: string, image?: string) => ({ state, problem, image });

const image = "haproxy:2.6";

const cases: [string, Omit<IngressFacts, "image"> & { image?: string }, string, string][] = [
  ["an ingress that is off", { isOn: false, binary: missing, proxy: undefined }, "ok", "turned off"],
  ["a server that has it off", { isOn: true, binary, proxy: says("off") }, "ok", "turned off"],
  [
    "no HAProxy",
    { isOn: true, binary: missing, proxy: undefined },
    "warn",
    "ingresses are not served: HAProxy is not installed",
  ],
  ["no server yet", { isOn: true, binary, proxy: undefined }, "ok", "HAProxy 2.6.12, which the server starts"],
  ["a proxy that serves", { isOn: true, binary, proxy: says("running") }, "ok", "HAProxy 2.6.12, running"],
  ["a proxy that was stopped", { isOn: true, binary, proxy: says("stopped") }, "warn", "HAProxy 2.6.12, stopped"],
  [
    "a proxy that refuses",
    { isOn: true, binary, proxy: says("failing", "port 80 is taken") },
    "fail",
    "HAProxy 2.6.12, failing: port 80 is taken",
  ],
  [
    "HAProxy installed after the start",
    { isOn: true, binary, proxy: says("unavailable", "HAProxy is not installed") },
    "fail",
    "HAProxy 2.6.12, unavailable: HAProxy is not installed",
  ],
  [
    "an image, before the server",
    { isOn: true, binary: missing, image, proxy: undefined },
    "ok",
    `the image ${image}, which the server starts`,
  ],
  [
    "an image that nothing needs yet",
    { isOn: true, binary: missing, image, proxy: says("waiting") },
    "ok",
    `the image ${image}, waiting`,
  ],
  [
    "an image that serves",
    { isOn: true, binary: missing, image: "", proxy: says("running", undefined, image) },
    "ok",
    `the image ${image}, running`,
  ],
  [
    "an image that cannot be pulled",
    { isOn: true, binary: missing, image, proxy: says("unavailable", "no such image") },
    "warn",
    "ingresses are not served: no such image",
  ],
];

test.each(cases)("%s", (_, facts, status, detail) => {
  const check = checkIngress({ image: "", ...facts });
  expect(check).toMatchObject({ name: "ingress", status, detail });
  expect(check.mend === undefined).toBe(status === "ok");
});
