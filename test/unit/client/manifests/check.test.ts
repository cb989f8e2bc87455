import { describe, expect, test } from "bun:test";
import { checkManifests } from "../../../../src/client/manifests/check.ts";
import { limits } from "../../../../src/config/config.ts";

const app = (name: string, spec: object) => ({ kind: "app", scope: "shop", name, spec: { image: "web:1", ...spec } });
const check = (...manifests: unknown[]) => checkManifests(manifests, limits);

describe("the checks of an apply without a server", () => {
  test("what is right has no problems, also a block that another kind of manifest stands beside", () => {
    const block = { kind: "postgres", scope: "shop", name: "db", spec: { anything: 1 } };
    const { problems, blocks } = check(block, app("web", { host: "a.example" }), app("api", { host: "b.example" }));
    expect(problems).toEqual([]);
    expect(blocks.map(({ kind, index }) => [kind, index])).toEqual([["postgres", 0]]);
  });

  test("faults of a spec name their manifest", () => {
    expect(check(app("web", {}), app("api", { replica: 2 })).problems).toEqual([
      { manifest: 2, path: "spec.replica", message: 'unknown field; did you mean "replicas"', reason: "UnknownField" },
    ]);
  });

  test("a misspelled kind is not the kind of a plugin", () => {
    const { problems } = check({ kind: "deploymnt", scope: "shop", name: "web", spec: {} });
    expect(problems).toMatchObject([{ path: "kind", message: expect.stringContaining('did you mean "deployment"') }]);
  });

  test("two that want the same host, and an ingress beside the app that makes it", () => {
    const block = { kind: "redis", scope: "shop", name: "cache", spec: {} };
    const host = { host: "a.example" };
    expect(check(block, app("web", host), app("api", host)).problems).toEqual([
      {
        manifest: 3,
        path: "spec.host",
        message: '"a.example/" is already served by ingress/shop/web; use another host or path',
      },
    ]);
    const twin = { kind: "ingress", scope: "shop", name: "web", spec: { host: "b.example" } };
    expect(check(app("web", host), twin).problems).toEqual([
      { manifest: 2, path: "", message: "ingress/shop/web is here twice; an app makes one of them" },
    ]);
  });

  test("apps that wait for each other's first start, and words that name no app", () => {
    const { problems } = check(
      app("web", { start_after: ["api", "db:healthy"] }),
      app("api", { start_after: ["db"] }),
      app("db", { start_after: ["web:started", "elsewhere"] }),
    );
    expect(problems.map(({ manifest, path, message }) => `${manifest} ${path}: ${message}`)).toEqual([
      '1 spec.start_after[1]: "db:healthy" names no app of this scope; write "name", or "name:started" to wait only for its start',
      '1 spec.start_after[0]: "api" waits for this app: web → api → db → web; remove one of these entries',
      '2 spec.start_after[0]: "db" waits for this app: api → db → web → api; remove one of these entries',
      '3 spec.start_after[0]: "web" waits for this app: db → web → api → db; remove one of these entries',
    ]);
  });

  test("faults of all kinds are told at once: shapes, rules, hosts and references", () => {
    const wrong = { kind: "cronjob", scope: "shop", name: "n", spec: { schedule: "x", job: { image: 5 } } };
    const conf = { kind: "asset", scope: "shop", name: "conf", spec: { files: { a: "x" } } };
    const host = { host: "a.example" };
    const { problems } = check(
      app("web", { ...host, replicas: "three", restart: "perhaps" }),
      app("one", { ...host, stop_grace: "5 parsecs" }),
      app("two", { ...host, env: { C: "${asset.shop.conf.nope}" } }),
      wrong,
      conf,
    );
    expect(problems.map(({ manifest, path }) => `${manifest} ${path}`)).toEqual([
      "1 spec.replicas",
      "1 spec.restart",
      "2 spec.stop_grace",
      "4 spec.job.image",
      "4 spec.schedule",
      "3 spec.host",
      "3 spec.env.C",
    ]);
  });

  test("a misspelled field is not also told as missing", () => {
    const { problems } = check({ kind: "ingress", scope: "shop", name: "web", spec: { hots: ["a.example"] } });
    expect(problems.map(({ path }) => path)).toEqual(["spec.hots"]);
  });

  test("what may be on the server or come from a block is no fault", () => {
    const uses = { A: "${asset.other.key}", B: "${ref.deployment.other.host}" };
    expect(check(app("web", { env: uses })).problems).toEqual([]);
  });
});
