import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../support/ports.ts";
import { type Sshd, startSshd } from "../../support/sshd.ts";
import { waitFor } from "../../support/wait.ts";
import { type FakeServer, fakeServer } from "./fake-server.ts";
import { runCli } from "./run-cli.ts";

setDefaultTimeout(30_000);

let sshd: Sshd;
let server: FakeServer;
let socket: string;

beforeAll(async () => {
  sshd = await startSshd();
  socket = join(sshd.folder, "far.sock");
  server = play(socket);
});

afterAll(async () => {
  await server.stop();
  await sshd[Symbol.asyncDispose]();
});

function play(unix: string): FakeServer {
  return fakeServer(
    ({ path }) => {
      if (path === "/health") return Response.json({ status: "ok", version: "9.9.9" });
      return path === "/pods" ? { pods: [], degraded: [] } : undefined;
    },
    { unix },
  );
}

let laptops = 0;

/** An operator's own files. */
function laptop(at: Sshd = sshd) {
  const home = join(at.folder, `laptop-${laptops++}`);
  mkdirSync(home);
  const env = {
    BERTH_REMOTES: join(home, "remotes.json"),
    BERTH_TUNNELS: join(home, "t"),
    BERTH_SSH_CONFIG: at.clientConfig,
  };
  const cli = (args: string[], more: Record<string, string | undefined> = {}) =>
    runCli(args, { env: { ...env, ...more } });
  return {
    home,
    cli,
    sockets: () => (existsSync(env.BERTH_TUNNELS) ? readdirSync(env.BERTH_TUNNELS).sort() : []),
    add: (name: string, ...flags: string[]) =>
      cli(["remote", "add", name, `root@127.0.0.1:${at.port}`, "--socket", socket, ...flags]),
  };
}

const signIns = () => sshd.log().match(/Accepted publickey/g)?.length ?? 0;

describe("a remote", () => {
  test("is stored for its owner only, becomes the default, and commands go to it over one connection", async () => {
    const { home, cli, add, sockets } = laptop();
    const added = await add("production");
    expect(added).toMatchObject({ code: 0, err: "" });
    expect(added.out).toBe(
      `production (root@127.0.0.1:${sshd.port}) is stored, and is the default\n  try it:  berth remote test production\n`,
    );
    expect(statSync(join(home, "remotes.json")).mode & 0o777).toBe(0o600);
    const before = signIns();
    const tested = await cli(["remote", "test"]);
    expect([tested.code, tested.err]).toEqual([0, ""]);
    expect(tested.out).toMatch(/^✓ production: berth 9\.9\.9, \d+ ms\n$/);
    expect(await cli(["get", "pods"])).toMatchObject({ code: 0 });
    expect((await cli(["version"])).out).toContain("9.9.9");
    expect(signIns() - before).toBe(1);
    expect(statSync(join(home, "t")).mode & 0o777).toBe(0o700);
    expect(sockets()).toEqual([expect.stringMatching(/^\w{12}\.ctl$/), expect.stringMatching(/^\w{12}\.sock$/)]);
    const removed = await cli(["remote", "remove", "production"]);
    expect(removed.out).toBe("production is removed; nothing changed on the server\n");
    expect(sockets()).toEqual([]);
  });

  test("commands that start at the same time open one tunnel", async () => {
    const { cli, add } = laptop();
    await add("production");
    const before = signIns();
    const all = await Promise.all(Array.from({ length: 4 }, () => cli(["get", "pods"])));
    expect(all.map(({ code, err }) => [code, err])).toEqual(Array.from({ length: 4 }, () => [0, ""]));
    expect(signIns() - before).toBe(1);
    await cli(["remote", "rm", "production"]);
  });

  test("a tunnel that broke is opened again, also by a command that found it broken", async () => {
    const own = await startSshd();
    const { cli, home, add } = laptop(own);
    await add("production");
    expect((await cli(["get", "pods"])).code).toBe(0);
    await own.stop();
    const away = await cli(["get", "pods"]);
    expect(away.code).toBe(4);
    expect(away.err).toContain(
      `cannot reach production (root@127.0.0.1:${own.port}): port ${own.port} of 127.0.0.1 refuses connections`,
    );
    await own.again();
    expect(await cli(["get", "pods"])).toMatchObject({ code: 0, err: "" });
    // Files of a connection that ended without clearing up.
    await cli(["remote", "use", "local"]);
    await own.stop();
    writeFileSync(join(home, "t", "left.lock"), "1");
    await own.again();
    expect((await cli(["get", "pods", "-r", "production"])).code).toBe(0);
    await cli(["remote", "remove", "production"]);
    await own[Symbol.asyncDispose]();
  });

  test("a connection that carries nothing ends by itself", async () => {
    const { cli, add, home } = laptop();
    await add("production");
    const wrapper = join(home, "bin");
    mkdirSync(wrapper);
    // Long enough that a busy machine uses the connection before it ends.
    writeFileSync(
      join(wrapper, "ssh"),
      '#!/bin/sh\nfor word; do shift; case $word in ControlPersist=*) [ "$word" = ControlPersist=600 ] && word=ControlPersist=4;; esac; set -- "$@" "$word"; done\nexec /usr/bin/ssh "$@"\n',
    );
    chmodSync(join(wrapper, "ssh"), 0o755);
    const path = `${wrapper}:/usr/bin:/bin`;
    expect((await cli(["get", "pods"], { PATH: path })).code).toBe(0);
    await waitFor("ssh to end", () => !readdirSync(join(home, "t")).some((name) => name.endsWith(".ctl")));
    const before = signIns();
    expect((await cli(["get", "pods"])).code).toBe(0);
    expect(signIns() - before).toBe(1);
    await cli(["remote", "remove", "production"]);
  });

  test("a server that is not stored is named by user and host; -r wins over variables, and local is this machine", async () => {
    const { cli } = laptop();
    const { url } = server;
    const address = `root@127.0.0.1:${sshd.port}`;
    const other = await cli(["version", "-r", address]);
    expect(other.err).toContain(`cannot reach ${address}: ssh works, but there is no socket /opt/berth/run/berth.sock`);
    expect(other.code).toBe(4);
    expect((await cli(["version", "-r", "local"], { BERTH_ADDR: "127.0.0.1:1" })).out).toContain(
      "not reached at http://127.0.0.1:1",
    );
    expect((await cli(["version", "--endpoint", url], { BERTH_REMOTE: "nowhere" })).out).toContain("9.9.9");
    const both = await cli(["get", "pods"], { BERTH_REMOTE: "a", BERTH_ENDPOINT: url });
    expect(both.code).toBe(2);
    expect(both.err).toContain(`both a remote (a) and an endpoint (${url}) are given`);
  });
});

describe("a connection that breaks in the middle", () => {
  const seen: [string, string | null][] = [];
  /** Answers of the second try; the first cuts the connection. */
  const cutting = (unix: string, answers: Record<string, () => Response>) =>
    Bun.serve({
      unix,
      fetch(request) {
        const { pathname } = new URL(request.url);
        const named = `${request.method} ${pathname}`;
        if (pathname === "/health") return Response.json({ status: "ok", version: "9.9.9" });
        if (answers[named] === undefined) return Response.json({ status: "ok", data: { events: [] } });
        seen.push([named, request.headers.get("idempotency-key")]);
        const again = seen.filter(([name]) => name === named).length > 1;
        if (!again) sshd.cut();
        return again ? answers[named]() : new Promise<Response>(() => undefined);
      },
    });
  const config = () => Response.json({ status: "ok", data: { changed: ["A"], restarting: [] } });

  test("a change is sent again with its key, and one without a key is not", async () => {
    const { cli, home } = laptop();
    const far = join(home, "s.sock");
    await using play = cutting(far, { "POST /config": config, "POST /plugins/x/enable": config });
    expect(play.url).toBeDefined();
    await cli(["remote", "add", "a", `root@127.0.0.1:${sshd.port}`, "--socket", far]);
    const set = await cli(["config", "set", "shop/web", "A=1"]);
    expect([set.err, set.code, seen.length]).toEqual([expect.any(String), 0, 2]);
    expect(seen[0]).toEqual(["POST /config", expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(seen[1]).toEqual(seen[0] as (typeof seen)[0]);
    const enabled = await cli(["plugins", "enable", "x"]);
    expect([enabled.code, seen.length]).toEqual([4, 3]);
    expect(enabled.err).toContain("broke before the server answered");
    expect(enabled.err).toContain("what you asked for may or may not be done");
    await cli(["remote", "rm", "a"]);
  });
});

describe("a way that does not work is explained", () => {
  const failing = async (args: string[], env: Record<string, string | undefined>) => {
    const { cli } = laptop();
    const { code, err } = await cli(["get", "pods", "-r", ...args], env);
    expect(code).toBe(4);
    return err;
  };
  const here = () => `root@127.0.0.1:${sshd.port}`;
  const config = (lines: string) => {
    const path = join(sshd.folder, `config-${laptops}`);
    writeFileSync(path, lines);
    return { BERTH_SSH_CONFIG: path };
  };

  test("an unknown host key", async () => {
    const err = await failing([here()], config("UserKnownHostsFile none\nGlobalKnownHostsFile none\n"));
    expect(err).toContain("this machine does not know its host key");
    expect(err).toContain(`ssh -p ${sshd.port} root@127.0.0.1`);
  });

  test("a changed host key", async () => {
    const file = join(sshd.folder, "other_hosts");
    const key = (await Bun.file(join(sshd.folder, "key.pub")).text()).trim();
    writeFileSync(file, `[127.0.0.1]:${sshd.port} ${key}\n`);
    const err = await failing([here()], config(`UserKnownHostsFile ${file}\nGlobalKnownHostsFile none\n`));
    expect(err).toContain("its host key is not the one that this machine knows");
    expect(err).toContain(`${file}:1`);
    expect(err).toContain(`ssh-keygen -R '[127.0.0.1]:${sshd.port}'`);
  });

  test("a key that the server does not take", async () => {
    const file = join(sshd.folder, "host");
    const hosts = config(`UserKnownHostsFile ${sshd.knownHosts}\nGlobalKnownHostsFile none\n`);
    const err = await failing([here()], { ...hosts, BERTH_SSH_IDENTITY: file });
    expect(err).toContain('its ssh server does not let "root" in');
    expect(err).toContain(`keys tried:         ${file}`);
    expect(err).toContain("the server takes:   publickey");
  });

  test("no ssh server, and no such host", async () => {
    const port = await freePort();
    expect(await failing([`root@127.0.0.1:${port}`], {})).toContain(`port ${port} of 127.0.0.1 refuses connections`);
    expect(await failing(["root@host.invalid"], {})).toContain('the name "host.invalid" cannot be resolved');
  });

  test("no ssh on this machine", async () => {
    expect(await failing([here()], { PATH: "/nonexistent" })).toContain("ssh is not installed on this machine");
  });

  test("a server that does not run, another one, and an sshd that does not forward", async () => {
    const { cli, add, home } = laptop();
    const far = join(home, "s.sock");
    await cli(["remote", "add", "b", here(), "--socket", far]);
    const gone = play(far);
    await gone.stop();
    rmSync(far, { force: true });
    expect((await cli(["get", "pods"])).err).toContain(`there is no socket ${far} of a berth server`);
    using other = Bun.serve({ unix: far, fetch: () => new Response("hello") });
    expect((await cli(["get", "pods"])).err).toContain(`what answers at ${far} there is not a berth server`);
    await other.stop(true);
    await add("c");
    await cli(["remote", "rm", "b"]);

    const strict = await startSshd(["AllowStreamLocalForwarding no"]);
    const closed = laptop(strict);
    await closed.add("c");
    expect((await closed.cli(["get", "pods"])).err).toContain("does sshd forward sockets?");
    await closed.cli(["remote", "rm", "c"]);
    await strict[Symbol.asyncDispose]();
  });

  test("a key that may only forward is enough; where no server answers, nothing more is known", async () => {
    const own = await startSshd();
    const key = (await Bun.file(join(own.folder, "key.pub")).text()).trim();
    const options = 'restrict,port-forwarding,command="/bin/false"';
    writeFileSync(join(own.folder, "authorized_keys"), `${options} ${key}\n`, { mode: 0o600 });
    const { cli, add } = laptop(own);
    await add("ci");
    expect(await cli(["get", "pods"])).toMatchObject({ code: 0, err: "" });
    await cli(["remote", "add", "ci", `root@127.0.0.1:${own.port}`, "--replace", "--socket", "/nonexistent/x.sock"]);
    const { code, err } = await cli(["get", "pods"]);
    expect([code, err]).toEqual([4, expect.stringContaining("ssh works, but no server answers through it")]);
    await own[Symbol.asyncDispose]();
  });

  test("a faulty file, with the place of the fault", async () => {
    const { cli, home } = laptop();
    const file = join(home, "remotes.json");
    writeFileSync(file, '{"remotes":{"a":{"host":"h","prot":1}}}');
    const { err, code } = await cli(["get", "pods"]);
    expect(err).toContain(`${file}: remotes.a.prot: is not a known field; there are host, user, port`);
    expect(code).toBe(1);
  });
});
