import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { withContractClient } from "../../../src/compat/door.ts";
import { okResponse } from "../../../src/base/http/answers.ts";
import { limits } from "../../../src/config/config.ts";
import { contractClientLimits } from "../../../src/config/contract-client-limits.ts";
import { specSchemas, type WritableKind } from "../../../src/orchestration/api/kinds/schemas.ts";
import { validateSpec } from "../../../src/orchestration/core/validate.ts";
import { silentLog } from "../../support/silent-log.ts";

/** The body that the server gets when a client of this name sends `body`. */
async function received(body: unknown, path = "/apply", agent = "berth-cli/0.9.1"): Promise<unknown> {
  let seen: unknown;
  const fetch = withContractClient(
    async (request) => {
      seen = await request.json();
      return okResponse(200, {});
    },
    { prefix: "berth", log: silentLog, limits: { ...limits, ...contractClientLimits } },
  );
  const init = { method: "POST", headers: { "User-Agent": agent }, body: JSON.stringify(body) };
  await fetch(new Request(`http://localhost${path}`, init));
  return seen;
}

async function specOf(kind: string, spec: object): Promise<unknown> {
  const [manifest] = (await received([{ kind, scope: "s", name: "n", spec }])) as [{ spec: unknown }];
  return manifest.spec;
}

const image = "app:1";

/** What each kind needs at least. */
const least: Record<WritableKind, Record<string, unknown>> = {
  deployment: { image },
  statefulset: { image },
  app: { image },
  job: { image },
  cronjob: { schedule: "@daily", job: { image } },
  ingress: { host: "a.example.com" },
  asset: { files: { motd: "" } },
  registry: { url: "r.example.com", helper: "gcr" },
};
const kinds = Object.keys(least) as WritableKind[];

const isText = ({ type, anyOf }: TSchema) => (anyOf ?? [{ type }]).every(({ type: one }: TSchema) => one === "string");

describe("what the encoder of that client leaves in", () => {
  test.each(kinds)("is absent for every optional field of a %s", async (kind) => {
    const optional = Object.entries(specSchemas[kind].properties as Record<string, TSchema>).filter(
      ([field]) => least[kind][field] === undefined,
    );
    const nulls = Object.fromEntries(optional.map(([field]) => [field, null]));
    const empty = Object.fromEntries(optional.flatMap(([field, schema]) => (isText(schema) ? [[field, ""]] : [])));
    expect(await specOf(kind, { ...nulls, ...least[kind] })).toEqual(least[kind]);
    expect(await specOf(kind, { ...empty, ...least[kind] })).toEqual(least[kind]);
    expect(validateSpec(kind, least[kind], limits)).toEqual([]);
  });

  test.each<[WritableKind, object, object]>([
    ["registry", { helper: "gcr", username: "", token: "" }, { helper: "gcr" }],
    [
      "asset",
      { files: { a: { _source: "url", url: "https://x.example", timeout: "", on_failure: "" }, b: "" } },
      { files: { a: { _source: "url", url: "https://x.example" }, b: "" } },
    ],
    ["cronjob", { job: { image, command: null, timeout: "" } }, { job: { image } }],
    ["deployment", { env: { EMPTY: "" }, command: ["", "x"] }, { env: { EMPTY: "" }, command: ["", "x"] }],
    ["deployment", { resources: { limits: { cpu: "", memory: "" } } }, {}],
    ["deployment", { release: {} }, { release: {} }],
    ["deployment", { keep_releases: 0, replicas: 0 }, { replicas: 0 }],
    ["deployment", { probes: { liveness: null, startup: null } }, {}],
    [
      "deployment",
      {
        probes: {
          readiness: { http_get: { path: "/", port: 80, scheme: "" }, exec: null, period: "", failure_threshold: 0 },
        },
      },
      { probes: { readiness: { http_get: { path: "/", port: 80 } } } },
    ],
    [
      "deployment",
      { inits: [{ name: "a", command: ["x"], image: "", timeout: "", resources: null }] },
      { inits: [{ name: "a", command: ["x"] }] },
    ],
    [
      "deployment",
      { on_deploy: { success: [{ url: "https://x", method: "", file: "", body: { a: "", b: null } }], failure: null } },
      { on_deploy: { success: [{ url: "https://x", body: { a: "", b: null } }] } },
    ],
  ])("of a %s: %j", async (kind, sent, meant) => {
    expect(await specOf(kind, { ...least[kind], ...sent })).toEqual({ ...least[kind], ...meant });
  });

  test("of the manifest itself, and of the bodies that go to plugins", async () => {
    const manifest = { kind: "Registries", scope: "", name: "r", spec: { url: "r.example.com" } };
    expect(await received([{ ...manifest, metadata: null }])).toEqual([manifest]);
    expect(await received({ ...manifest, spec: null })).toEqual({ ...manifest, spec: undefined } as object);
    expect(await received({ args: null }, "/plugin/pg/backups:list")).toEqual({});
    expect(await received({ source: "a/b", version: "" }, "/plugins/install")).toEqual({ source: "a/b" });
  });

  test("is the plugin's own in a block of a plugin, and stays where a field needs a value", async () => {
    const block = { kind: "postgres", scope: "s", name: "n", spec: { image: "", labels: null } };
    expect(await received([block])).toEqual([block]);
    const url = { _source: "url", url: "" };
    expect(await specOf("asset", { files: { a: url } })).toEqual({ files: { a: url } });
  });
});

describe("tls of that client", () => {
  test.each([
    [{ provider: "letsencrypt" }, { provider: "letsencrypt", enabled: false }],
    [
      { enabled: true, provider: "letsencrypt", email: "" },
      { enabled: true, provider: "letsencrypt" },
    ],
  ])("%j", async (sent, meant) => {
    expect(await specOf("ingress", { host: "a.example.com", tls: sent })).toEqual({
      host: "a.example.com",
      tls: meant,
    });
    expect(await specOf("app", { image, host: "a.example.com", tls: sent })).toMatchObject({ tls: meant });
  });
});

test("replicas beside autoscale are the number to begin with, which is the smallest", async () => {
  const autoscale = { min: 2, max: 5, cpu_target: 60 };
  expect(await specOf("deployment", { image, autoscale, replicas: 2 })).toEqual({ image, autoscale });
  expect(await specOf("deployment", { image, autoscale, replicas: 4 })).toEqual({ image, autoscale, replicas: 4 });
});

test("nobody else's body changes", async () => {
  const body = [{ kind: "registry", name: "r", spec: { url: "r.example.com", username: "" }, metadata: null }];
  expect(await received(body, "/apply", "berth/1")).toEqual(body);
  expect(await received(body, "/apply", "curl/8")).toEqual(body);
});
