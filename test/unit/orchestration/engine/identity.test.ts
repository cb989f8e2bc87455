import { expect, test } from "bun:test";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import { addressIn, identityOf } from "../../../../src/orchestration/engine/identity.ts";

const names = naming("berth");

test("the labels of a replica say whose it is and what it was made from", () => {
  const labels = {
    "berth.kind": "statefulset",
    "berth.scope": "shop",
    "berth.name": "db",
    "berth.replica_id": "2",
    "berth.replica_ordinal": "2",
    "berth.manifest_hash": "abc",
    "berth.generation": "7",
    team: "blue",
  };
  expect(identityOf(labels, names)).toEqual({
    key: { kind: "statefulset", scope: "shop", name: "db" },
    replicaId: "2",
    ordinal: 2,
    role: undefined,
    releaseId: undefined,
    hash: "abc",
    generation: 7,
  });
});

test("those of a one-off container name its role and its release, and may lack the rest", () => {
  const labels = { "berth.kind": "job", "berth.name": "n", "berth.role": "release", "berth.release_id": "r1" };
  expect(identityOf(labels, names)).toEqual({
    key: { kind: "job", scope: "", name: "n" },
    replicaId: "",
    ordinal: undefined,
    role: "release",
    releaseId: "r1",
    hash: "",
    generation: 0,
  });
});

test.each([
  ["no labels", {}],
  ["no name", { "berth.kind": "deployment" }],
  ["no kind", { "berth.name": "web" }],
  ["the labels of another prefix", { "other.kind": "deployment", "other.name": "web" }],
])("a container with %s is no pod of ours", (_, labels: Record<string, string>) => {
  expect(identityOf(labels, names)).toBeUndefined();
});

test("the address is that on the platform network, or loopback on the network of the machine", () => {
  const addresses = { side: "10.0.0.9", berth0: "10.0.0.2" };
  const running = { state: "running" as const, joined: ["side", "berth0"] };
  expect(addressIn({ ...running, addresses }, names)).toBe("10.0.0.2");
  expect(addressIn({ ...running, addresses: { side: "10.0.0.9" } }, names)).toBeUndefined();
  expect(addressIn({ state: "running", joined: ["host"], addresses: {} }, names)).toBe("127.0.0.1");
  expect(addressIn({ state: "exited", joined: ["host"], addresses: {} }, names)).toBeUndefined();
  expect(addressIn({ state: "running", joined: ["none"], addresses: {} }, names)).toBeUndefined();
});
