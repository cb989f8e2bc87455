import { expect, test } from "bun:test";
import { procfileManifests } from "../../../../src/compat/far-side/procfile.ts";

const of = (text: string, app?: object | string) =>
  procfileManifests({ scope: "shop", text, app: typeof app === "object" ? JSON.stringify(app) : app });

test("each process is a deployment with a port of its own, and release is a job", () => {
  const made = (command: string) => ({ command: ["/bin/sh", "-c", command], build: { context: "tree" } });
  const spec = (command: string, port: string) => ({
    ...{ ...made(command), replicas: 1, env: { PORT: port }, ports: [port], restart: "on-failure" },
  });
  expect(of("# all\n\nweb: bin/web -p $PORT\r\nrelease: bin/migrate\nBack_ground: bin/work\n")).toEqual([
    { kind: "deployment", scope: "shop", name: "web", spec: spec("bin/web -p $PORT", "5000") },
    { kind: "job", scope: "shop", name: "release", spec: made("bin/migrate") },
    { kind: "deployment", scope: "shop", name: "back-ground", spec: spec("bin/work", "5001") },
  ]);
});

test("routes come from app.json, and their port is that of the process", () => {
  const route = {
    host: "shop.example",
    port: 8080,
    tls: { email: "a@b.example" },
    location: { path: "/v1", strip_prefix: true },
  };
  expect(of("web: bin/web\n", { scope: "x", ingress: { web: route } })).toMatchObject([
    { kind: "deployment", spec: { env: { PORT: "8080" }, ports: ["8080"] } },
    {
      ...{ kind: "ingress", scope: "shop", name: "web" },
      spec: { host: "shop.example", service: "web", port: 8080, tls: {}, locations: [{ path: "/v1", strip: true }] },
    },
  ]);
});

test.each<[string, object | string | undefined, string]>([
  ["# nothing\n", undefined, "names no process"],
  ["web bin/web\n", undefined, "Procfile:1: expected TYPE: COMMAND"],
  ["web: a\nWEB: b\n", undefined, 'Procfile:2: "WEB" is there twice'],
  ["web: a\n", "{", "app.json: "],
  ["web: a\n", { ingress: { web: {} } }, "app.json: ingress.web.host is missing"],
  ["web: a\n", { ingress: { api: { host: "a.example" } } }, "ingress.api: the Procfile has no such process"],
])("%j with %j is refused", (text, app, message) => {
  expect(() => of(text, app)).toThrow(message);
});
