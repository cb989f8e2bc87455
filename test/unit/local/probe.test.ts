import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "bun:test";
import { askDocker, askServer, isListening } from "../../../src/local/probe.ts";

const dir = mkdtempSync(join(tmpdir(), "berth-probe."));
const docker = Bun.serve({
  unix: join(dir, "docker.sock"),
  routes: {
    "/version": Response.json({ Version: "20.10.24", ApiVersion: "1.41" }),
    "/info": Response.json({
      ...{ LiveRestoreEnabled: true, CgroupVersion: "2", DockerRootDir: "/var/lib/docker" },
      ...{ InitBinary: "docker-init", InitCommit: { ID: "de40ad0" } },
    }),
  },
});
const berth = Bun.serve({
  unix: join(dir, "berth.sock"),
  routes: {
    "/system": Response.json({
      status: "ok",
      data: {
        version: "1.2.3",
        engine: { up: false, error: "connection refused" },
        store: { collection_held: true },
        reconciler: { queued: 1, failing: 4 },
      },
    }),
  },
});
const broken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status: 500 }) });
afterAll(async () => {
  await Promise.all([docker.stop(true), berth.stop(true), broken.stop(true)]);
  rmSync(dir, { recursive: true, force: true });
});

describe("askDocker", () => {
  const facts = {
    version: "20.10.24",
    apiVersion: "1.41",
    liveRestore: true,
    hasInit: true,
    cgroupVersion: "2",
    rootDir: "/var/lib/docker",
  };

  test("reads facts over a unix socket, in either spelling", async () => {
    expect(await askDocker(`unix://${dir}/docker.sock`)).toEqual(facts);
    expect(await askDocker(`unix:${dir}/docker.sock`)).toEqual(facts);
  });

  test("says why there are none", async () => {
    expect(await askDocker(`unix://${dir}/nothing.sock`)).toEqual(new Error("no such socket"));
    expect(await askDocker(`tcp://127.0.0.1:${broken.port}`)).toEqual(new Error("/version answered 500"));
  });
});

describe("askServer", () => {
  test("reads the report of the running server", async () => {
    expect(await askServer(join(dir, "berth.sock"))).toEqual({
      version: "1.2.3",
      engineUp: false,
      engineError: "connection refused",
      collectionHeld: true,
      failing: 4,
    });
  });

  test("a server that is not there is no error", async () => {
    expect(await askServer(join(dir, "nothing.sock"))).toBeUndefined();
    expect(await askServer(join(dir, "docker.sock"))).toBeUndefined();
  });
});

describe("isListening", () => {
  test("sees a listener on its address and through the wildcards", async () => {
    for (const host of ["127.0.0.1", "0.0.0.0", "", "localhost"]) {
      expect([host, await isListening(`${host}:${broken.port}`)]).toEqual([host, true]);
    }
  });

  test("sees none on a free port, and port 0 is always free", async () => {
    const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const port = gone.port;
    await gone.stop(true);
    expect(await isListening(`127.0.0.1:${port}`)).toBe(false);
    expect(await isListening("127.0.0.1:0")).toBe(false);
  });
});
