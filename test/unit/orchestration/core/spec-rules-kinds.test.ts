import { describe, expect, test } from "bun:test";
import { limits } from "../../../../src/config/config.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";
import { refuses } from "./spec-check.ts";

describe("deployments", () => {
  refuses("deployment", { autoscale: { min: 1, max: 4, cpu_target: 50 } }, [
    [{ replicas: 2 }, "spec.replicas: excludes autoscale"],
    [{ autoscale: { min: 5, max: 4, cpu_target: 50 } }, "spec.autoscale.max: is 4, below min, which is 5"],
    [{ autoscale: { min: 0, max: 4, cpu_target: 50 } }, "spec.autoscale.min: must be at least 1, got 0"],
    [{ autoscale: { min: 1, max: 4, cpu_target: 101 } }, "spec.autoscale.cpu_target: must be at most 100, got 101"],
    [{ autoscale: { min: 1, max: 4_000, cpu_target: 50 } }, "spec.autoscale.max: must be at most 1000"],
    [{ autoscale: { min: 1, max: 4 } }, "spec.autoscale.cpu_target: is required"],
    [{ idle_after: "5m" }, "spec.idle_after: needs wake: true"],
    [{ wake: false, idle_after: "5m" }, "spec.idle_after: needs wake: true"],
    [{ wake: true, idle_after: "soon" }, 'spec.idle_after: "soon" is not a duration'],
    [{ ports: ["80:80"] }, "spec.ports[0]: host port 80 is fixed, so only one of 4 replicas"],
    [{ release: {} }, "spec.release: has no command"],
    [{ release: { command: [] } }, "spec.release.command: must not be empty"],
    [{ release: { command: ["a"], timeout: "0s" } }, "spec.release.timeout: "],
    [{ on_deploy: { success: [{}] } }, "spec.on_deploy.success[0].url: is required"],
    [{ volume_claims: [] }, "spec.volume_claims: unknown field"],
    [{ imagee: "x" }, 'spec.imagee: unknown field; did you mean "image"'],
  ]);
});

describe("statefulsets", () => {
  refuses("statefulset", { image: "db:1", volume_claims: [{ name: "data", mount_path: "/data" }] }, [
    [{ image: undefined }, "spec.image: is required for a statefulset"],
    [{ rollout: { max_surge: 1 } }, "spec.rollout.max_surge: does not apply to a statefulset"],
    [{ volume_claims: [{ name: "Data", mount_path: "/data" }] }, 'spec.volume_claims[0].name: "Data" is not a claim'],
    [{ volume_claims: [{ name: "data", mount_path: "data" }] }, 'spec.volume_claims[0].mount_path: is "data", which'],
    [{ volume_claims: [{ name: "d", mount_path: "/d", size: "big" }] }, 'spec.volume_claims[0].size: "big"'],
    [{ volumes: ["xx:/data/"] }, 'spec.volume_claims[0].mount_path: the mount path "/data" is already in spec.volumes'],
    [
      { volume_claims: ["/a", "/b"].map((mount_path) => ({ name: "x", mount_path })) },
      'spec.volume_claims[1].name: the claim name "x" is already at spec.volume_claims[0].name',
    ],
    [
      { volume_claims: ["a", "b"].map((name) => ({ name, mount_path: "/a" })) },
      'spec.volume_claims[1].mount_path: the mount path "/a" is already at',
    ],
    [{ release: { command: ["x"] } }, "spec.release: unknown field"],
    [{ replicas: 2, ports: ["80:80"] }, "spec.ports[0]: host port 80 is fixed"],
  ]);
});

describe("jobs", () => {
  refuses("job", { image: "tools:1" }, [
    [{ timeout: "0s" }, "spec.timeout: "],
    [{ ports: ["80"] }, "spec.ports: unknown field"],
    [{ labels: { "a b": "c" } }, 'spec.labels: "a b" is not a label key'],
    [{ failed_history_limit: -1 }, "spec.failed_history_limit: must be at least 0"],
  ]);
  refuses("cronjob", { schedule: "@daily", job: { image: "tools:1" } }, [
    [{ schedule: "0 0 30 2 *" }, "spec.schedule: "],
    [{ schedule: "daily" }, 'spec.schedule: "daily" is not a schedule'],
    [{ timezone: "Mars/Phobos" }, 'spec.timezone: "Mars/Phobos" is not a time zone'],
    [
      { concurrency_policy: "Queue" },
      'spec.concurrency_policy: expected "Allow", "Forbid" or "Replace", got string "Queue"',
    ],
    [{ job: undefined }, "spec.job: is required"],
    [{ job: { image: "X" } }, "spec.job.image: "],
    [{ job: { schedule: "x" } }, "spec.job.schedule: unknown field"],
  ]);
});

describe("assets and registries", () => {
  refuses("asset", { files: { a: "x" } }, [
    [{ files: { "a.b": "x" } }, 'spec.files: "a.b" is not a file key'],
    [{ files: { a: 3 } }, "spec.files.a: expected string, object with _source"],
    [{ files: { a: { _source: "file" } } }, "spec.files.a.content: is required"],
    [{ files: { a: { _source: "file", content: "%%%" } } }, "spec.files.a.content: is not base64"],
    [{ files: { a: { _source: "file", content: "aGk=", path: "x" } } }, "spec.files.a.path: unknown field"],
    [{ files: { a: { _source: "url", url: "file:///etc/passwd" } } }, "spec.files.a.url: is not an http address"],
    [{ files: { a: { _source: "url", url: "http://x", on_failure: "die" } } }, "spec.files.a.on_failure: expected"],
    [{ files: { a: { _source: "ftp" } } }, "spec.files.a: expected string, object with _source"],
    [{ files: undefined }, "spec.files: is required"],
  ]);
  test("the size of a file is bounded, text and embedded", () => {
    const small = { ...limits, assetBytesMax: 3 };
    const spec = { files: { a: "ééé", b: { _source: "file", content: "aGVsbG8=" }, c: "abc" } };
    expect(validateSpec("asset", spec, small)).toEqual([
      { path: "spec.files.a", message: "has 6 bytes; at most 3 are allowed" },
      { path: "spec.files.b", message: "has 5 bytes; at most 3 are allowed" },
    ]);
  });
  test("the number of variables is bounded", () => {
    const spec = { env: { A: "1", B: "2", C: "3" } };
    expect(validateSpec("deployment", spec, { ...limits, envEntriesMax: 2 })).toEqual([
      { path: "spec.env", message: "has 3 entries; at most 2 are allowed" },
    ]);
  });
  refuses("registry", { url: "r.test", username: "bot", token: "x" }, [
    [{ url: "a b" }, "spec.url: is not a registry address"],
    [{ url: undefined }, "spec.url: is required"],
    [{ password: "y" }, "spec.password: is another name of token"],
    [{ helper: "ecr-login" }, "spec.helper: excludes username and token"],
    [{ username: undefined }, "spec.username: is required"],
    [{ token: "" }, "spec.token: is required"],
  ]);
});
