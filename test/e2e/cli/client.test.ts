// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { pod, stored } from "../../support/cli.ts";
import { folder } from "../../support/files.ts";
import { type FakeServer, fakeServer } from "./fake-server.ts";
import { runCli } from "./run-cli.ts";

let server: FakeServer;

beforeAll(() => {
  server = fakeServer(({ method, path, query, body }) => {
    if (path === "/pods")
      return { pods: Array.from({ length: 500 }, (_, index) => pod(`shop-web.${index}`)), degraded: [] };
    if (path === "/describe") {
      const status = { phase: "ready", replicas: 1, ready_replicas: 1, observed_revision: 1 };
      return { manifest: stored("deployment/shop/web"), status, pods: [] };
    }
    if (method === "POST" && path === "/apply") {
      const applied = JSON.parse(body).map((item: object) => ({ ...item, metadata: { revision: 1 } }));
      return { applied, pruned: [], ...(query.has("dry_run") ? { current: applied.map(() => null), plan: [] } : {}) };
    }
    return path === "/config" ? { changed: ["A"], restarting: [] } : undefined;
  });
});

afterAll(() => server.stop());

describe("the client as a process", () => {
  test("applies a folder with variables from its environment, waits, and names who did it", async () => {
    using place = folder({ "m/web.yaml": 'kind: deployment\nscope: shop\nname: web\nspec: {image: "web:${TAG}"}\n' });
    const options = { endpoint: server.url, cwd: place.path, env: { TAG: "2" } };
    const { code, out, err } = await runCli(["apply", "-f", "m"], options);
    expect(err).toContain("✓ deployment/shop/web is ready (1/1)");
    expect(out).toContain("no changes");
    expect(code).toBe(0);
    const last = server.requests.findLast(({ method }) => method === "POST");
    expect(JSON.parse(last?.body ?? "")).toMatchObject([{ spec: { image: "web:2" } }]);
    expect(last?.actor).toStartWith("ana@");
  });

  test("reads stdin to its end", async () => {
    const { code } = await runCli(["config", "set", "shop", "A=-"], {
      endpoint: server.url,
      stdin: "x".repeat(200_000),
    });
    expect(code).toBe(0);
    const sent = server.requests.findLast(({ method }) => method === "POST");
    expect(JSON.parse(sent?.body ?? "").A).toHaveLength(200_000);
  });

  test("writes all of a long answer into a pipe, without colours", async () => {
    const { out } = await runCli(["get", "pods", "-o", "json"], { endpoint: server.url });
    expect(JSON.parse(out).data.pods).toHaveLength(500);
    expect((await runCli(["get", "pods"], { endpoint: server.url })).out).not.toContain("\x1b");
  });

  test("a reader that goes away is no error", async () => {
    const main = join(import.meta.dir, "../../../src/main.ts");
    const script = `"${process.execPath}" "${main}" get pods | head -n 1`;
    const child = Bun.spawn(["sh", "-c", script], {
      env: { PATH: "/usr/bin:/bin", BERTH_ENDPOINT: server.url },
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(out).toStartWith("NAME");
    expect(err).toBe("");
  });

  test("talks over a unix socket, with a Host that the server accepts", async () => {
    using place = folder({});
    const socket = fakeServer(() => ({ pods: [], degraded: [] }), { unix: join(place.path, "s.sock") });
    try {
      expect(await runCli(["get", "pods"], { endpoint: socket.url })).toEqual({ code: 0, out: "no pods\n", err: "" });
    } finally {
      await socket.stop();
    }
  });

  test("says what to check when nobody listens, and ends with 4", async () => {
    const gone = fakeServer(() => undefined);
    await gone.stop();
    const { code, err } = await runCli(["get"], { endpoint: gone.url });
    expect(err).toStartWith(`error: cannot reach the server at ${gone.url}: nothing listens there\n`);
    expect(code).toBe(4);
    const socket = await runCli(["get"], { endpoint: "unix:/nonexistent/berth.sock" });
    expect(socket.err).toContain("no such socket");
    expect(socket.code).toBe(4);
  });

  test("version without a server still shows the client's", async () => {
    const { code, out } = await runCli(["version"], { endpoint: "unix:/nonexistent/berth.sock" });
    expect(out).toMatch(/^client {2}\d+\.\d+\.\d+ .*\nserver {2}not reached at unix:/);
    expect(code).toBe(4);
  });

  test("Ctrl-C while waiting ends with 130 and says that the server goes on", async () => {
    const slow = fakeServer(({ path, body }) => {
      if (path === "/describe") return { manifest: stored("deployment/shop/web"), status: null, pods: [] };
      const applied = JSON.parse(body).map((item: object) => ({ ...item, metadata: { revision: 1 } }));
      return { applied, pruned: [] };
    });
    const main = join(import.meta.dir, "../../../src/main.ts");
    const child = Bun.spawn([process.execPath, main, "apply", "-y", "-f", "-"], {
      env: { PATH: "/usr/bin:/bin", BERTH_ENDPOINT: slow.url },
      stdin: new Blob(["kind: deployment\nscope: shop\nname: web\n"]),
      stdout: "pipe",
      stderr: "pipe",
    });
    try {
      while (!slow.requests.some(({ path }) => path === "/describe")) await Bun.sleep(10);
      child.kill("SIGINT");
      const [err, code] = await Promise.all([child.stderr.text(), child.exited]);
      expect(err).toContain("deployment/shop/web not waited for: the server goes on");
      expect(code).toBe(130);
    } finally {
      child.kill("SIGKILL");
      await slow.stop();
    }
  });
});
