import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Check } from "../../../src/local/checks.ts";
import { checkText, doctorCommand } from "../../../src/local/doctor.ts";
import { said } from "../../support/said.ts";

let dir = "";
let docker: Bun.Server<undefined>;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "berth-doctor."));
  docker = Bun.serve({
    unix: join(dir, "docker.sock"),
    routes: {
      "/version": Response.json({ Version: "27.0.0", ApiVersion: "1.46" }),
      "/info": Response.json({ LiveRestoreEnabled: false, CgroupVersion: "2", DockerRootDir: dir }),
    },
  });
  mkdirSync(join(dir, "root"), { mode: 0o700 });
  writeFileSync(join(dir, "root/key"), "k", { mode: 0o600 });
});
afterEach(async () => {
  await docker.stop(true);
  rmSync(dir, { recursive: true, force: true });
});

async function doctor(...args: string[]) {
  const planes = ["--addr", "127.0.0.1:0", "--observability-addr", "", "--identity-addr", ""];
  const command = () => doctorCommand([...planes, "--root", join(dir, "root"), ...args]);
  const { result: code, ...texts } = await said(command);
  return { code, ...texts };
}

const status = (out: string, name: string) => {
  const answer: { data: { checks: Check[] } } = JSON.parse(out);
  return answer.data.checks.find((check) => check.name === name)?.status;
};

describe("beside a running server", () => {
  let server: Bun.Server<undefined>;
  const root = () => join(dir, "root");
  const socket = () => join(root(), "run/berth.sock");
  const settings = () => [
    { flag: "--docker-host", value: `unix://${dir}/docker.sock` },
    { flag: "--addr", value: "off" },
    { flag: "--observability-addr", value: "127.0.0.1:0" },
    { flag: "--identity-addr", value: "off" },
  ];
  beforeEach(() => {
    mkdirSync(join(root(), "run"));
    const data = () => ({ root: root(), prefix: "berth", engine: { up: true }, settings: settings(), version: "1" });
    server = Bun.serve({ unix: socket(), routes: { "/system": () => Response.json({ status: "ok", data: data() }) } });
  });
  afterEach(async () => {
    delete process.env.BERTH_ROOT;
    delete process.env.BERTH_ENDPOINT;
    await server.stop(true);
  });
  const run = async (...args: string[]) => (await said(() => doctorCommand([...args, "-o", "json"]))).out;

  test("its engine and addresses count, found by either variable", async () => {
    for (const [name, value] of Object.entries({ BERTH_ROOT: root(), BERTH_ENDPOINT: `unix:${socket()}` })) {
      process.env[name] = value;
      const out = await run();
      expect([name, status(out, "docker"), status(out, "key file")]).toEqual([name, "ok", "ok"]);
      expect(out).toContain("turned off");
      delete process.env[name];
    }
  });

  test("a flag outweighs what it says", async () => {
    const out = await run("--root", root(), "--docker-host", `unix://${dir}/nothing.sock`);
    expect(status(out, "docker")).toBe("fail");
  });

  test("a server that is another one's, behind a tunnel, is not asked", async () => {
    const tunnel = join(dir, "tunnel.sock");
    const data = { root: root(), prefix: "berth", engine: {}, settings: settings() };
    const other = Bun.serve({ unix: tunnel, routes: { "/system": () => Response.json({ status: "ok", data }) } });
    await server.stop(true);
    process.env.BERTH_ENDPOINT = `unix:${tunnel}`;
    process.env.BERTH_ROOT = root();
    const out = await run("--addr", "", "--observability-addr", "", "--identity-addr", "");
    expect(out).not.toContain("27.0.0");
    await other.stop(true);
  });
});

describe("doctorCommand", () => {
  test("warnings alone are exit code 0, each with its mend below it", async () => {
    const { code, out } = await doctor("--docker-host", `unix://${dir}/docker.sock`);
    expect(out).toContain("ok    docker                  27.0.0, API 1.46");
    expect(out).toMatch(/warn {2}live-restore .*\n {6}.*to fix: .*"live-restore": true/);
    expect(out).toContain("warn  server                  not running on this root");
    expect(code).toBe(0);
  });

  test("a failure is exit code 1, and the rest is still examined", async () => {
    const { code, out } = await doctor("--docker-host", `unix://${dir}/nothing.sock`, "-o", "json");
    expect(code).toBe(1);
    expect(status(out, "docker")).toBe("fail");
    expect(status(out, "live-restore")).toBeUndefined();
    expect(status(out, "key file")).toBe("ok");
    expect(status(out, "server")).toBe("warn");
  });

  test("reads the modes of the root and its key", async () => {
    chmodSync(join(dir, "root"), 0o777);
    chmodSync(join(dir, "root/key"), 0o644);
    const { code, out } = await doctor("--docker-host", `unix://${dir}/docker.sock`, "-o", "json");
    expect(code).toBe(1);
    expect(status(out, "root folder")).toBe("fail");
    expect(status(out, "key file")).toBe("fail");
  });

  test("a database without its key fails", async () => {
    rmSync(join(dir, "root/key"));
    writeFileSync(join(dir, "root/state.db"), "");
    const { out } = await doctor("--docker-host", `unix://${dir}/docker.sock`, "-o", "json");
    expect(status(out, "key file")).toBe("fail");
  });

  test("a port that another program holds fails", async () => {
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const taken = `127.0.0.1:${other.port}`;
    const { out } = await doctor("--docker-host", `unix://${dir}/docker.sock`, "--identity-addr", taken, "-o", "json");
    await other.stop(true);
    expect(status(out, "identity address")).toBe("fail");
    expect(status(out, "orchestration address")).toBe("ok");
  });

  test("a berth of another root at the address is called that", async () => {
    const health = { status: "ok", version: "0.1.0 (commit: abc)" };
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(health) });
    const taken = `127.0.0.1:${other.port}`;
    const { out } = await doctor("--docker-host", `unix://${dir}/docker.sock`, "--addr", taken);
    await other.stop(true);
    expect(out).toContain(`${taken} is served by a berth of another root`);
  });

  test("a wrong command line is exit code 2 with the usage", async () => {
    expect(await doctor("--rot", "/x")).toMatchObject({ code: 2, out: "", error: expect.stringContaining("usage:") });
    expect(await doctor("-o", "yaml")).toMatchObject({ code: 2, error: expect.stringContaining('"yaml"') });
  });
});

test("a check with nothing to mend is one line", () => {
  expect(checkText({ name: "docker", status: "ok", detail: "fine" })).toBe("ok    docker                  fine");
});
