import { expect, test } from "bun:test";
import fc from "fast-check";
import { operator, type Principal, tokenPrincipal } from "../../src/access/principal.ts";
import { Failure } from "../../src/base/wire/failure.ts";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import type { ContainerSpec } from "../../src/orchestration/core/workload.ts";
import { fixtureImage } from "../support/manifests.ts";
import { reachingManifests } from "../support/reaching.ts";
import { world } from "../support/world.ts";

/** What a caller without the machine's rights can write, with what it may not among it. */
const reachingFields: [string, unknown][] = reachingManifests
  .filter(([, { kind }]) => kind === "deployment")
  .flatMap(([, { spec }]) => Object.entries(spec))
  .filter(([field]) => !["image", "command", "stop_grace", "rollout", "env"].includes(field));
const harmless: [string, unknown][] = [
  ["volumes", ["data:/data"]],
  ["ports", ["80"]],
  ["env", { volumes: "/:/h", docker_options: "--privileged", network_mode: "host" }],
  ["docker_options", ["--shm-size", "64m"]],
  ["network_mode", "none"],
  ["command", ["sleep", "100000", "--privileged", "/:/h"]],
  ["replicas", 2],
];
const field = fc.constantFrom(...reachingFields, ...harmless);
const spec = fc.array(field, { maxLength: 3 }).map((fields) => ({
  image: fixtureImage,
  command: ["sleep", "100000"],
  stop_grace: "1s",
  ...Object.fromEntries(fields),
}));
const name = fc.constantFrom("a", "b", "own");
const pods = fc.record({
  kind: fc.constantFrom("deployment", "statefulset", "app"),
  scope: fc.constant("shop"),
  name,
  spec,
});
const jobs = fc
  .record({ kind: fc.constant("cronjob"), scope: fc.constant("shop"), name: fc.constant("c"), spec })
  .map(({ spec: job, ...manifest }) => ({ ...manifest, spec: { schedule: "* * * * *", job } }));
const others = fc.constantFrom(
  ...reachingManifests.map(([, manifest]) => manifest).filter(({ kind }) => kind !== "deployment"),
);
const manifest: fc.Arbitrary<Manifest> = fc.oneof({ weight: 6, arbitrary: pods }, jobs, others);
const principal = fc.constantFrom<Principal>(
  tokenPrincipal({ scopes: ["read", "actions", "exec"], apps: [] }),
  tokenPrincipal({ scopes: ["actions", "admin"], apps: ["shop"] }),
  { type: "plugin", askedBy: tokenPrincipal({ scopes: ["actions"], apps: [] }) },
  { type: "pod" },
);
const step = fc.record({
  by: principal,
  body: fc.array(manifest, { minLength: 1, maxLength: 2 }),
  dryRun: fc.boolean(),
});
const back = fc.record({ by: principal, name });

/** The operator's own app has this folder of the machine, and is the only one. */
const own = { type: "bind", source: "/srv/own" };

function reaches(container: ContainerSpec): string[] {
  const { mounts, networkMode, capAdd, options, ports } = container;
  const isOwn = container.name.startsWith("shop-own");
  return [
    ...mounts
      .filter(({ type, source }) => type === "bind" && !(isOwn && source === own.source))
      .map(({ source }) => source),
    ...(networkMode === "host" ? ["host"] : []),
    ...capAdd,
    // The labels of a job are always there, and empty.
    ...Object.entries(options).flatMap(([option, value]) =>
      ["shmSizeBytes", "entrypoint"].includes(option) || JSON.stringify(value) === "{}" ? [] : [option],
    ),
    ...ports
      .filter(({ hostPort, hostIp }) => hostPort !== undefined || hostIp !== "127.0.0.1")
      .map(({ hostIp }) => hostIp),
  ];
}

test("no caller without the machine's rights brings forth what it may not ask for openly", async () => {
  let stored = 0;
  let refusals = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(step, back), { minLength: 1, maxLength: 6 }), async (steps) => {
      const created: ContainerSpec[] = [];
      const fetched: string[] = [];
      const it = await world({
        fetch: async (url) => {
          fetched.push(url);
          return new Response("");
        },
        wrapRuntime: (runtime) => ({
          ...runtime,
          create(container) {
            created.push(container);
            return runtime.create(container);
          },
        }),
      });
      try {
        const app = {
          kind: "deployment",
          scope: "shop",
          name: "own",
          spec: { image: fixtureImage, command: ["sleep", "9"] },
        };
        const bound = { ...app, spec: { ...app.spec, volumes: [`${own.source}:/data`] } };
        await it.apply(bound, { by: operator });
        for (const one of steps) {
          const call =
            "body" in one
              ? it.apply(one.body, { by: one.by, dryRun: one.dryRun })
              : it.controller.rollback(
                  { scope: "shop", name: one.name, releaseId: undefined },
                  { actor: "t", by: one.by },
                );
          await call.then(
            () => (stored += 1),
            (error: unknown) => {
              if (!(error instanceof Failure)) throw error;
              if (error.code === "forbidden") refusals += 1;
            },
          );
          await it.advance(1_000);
        }
        await it.advance(60_000);
        expect(created.flatMap(reaches)).toEqual([]);
        expect(fetched).toEqual([]);
        expect(it.store.manifests.list({}).filter(({ kind }) => kind === "registry" || kind === "asset")).toEqual([]);
        expect(it.store.manifests.list({ kind: "ingress" })).toEqual([]);
      } finally {
        await it.close();
      }
    }),
    { numRuns: 40 },
  );
  // Both outcomes were really seen.
  expect(Math.min(stored, refusals)).toBeGreaterThan(3);
});
