import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(90_000);

/** All resources of an apply or none, with the real client, server and engine. */
describe("an atomic apply", () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
  });
  afterAll(() => berth?.close(), 60_000);

  const app = (scope: string, name: string, v: string, spec: Spec = {}) =>
    deployment(scope, name, { env: { V: v }, rollout: { min_ready: "500ms", progress_deadline: "8s" }, ...spec });
  const failing = (scope: string) => app(scope, "web", "2", { image: "127.0.0.1:1/nothing:1" });
  const asset = (scope: string, text: string): Manifest => ({
    kind: "asset",
    scope,
    name: "conf",
    spec: { files: { app: text } },
  });
  const versions = async (scope: string) => {
    const ids = berth.docker(["ps", "-q", "--filter", `label=${berth.prefix}.scope=${scope}`]).split("\n");
    return ids
      .filter(Boolean)
      .map((id) => /\bV=(\S+)/.exec(berth.docker(["inspect", "-f", "{{.Name}} {{.Config.Env}}", id]))?.[1] ?? "")
      .map((v) => v.replace("]", ""))
      .sort();
  };
  const stored = async (scope: string) => {
    const { body } = await berth.call("GET", `/apply?scope=${scope}`);
    return (body.data as unknown as Manifest[]).map(({ kind, name, spec }) => ({ kind, name, spec }));
  };

  test("puts everything back when one resource fails, and the client says so", async () => {
    await berth.apply(app("one", "web", "1"), app("one", "api", "1"), asset("one", "first"));
    await berth.ready("deployment", "one", "web");
    await berth.ready("deployment", "one", "api");
    const before = await stored("one");
    const body = [failing("one"), app("one", "api", "2"), app("one", "new", "2"), asset("one", "second")];
    const stdin = JSON.stringify(body);
    const { exitCode, stderr } = await berth.cli(["apply", "-f", "-", "-y", "--atomic"], { stdin });
    expect(stderr).toContain("everything was put back, because deployment/one/web: ");
    expect(stderr).toContain("deployment/one/new  deleted again; its volumes and config stay");
    expect(exitCode).toBe(1);
    expect(await stored("one")).toEqual(before);
    await waitFor("the versions of before", async () => (await versions("one")).join() === "1,1");
  });

  test("is seen to its end by the next server, with the client gone", async () => {
    await berth.apply(app("two", "web", "1"), app("two", "api", "1"));
    await berth.ready("deployment", "two", "web");
    await berth.ready("deployment", "two", "api");
    const before = await stored("two");
    const answer = await berth.call("POST", "/apply?atomic=true", [failing("two"), app("two", "api", "2")]);
    const { atomic } = answer.body.data as unknown as { atomic: string };
    await waitFor("the other resource to be changed", async () => (await versions("two")).includes("2"));
    await berth.stop("SIGKILL");
    await berth.start();
    await waitFor("the apply to be put back", async () => {
      const { body } = await berth.call("GET", `/applies/${atomic}`);
      return (body.data as unknown as { state: string }).state === "put_back";
    });
    expect(await stored("two")).toEqual(before);
    await waitFor("the versions of before", async () => (await versions("two")).join() === "1,1");
  });

  test("without it the others stay changed, and the client lists what became of each", async () => {
    await berth.apply(app("three", "web", "1"), app("three", "api", "1"));
    await berth.ready("deployment", "three", "web");
    const stdin = JSON.stringify([failing("three"), app("three", "api", "2")]);
    const { exitCode, stderr } = await berth.cli(["apply", "-f", "-", "-y"], { stdin });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("1 of 2 resources failed; the others stay changed:");
    expect(stderr).toContain("deployment/three/api  changed, ready");
  });
});
