import { describe, expect, test } from "bun:test";
import type { CoreKind, Spec } from "../../../../src/orchestration/api/manifest.ts";
import { containerSpec, type Replica } from "../../../../src/orchestration/core/container-spec.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import { resolveWorkload } from "../../../../src/orchestration/core/resolve.ts";

const names = naming("acme");

function make(spec: Spec, replica: Partial<Replica> = {}, kind: CoreKind = "deployment") {
  const manifest = { kind, scope: "shop", name: "web", spec, revision: 1, generation: 3, createdAt: 0, updatedAt: 0 };
  const { workload } = resolveWorkload({
    manifest,
    config: {},
    envFrom: [],
    assetPath: (digest) => digest,
    isPlainVolume: () => false,
    findReferenced: () => undefined,
    names,
  });
  const full = { replicaId: "k3x7a", imageRef: "sha256:abc", createdAt: Date.UTC(2026, 0, 2), ...replica };
  return { workload, container: containerSpec(workload, full, names) };
}

describe("a replica of a deployment", () => {
  const { workload, container } = make({ image: "web:1", networks: ["extra"], ports: ["80"], volumes: ["data:/d"] });
  test("is named and labelled after its identity, hash and generation", () => {
    expect(container.name).toBe("shop-web.k3x7a");
    expect(container.image).toBe("sha256:abc");
    expect(container.labels).toEqual({
      "acme.kind": "deployment",
      "acme.scope": "shop",
      "acme.name": "web",
      "acme.replica_id": "k3x7a",
      "acme.manifest_hash": workload.hash,
      "acme.generation": "3",
      "acme.created_at": "2026-01-02T00:00:00.000Z",
    });
  });
  test("knows who it is, under the documented names and under the prefix of the installation", () => {
    expect(container.env).toEqual({
      ...{ BERTH_SCOPE: "shop", BERTH_NAME: "web", BERTH_REPLICA_ID: "k3x7a" },
      ...{ ACME_SCOPE: "shop", ACME_NAME: "web", ACME_REPLICA_ID: "k3x7a" },
    });
  });
  test("keeps a variable of its own that is called like a documented one", () => {
    const own = make({ image: "web:1", env: { BERTH_NAME: "mine", BERTH_REPLICA_ID: "mine", ACME_NAME: "forged" } });
    expect(own.container.env).toMatchObject({ BERTH_NAME: "mine", BERTH_REPLICA_ID: "mine", ACME_NAME: "web" });
  });
  test("joins the platform network first, with the shared names on every network", () => {
    const aliases = ["web.shop", "web.shop.acme"];
    expect(container.networks).toEqual([
      { name: "acme0", aliases },
      { name: "extra", aliases },
    ]);
  });
  test("has further names of its manifest below its scope, and nowhere else", () => {
    const more = make({ docker_options: ["--network-alias=Shop_DB", "--network-alias=web"] }).container;
    const aliases = ["web.shop", "web.shop.acme", "shop_db.shop", "shop_db.shop.acme"];
    expect(more.networks).toEqual([{ name: "acme0", aliases }]);
  });
  test("does not share its lists of names and labels with the workload", () => {
    expect(container.env).not.toBe(workload.container.env);
    expect(workload.container.env).not.toHaveProperty("ACME_REPLICA_ID");
  });
});

test("the platform network named by hand is joined once", () => {
  expect(make({ networks: ["acme0"] }).container.networks.map(({ name }) => name)).toEqual(["acme0"]);
});

test.each(["host", "none"])("network_mode %s: no networks, no published ports", (network_mode) => {
  const { container } = make({ network_mode, ports: ["8080:80"] });
  expect(container).toMatchObject({ networkMode: network_mode, networks: [], ports: [] });
});

describe("a replica of a statefulset", () => {
  const spec = { image: "db:1", volumes: ["shared:/s"], volume_claims: [{ name: "data", mount_path: "/d" }] };
  const { container } = make(spec, { replicaId: "1", ordinal: 1 }, "statefulset");
  test("has its ordinal in name, label, environment and host names", () => {
    expect(container.name).toBe("shop-web.1");
    expect(container.labels["acme.replica_ordinal"]).toBe("1");
    expect(container.env).toMatchObject({ ACME_REPLICA_ORDINAL: "1", ACME_REPLICA_ID: "1" });
    expect(container.networks[0]?.aliases).toEqual(["web-1.shop", "web-1.shop.acme", "web.shop", "web.shop.acme"]);
  });
  test("mounts the claim volumes of its ordinal", () => {
    expect(container.mounts).toEqual([
      {
        type: "volume",
        source: "acme_shop_shared",
        target: "/s",
        readOnly: false,
        volume: { owner: "shop", name: "shared", external: false },
      },
      { type: "volume", source: "acme-shop-web-data-1", target: "/d", readOnly: false },
    ]);
  });
});
