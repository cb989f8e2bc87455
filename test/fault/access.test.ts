import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fixtureImage } from "../support/docker.ts";
import { executable, readyLine } from "../support/executable.ts";
import { freePort } from "../support/ports.ts";
import { connectRaw } from "../support/raw-client.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/** What a user's own process reads from the port; bash needs no file that the user might not see. */
async function ask(as: readonly string[], port: number, request: string): Promise<string> {
  const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '${request}' >&3; cat <&3`;
  const run = Bun.spawn([...as, "bash", "-c", script], { stdout: "pipe", stderr: "ignore", cwd: "/" });
  return new Response(run.stdout).text();
}

const get = (path: string) => `GET ${path} HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n`;
const secretBody = '{"STOLEN":"yes"}';
const setConfig = `POST /config?scope=vault HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: ${secretBody.length}\\r\\n\\r\\n${secretBody}`;

describe("the port of the orchestration plane", () => {
  let berth: Rig;
  let port: number;
  beforeAll(async () => {
    berth = await rig({ addr: "127.0.0.1:0" });
    const { orchestration } = berth.server.ready.addresses as { orchestration: string[] };
    port = Number(orchestration.find((it) => !it.startsWith("unix:"))?.split(":")[1]);
    await berth.call("POST", "/config?scope=vault", { SECRET: "told-to-nobody" });
  });
  afterAll(() => berth?.close());

  test("answers root", async () => {
    expect(await ask([], port, get("/config?scope=vault"))).toContain("told-to-nobody");
    const run = await berth.cli(["config", "list", "vault", "--endpoint", `http://127.0.0.1:${port}`]);
    expect(run).toMatchObject({ exitCode: 0 });
  });

  test("answers root over an IPv6 socket to the IPv4 address", async () => {
    const client = await connectRaw({ hostname: "::ffff:127.0.0.1", port });
    await client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(await client.until((text) => text.includes("\r\n\r\n"))).toStartWith("HTTP/1.1 200 ");
    client.abort();
  });

  test("tells another user who it is and what to type, and no secret", async () => {
    const text = await ask(nobody, port, get("/config?scope=vault"));
    expect(text).toStartWith("HTTP/1.1 403 ");
    expect(text).toContain("the user nobody (uid 65534)");
    expect(text).toContain(`usermod -aG ${berth.prefix} nobody`);
    expect(text).not.toContain("told-to-nobody");
  });

  test("does nothing for a user who sends and runs", async () => {
    const script = `for i in $(seq 20); do printf '${setConfig}' >/dev/tcp/127.0.0.1/${port}; done`;
    await Bun.spawn([...nobody, "bash", "-c", script], { cwd: "/", stderr: "ignore" }).exited;
    const refusals = () => berth.server.output().split('"request refused"').length - 1;
    await waitFor("all to be refused", async () => refusals() >= 20);
    expect(JSON.stringify((await berth.call("GET", "/config?scope=vault")).body)).not.toContain("STOLEN");
  });

  const inContainer = (...flags: string[]) =>
    berth.docker([
      ...["run", "--rm", "--network", "host", ...flags, fixtureImage, "sh", "-c"],
      `printf '${get("/config?scope=vault")}' | nc 127.0.0.1 ${port}`,
    ]);
  test.each([[[]], [["--pid", "host"]]])("refuses root of a container on the host's network %p", (flags) => {
    const text = inContainer(...flags);
    expect(text).toStartWith("HTTP/1.1 403 ");
    expect(text).toContain("a container on the host's network");
    expect(text).not.toContain("told-to-nobody");
  });

  test("answers while thousands of other connections are open", async () => {
    const sink = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const connections = 2_000;
    const open = await Promise.all(
      Array.from({ length: connections }, () =>
        Bun.connect({ hostname: "127.0.0.1", port: sink.port, socket: { data() {} } }),
      ),
    );
    expect(await ask([], port, get("/health"))).toContain("HTTP/1.1 200 ");
    expect(await ask(nobody, port, get("/health"))).toContain("HTTP/1.1 403 ");
    for (const socket of open) socket.terminate();
    sink.stop(true);
  });
});

describe("members of the operators' group", () => {
  const gid = 64_123;
  const prefix = `bt${Math.random().toString(36).slice(2, 8)}`;
  const folder = mkdtempSync(join(tmpdir(), "berth-group."));
  const root = join(folder, "root");
  const groupFile = join(folder, "group");
  let port: number;
  let server: Bun.Subprocess<"ignore", "ignore", "pipe">;
  let log = "";

  /** The server sees a group file of its own: mounts of its own, so that the machine's stays as it is. */
  beforeAll(async () => {
    port = await freePort();
    // `mkdtemp` closes the folder to everybody else.
    chmodSync(folder, 0o755);
    const groups = readFileSync("/etc/group", "utf8");
    writeFileSync(groupFile, `${groups}${prefix}:x:${gid}:nobody\n`);
    const planes = ["--addr", `127.0.0.1:${port}`, "--observability-addr", "", "--identity-addr", ""];
    const flags = ["--root", root, "--prefix", prefix, ...planes, "--callback-port", "off"];
    const script = 'umask 077; mount --bind "$1" /etc/group; shift; exec "$@"';
    const command = [executable, "serve", ...flags, "--docker-host", process.env.BERTH_TEST_DOCKER_HOST ?? ""];
    server = Bun.spawn(["unshare", "-m", "sh", "-c", script, "sh", groupFile, ...command], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    void (async () => {
      for await (const chunk of server.stderr) log += new TextDecoder().decode(chunk);
    })();
    await waitFor("the server to be ready", async () => readyLine(log) !== undefined);
  });
  afterAll(async () => {
    server?.kill();
    await server?.exited;
    rmSync(folder, { recursive: true, force: true });
  });

  test("use the port", async () => {
    expect(await ask(nobody, port, get("/health"))).toStartWith("HTTP/1.1 200 ");
  });

  test("use the socket, and see nothing beside it", () => {
    const { mode, gid: group } = statSync(join(root, "run/berth.sock"));
    expect({ mode: mode & 0o777, group }).toEqual({ mode: 0o660, group: gid });
    const member = ["setpriv", "--reuid=65534", "--regid=65534", `--groups=${gid}`];
    const can = (as: string[], flag: string, path: string) =>
      Bun.spawnSync([...as, "test", flag, join(root, path)]).exitCode === 0;
    expect(can(member, "-w", "run/berth.sock")).toBe(true);
    expect(can(member, "-w", "run/berth.sock.inner")).toBe(false);
    expect(can(member, "-r", "run")).toBe(false);
    expect(can(member, "-r", "key")).toBe(false);
    expect(can(nobody, "-w", "run/berth.sock")).toBe(false);
  });
});
