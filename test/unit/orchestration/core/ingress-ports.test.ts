import { expect, test } from "bun:test";
import type { PodKind, Spec } from "../../../../src/orchestration/api/manifest.ts";
import { ingressPorts } from "../../../../src/orchestration/core/ingress-ports.ts";
import { decodeSpec } from "../../../../src/orchestration/core/spec/decode.ts";

const ingress = (name: string, spec: Spec) => ({ name, spec: { host: `${name}.test`, ...spec } });
const led = (
  ingresses: { name: string; spec: Spec }[],
  spec: Spec = {},
  { kind = "deployment", ordinal, kinds = [kind] }: { kind?: PodKind; ordinal?: number; kinds?: PodKind[] } = {},
) => {
  const found = ingressPorts(ingresses, { kind, name: "web", ordinal, kinds, spec: decodeSpec(kind, spec) });
  return Object.fromEntries(found);
};

test("the port that an ingress names, else the first TCP port of the service, else 80", () => {
  expect(led([ingress("web", {})])).toEqual({ 80: ["web"] });
  expect(led([ingress("web", {})], { ports: ["53/udp", "3000", "4000"] })).toEqual({ 3000: ["web"] });
  expect(led([ingress("web", { port: 9000 })], { ports: ["3000"] })).toEqual({ 9000: ["web"] });
});

test("of every ingress that means the resource, by its own name or by service, over tcp or with a plugin too", () => {
  const ingresses = [
    ingress("web", { port: 3000 }),
    ingress("www", { service: "web", port: 3000, plugin: "caddy" }),
    { name: "raw", spec: { service: "web", port: 5432, tcp: { port: 15432 } } },
    ingress("other", { port: 1 }),
    ingress("ui", { service: "@observability" }),
  ];
  expect(led(ingresses)).toEqual({ 3000: ["web", "www"], 5432: ["raw"] });
});

test("of a name that is both, the deployment counts, unless the ingress asks for one ordinal", () => {
  const both: PodKind[] = ["deployment", "statefulset"];
  const ingresses = [ingress("web", { port: 1 }), ingress("first", { service: "web", ordinal: 0, port: 2 })];
  expect(led(ingresses, {}, { kinds: both })).toEqual({ 1: ["web"] });
  expect(led(ingresses, {}, { kind: "statefulset", ordinal: 0, kinds: both })).toEqual({ 2: ["first"] });
  expect(led(ingresses, {}, { kind: "statefulset", ordinal: 1, kinds: both })).toEqual({});
});

test("a port that a startup or readiness probe asks is left to the probe; liveness and commands answer for no port", () => {
  const tcp = { tcp_socket: { port: 3000 } };
  const ingresses = [ingress("web", { port: 3000 })];
  expect(led(ingresses, { probes: { readiness: tcp } })).toEqual({});
  expect(led(ingresses, { probes: { startup: { http_get: { path: "/", port: 3000 } } } })).toEqual({});
  expect(led(ingresses, { probes: { liveness: tcp } })).toEqual({ 3000: ["web"] });
  expect(led(ingresses, { probes: { readiness: { exec: { command: ["true"] } } } })).toEqual({ 3000: ["web"] });
  expect(led(ingresses, { probes: { readiness: { tcp_socket: { port: 3001 } } } })).toEqual({ 3000: ["web"] });
});
