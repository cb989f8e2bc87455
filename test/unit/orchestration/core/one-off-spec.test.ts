import { describe, expect, test } from "bun:test";
import { containerSpec as replicaSpec } from "../../../../src/orchestration/core/container-spec.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import {
  initContainerName,
  type OneOff,
  oneOffSpec,
  releaseContainerName,
} from "../../../../src/orchestration/core/one-off-spec.ts";
import { resolveWorkload } from "../../../../src/orchestration/core/resolve.ts";
import type { Spec } from "../../../../src/orchestration/api/manifest.ts";

const names = naming("acme");
const shop = { scope: "shop", name: "web" };

function resolved(spec: Spec) {
  const manifest = {
    kind: "deployment" as const,
    ...shop,
    spec,
    revision: 1,
    generation: 3,
    createdAt: 0,
    updatedAt: 0,
  };
  return resolveWorkload({
    manifest,
    config: { KEY: "k" },
    envFrom: [],
    assetPath: (digest) => digest,
    isPlainVolume: () => false,
    findReferenced: () => undefined,
    names,
  }).workload;
}

function make(spec: Spec, change: Partial<OneOff> = {}) {
  const one: OneOff = {
    kind: "job",
    scope: "shop",
    name: "web-release",
    containerName: "shop-web-release.r1",
    replicaId: "r1",
    role: "release",
    imageRef: "sha256:abc",
    command: ["migrate"],
    createdAt: Date.UTC(2026, 0, 2),
    ...change,
  };
  return oneOffSpec(resolved(spec).container, one, names);
}

describe("a container that runs one command", () => {
  test("says whose it is and what for, and not that it is a replica", () => {
    expect(make({ image: "web:1" }, { releaseId: "r1" }).labels).toEqual({
      "acme.kind": "job",
      "acme.scope": "shop",
      "acme.name": "web-release",
      "acme.replica_id": "r1",
      "acme.role": "release",
      "acme.release_id": "r1",
      "acme.created_at": "2026-01-02T00:00:00.000Z",
    });
    expect(make({ image: "web:1" }).labels).not.toHaveProperty("acme.release_id");
  });

  test("has the environment, volumes, networks and hosts of its parent", () => {
    const spec = {
      image: "web:1",
      env: { A: "1" },
      volumes: ["data:/d"],
      networks: ["extra"],
      extra_hosts: ["db:10.0.0.1"],
    };
    const made = make(spec);
    const parent = resolved(spec).container;
    expect(made).toMatchObject({ env: parent.env, mounts: parent.mounts, extraHosts: parent.extraHosts });
    expect(made.env).toMatchObject({ A: "1", KEY: "k" });
    expect(make(spec, { env: { A: "2" } }).env).toMatchObject({ A: "2", KEY: "k" });
  });

  test("is reached under no name, publishes no port and never restarts", () => {
    const made = make({ image: "web:1", ports: ["8080:80"], networks: ["extra"], restart: "always" });
    expect(made).toMatchObject({
      name: "shop-web-release.r1",
      image: "sha256:abc",
      command: ["migrate"],
      ports: [],
      networks: [
        { name: "acme0", aliases: [] },
        { name: "extra", aliases: [] },
      ],
      restart: { name: "no", maximumRetryCount: 0 },
    });
  });

  test.each(["host", "none"])("joins no network where the parent is on %s", (network_mode) => {
    expect(make({ image: "web:1", network_mode })).toMatchObject({ networkMode: network_mode, networks: [] });
  });

  test("leaves its parent as it was", () => {
    const workload = resolved({ image: "web:1", ports: ["80"] });
    oneOffSpec(
      workload.container,
      {
        ...shop,
        kind: "job",
        containerName: "x",
        replicaId: "r",
        role: "init",
        imageRef: "i",
        command: undefined,
        env: { B: "2" },
        createdAt: 0,
      },
      names,
    );
    const replica = replicaSpec(workload, { replicaId: "a", imageRef: "i", createdAt: 0 }, names);
    expect([replica.ports.length, replica.env.B]).toEqual([1, undefined]);
  });
});

describe("names", () => {
  test("of init containers hold no dot, which would make them look like a replica", () => {
    expect(initContainerName(shop, "migrate", "k3x7a")).toBe("shop-web-init-migrate-k3x7a");
    expect(initContainerName({ scope: "", name: "web" }, "migrate", "0")).toBe("web-init-migrate-0");
  });

  test("of release containers tell release and step", () => {
    expect(releaseContainerName(shop, "t0abc12", "main")).toBe("shop-web-release.t0abc12");
    expect(releaseContainerName(shop, "t0abc12", "pre")).toBe("shop-web-release.t0abc12-pre");
    expect(releaseContainerName(shop, "t0abc12", "post")).toBe("shop-web-release.t0abc12-post");
  });
});
