import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalReference, parseImageReference } from "../../src/orchestration/core/image-reference.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { jsonLines } from "../../src/orchestration/engine/docker/json-lines.ts";
import { createMemoryRuntime } from "../support/memory-runtime.ts";
import type { ContainerState } from "../../src/orchestration/engine/pod.ts";
import { containerSpec } from "../support/container-spec.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const reference = fc.record({
  host: fc.option(fc.constantFrom("localhost", "r.example", "127.0.0.1:5000", "reg:80"), { nil: undefined }),
  path: fc.array(word, { minLength: 1, maxLength: 3 }),
  tag: fc.option(fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,10}$/), { nil: undefined }),
  digest: fc.option(fc.stringMatching(/^sha256:[0-9a-f]{64}$/), { nil: undefined }),
});

test("a reference is taken apart into what it was made of, and its canonical form is a fixed point", () => {
  fc.assert(
    fc.property(reference, ({ host, path, tag, digest }) => {
      const name = [...(host === undefined ? [] : [host]), ...path].join("/");
      const text = `${name}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
      const expectedTag = tag ?? (digest === undefined ? "latest" : undefined);
      expect(parseImageReference(text)).toMatchObject({ name, tag: expectedTag, digest });
      const canonical = canonicalReference(text);
      expect(canonicalReference(canonical ?? "")).toBe(canonical);
    }),
  );
});

test("no text at all makes a reference whose name could leave its place in a path", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z./:@?#%]{1,20}$/)), (text) => {
      const parsed = parseImageReference(text);
      if (parsed !== undefined) expect(parsed.name).not.toMatch(/\.\.|[?#%\s]|\/\//);
    }),
  );
});

test("rows are the same however the stream is cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue(), { maxLength: 5 }), fc.array(fc.nat(200)), async (values, cuts) => {
      const bytes = new TextEncoder().encode(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
      const edges = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const parts = edges.slice(1).map((end, index) => bytes.slice(edges[index], end));
      const chunks = (async function* () {
        yield* parts;
      })();
      expect(await Array.fromAsync(jsonLines(chunks))).toEqual(JSON.parse(JSON.stringify(values)));
    }),
  );
});

type Step = { act: "create" | "start" | "stop" | "remove" | "kill"; name: string; port: number };
const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom("create", "start", "stop", "remove", "kill"),
  name: fc.constantFrom("a", "b", "c"),
  port: fc.constantFrom(8001, 8002),
});

test("whatever is done, no two running containers hold one port, and events alone tell who runs", async () => {
  const { label } = naming();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const runtime = createMemoryRuntime();
      runtime.addImage("app:1");
      const told = new Map<string, ContainerState>();
      const abort = new AbortController();
      const opened = Promise.withResolvers<void>();
      const follower = (async () => {
        for await (const { action, id, name } of runtime.events(abort.signal, opened.resolve)) {
          if (action === "start") told.set(id, "running");
          if (action === "die" || action === "destroy") told.delete(id);
          if (name === "last") abort.abort();
        }
      })();
      await opened.promise;
      for (const { act, name, port } of steps) await perform(runtime, { act, name, port }).catch(() => undefined);
      const rows = await runtime.observe();
      const running = rows.filter(({ state }) => state === "running");
      const ports = await Promise.all(
        running.map(async ({ id }) => (await runtime.inspect(podRef(id)))?.ports[0]?.hostPort),
      );
      expect(new Set(ports).size).toBe(running.length);
      expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
      for (const row of rows) {
        const key = { kind: "deployment", scope: "s", name: row.labels[label.name] ?? "" };
        expect((await runtime.observe(key)).map(({ id }) => id)).toContain(row.id);
      }
      await runtime.create(containerSpec({ name: "last", image: "app:1" }));
      await follower;
      expect([...told.keys()].sort()).toEqual(running.map(({ id }) => id).sort());
    }),
  );
});

async function perform(runtime: ReturnType<typeof createMemoryRuntime>, { act, name, port }: Step): Promise<void> {
  const { label } = naming();
  switch (act) {
    case "create": {
      const labels = { [label.kind]: "deployment", [label.scope]: "s", [label.name]: name };
      const ports = [{ hostIp: "127.0.0.1", hostPort: port, containerPort: 80, protocol: "tcp" as const }];
      await runtime.create(containerSpec({ name, image: "app:1", labels, ports }));
      return;
    }
    case "start":
      return runtime.start(podRef(name));
    case "stop":
      return runtime.stop(podRef(name), { graceMs: 0 });
    case "remove":
      return runtime.remove(podRef(name));
    case "kill":
      return runtime.kill(name);
  }
}
