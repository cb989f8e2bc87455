import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startSshd } from "../../support/sshd.ts";
import { waitFor } from "../../support/wait.ts";
import { runCli } from "./run-cli.ts";

setDefaultTimeout(30_000);

const source = join(import.meta.dir, "../../../src/main.ts");

test("a tunnel has an address here for every service of the server, and comes back when it broke", async () => {
  await using sshd = await startSshd();
  const laptop = join(sshd.folder, "laptop");
  mkdirSync(laptop);
  const tunnels = join(laptop, "t");
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: laptop,
    BERTH_REMOTES: join(laptop, "remotes.json"),
    BERTH_TUNNELS: tunnels,
    BERTH_SSH_CONFIG: sshd.clientConfig,
  };
  const local = { hostname: "127.0.0.1", port: 0 };
  await using identity = Bun.serve({ ...local, fetch: () => new Response("the sign-in page") });
  await using other = Bun.serve({ ...local, fetch: async (request) => new Response(await request.text()) });
  const listeners = [{ name: "identity", address: `0.0.0.0:${identity.port}` }];
  const far = join(sshd.folder, "far.sock");
  await using api = Bun.serve({
    unix: far,
    fetch: ({ url }) =>
      new URL(url).pathname === "/health"
        ? Response.json({ status: "ok", version: "9.9.9" })
        : Response.json({ status: "ok", data: { listeners } }),
  });
  expect(api.pendingRequests).toBe(0);
  await runCli(["remote", "add", "far", `root@127.0.0.1:${sshd.port}`, "--socket", far], { env });

  const child = Bun.spawn([process.execPath, source, "tunnel", `:${other.port}`, "-o", "json"], {
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
    const { data } = await waitFor("the addresses", () => JSON.parse(printed));
    const [plane, users, port] = data.addresses.map(({ url }: { url: string }) => url);
    expect(data.addresses.map(({ name }: { name: string }) => name)).toEqual(["API", "identity", `port ${other.port}`]);
    const text = async (url: string, body?: string) =>
      (await fetch(url, { keepalive: false, ...(body === undefined ? {} : { method: "POST", body }) })).text();
    expect(JSON.parse(await text(`${plane}/health`)).version).toBe("9.9.9");
    expect(await text(users)).toBe("the sign-in page");
    const much = "x".repeat(3_000_000);
    expect((await text(port, much)) === much).toBe(true);

    sshd.cut();
    await waitFor("ssh to end", () => !readdirSync(tunnels).some((name) => name.endsWith(".ctl")));
    expect(await text(users)).toBe("the sign-in page");
    expect(JSON.parse(await text(`${plane}/health`)).version).toBe("9.9.9");
  } finally {
    child.kill("SIGINT");
  }
  expect(await child.exited).toBe(130);
  expect(readdirSync(tunnels).filter((name) => /-\d+\.sock$/.test(name))).toEqual([]);
  await runCli(["remote", "rm", "far"], { env });
});

test("there is no tunnel to the server of this machine", async () => {
  const { code, err } = await runCli(["tunnel"], { endpoint: "http://127.0.0.1:1" });
  expect(code).toBe(2);
  expect(err).toContain("a tunnel leads to a remote, and http://127.0.0.1:1 is none; name one with -r NAME");
});
