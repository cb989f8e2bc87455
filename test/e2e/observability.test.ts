import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth, executable, serve, type Server } from "../support/executable.ts";
import { startSshd } from "../support/sshd.ts";
import { waitFor } from "../support/wait.ts";

/** The observability plane of the executable, with TLS, as an operator uses it. No engine is there. */
let folder: string;
let root: string;
let server: Server;
let plain: string;
let secure: string;
let trust: { tls: { ca: string } };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-plane-"));
  root = join(folder, "root");
  mkdirSync(root, { mode: 0o700 });
  await start();
});

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const planes = ["--addr", "", "--identity-addr", "", "--observability-addr", "127.0.0.1:0", "--callback-port", "off"];
  const flags = [...planes, "--observability-tls", "self-signed", "--docker-host", `unix://${root}/no-engine.sock`];
  server = await serve(["--root", root, ...flags]);
  const { observability = [] } = server.ready.addresses as Record<string, string[]>;
  secure = (observability[0] ?? "").replace("127.0.0.1", "localhost");
  plain = `http://${observability[1] ?? ""}`;
  trust = { tls: { ca: readFileSync(join(root, "observability-tls/certificate.pem"), "utf8") } };
}

const client = (...words: string[]) => berth(["--endpoint", `unix:${root}/run/berth.sock`, ...words]);
const whoami = (base: string, headers: Record<string, string>) =>
  fetch(`${base}/api/pat/v1/whoami`, { headers, ...trust });

async function newToken(...words: string[]): Promise<string> {
  const { stdout, exitCode } = await client("pat", "create", ...words);
  expect(exitCode).toBe(0);
  return stdout.split("\n")[0] ?? "";
}

test("a token that was made on the server opens the plane, over TLS as well", async () => {
  const Authorization = `Bearer ${await newToken("ci", "--scope", "read,actions", "--expires", "1d")}`;
  for (const base of [plain, secure]) {
    const answer = await whoami(base, { Authorization });
    expect([base, answer.status]).toEqual([base, 200]);
    expect(await answer.json()).toMatchObject({ status: "ok", data: { name: "ci", scopes: ["read", "actions"] } });
  }
  expect(server.output()).toContain('"self_signed":true');
});

test("a token outlives the server, and its end does as well", async () => {
  const kept = await newToken();
  const ended = await newToken();
  const { exitCode } = await client("pat", "revoke", ended, "-y");
  expect(exitCode).toBe(0);
  await server.stop();
  await start();
  expect((await whoami(plain, { Authorization: `Bearer ${kept}` })).status).toBe(200);
  expect((await whoami(plain, { Authorization: `Bearer ${ended}` })).status).toBe(401);
  const { stdout } = await client("pat", "list", "--all");
  expect(stdout).toContain("revoked");
  expect(server.output()).not.toContain(kept);
});

test("a link of berth ui signs a browser in once, and its cookie outlives the server", async () => {
  const { stdout } = await client("ui", "--print", "--scope", "read");
  const link = stdout.trim();
  expect(link).toStartWith(`${plain}/sign-in#link=`);
  const body = JSON.stringify({ link: link.split("#link=")[1] });
  const signIn = async () => fetch(`${plain}/ui/api/session`, { method: "POST", headers: { "X-Berth-UI": "1" }, body });
  const first = await signIn();
  expect(first.status).toBe(200);
  expect((await signIn()).status).toBe(401);
  const [Cookie = ""] = (first.headers.get("set-cookie") ?? "").split(";");
  await server.stop();
  await start();
  expect(await (await whoami(plain, { Cookie })).json()).toMatchObject({ data: { scopes: ["read"] } });
  expect((await whoami(secure, { Cookie })).status).toBe(401);
});

test("from a laptop the link leads through a tunnel, which holds until Ctrl-C", async () => {
  await using sshd = await startSshd();
  const laptop = join(sshd.folder, "laptop");
  mkdirSync(laptop);
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: laptop,
    BERTH_REMOTES: join(laptop, "remotes.json"),
    BERTH_TUNNELS: join(laptop, "t"),
    BERTH_SSH_CONFIG: sshd.clientConfig,
  };
  const socket = join(root, "run/berth.sock");
  const added = await berth(["remote", "add", "far", `root@127.0.0.1:${sshd.port}`, "--socket", socket], { env });
  expect([added.stderr, added.exitCode]).toEqual([added.stderr, 0]);
  const child = Bun.spawn([executable, "ui", "-r", "far", "--print", "-o", "json"], {
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  try {
    let printed = "";
    void (async () => {
      for await (const bytes of child.stdout) printed += Buffer.from(bytes).toString();
    })();
    const { data } = await waitFor("the link", () => JSON.parse(printed));
    const [page = "", link = ""] = String(data.url).split("#link=");
    const { origin, hostname, port } = new URL(page);
    expect([hostname, plain.endsWith(`:${port}`)]).toEqual(["127.0.0.1", false]);
    const headers = { "X-Berth-UI": "1", Origin: origin };
    const body = JSON.stringify({ link });
    const signedIn = await fetch(`${origin}/ui/api/session`, { method: "POST", headers, body, keepalive: false });
    expect(signedIn.status).toBe(200);
  } finally {
    child.kill("SIGINT");
  }
  expect(await child.exited).toBe(130);
  await berth(["remote", "rm", "far"], { env });
});

test("a server that nobody waits for stops at once", async () => {
  const begun = performance.now();
  await server.stop();
  expect(performance.now() - begun).toBeLessThan(3_000);
  await start();
});

test("the web UI is there, and unknown paths of the API are not", async () => {
  const page = await fetch(`${secure}/`, trust);
  expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
  expect(page.headers.get("content-security-policy")).toContain("default-src");
  expect((await fetch(`${secure}/api/pat/v1/nothing`, trust)).status).toBe(401);
});

test("a backup brings tokens back", async () => {
  const token = await newToken("kept");
  const file = join(folder, "one.backup");
  expect((await berth(["backup", file, "--root", root])).exitCode).toBe(0);
  const { exitCode } = await client("pat", "revoke", token, "-y");
  expect(exitCode).toBe(0);
  await server.stop();
  expect((await berth(["restore", "--yes", file, "--root", root])).exitCode).toBe(0);
  await start();
  expect((await whoami(plain, { Authorization: `Bearer ${token}` })).status).toBe(200);
});
