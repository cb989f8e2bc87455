import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { berth as run } from "../support/executable.ts";
import { onTerminal } from "../support/pty.ts";
import { type Rig, rig } from "../support/rig.ts";
import { type Sshd, startSshd } from "../support/sshd.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

let berth: Rig;
let sshd: Sshd;
let laptop: string;
let env: Record<string, string>;

beforeAll(async () => {
  [berth, sshd] = await Promise.all([rig(), startSshd()]);
  laptop = join(sshd.folder, "laptop");
  mkdirSync(laptop);
  env = {
    BERTH_REMOTES: join(laptop, "remotes.json"),
    BERTH_TUNNELS: join(laptop, "t"),
    BERTH_SSH_CONFIG: sshd.clientConfig,
    USER: "ana",
    HOSTNAME: "laptop",
  };
  await done("remote", "add", "far", `root@127.0.0.1:${sshd.port}`, "--socket", join(berth.root, "run/berth.sock"));
}, 60_000);
afterAll(async () => {
  const images = berth.docker(["image", "ls", "-q", "--filter", `label=${berth.prefix}.build`]).split("\n");
  await cli("remote", "remove", "far");
  await berth.close();
  await sshd[Symbol.asyncDispose]();
  for (const image of new Set(images)) if (image !== "") berth.docker(["image", "rm", "-f", image]);
});

/** Container of the only replica. */
const podOf = (app: string) => {
  const names = berth.docker(["ps", "--format", "{{.Names}}", "--filter", `label=${berth.prefix}.kind`]).split("\n");
  return names.find((name) => name.startsWith(`${app}.`)) ?? "";
};

const cli = (...args: string[]) => run(args, { env, cwd: laptop });
async function done(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(...args);
  expect([stderr, exitCode]).toEqual([stderr, 0]);
  return stdout;
}

test("source on a laptop becomes an app on the server: upload, build and rollout go through the tunnel", async () => {
  writeFileSync(
    join(laptop, "berth.yaml"),
    "kind: deployment\nscope: shop\nname: web\nspec:\n  build: {}\n  stop_grace: 1s\n",
  );
  writeFileSync(
    join(laptop, "Dockerfile"),
    'FROM berth-fixture:1\nCOPY page.bin /www/page.bin\nCMD ["sh", "-c", "echo up; exec httpd -f -h /www"]\n',
  );
  writeFileSync(join(laptop, "page.bin"), randomBytes(1_500_000));
  expect(await done("up", "-y")).toContain("deployment/shop/web");
  expect(await done("get")).toContain("web");
  expect(await done("status")).toContain(`far (root@127.0.0.1:${sshd.port})`);
  expect(await done("exec", "shop/web", "--", "sh", "-c", "wc -c </www/page.bin")).toBe("1500000\n");
  expect(await done("events", "shop/web")).toContain("ana@laptop");
});

test("output is followed as it comes", async () => {
  const it = onTerminal(["logs", "shop/web", "-f"], env);
  await it.until("up");
  it.kill("SIGINT");
  expect(await it.exited).toBe(130);
});

test("the size of the terminal is there without a key or a change", async () => {
  const script = 'until [ "$(stty size)" = "30 100" ]; do :; done; exit 4';
  expect(await onTerminal(["exec", "shop/web", "-it", "--", "sh", "-c", script], env).exited).toBe(4);
});

test("a shell on the terminal, with its size and its exit code", async () => {
  const it = onTerminal(["exec", "shop/web", "-it", "--", "sh"], env);
  await it.until("# ");
  it.resize(80, 20);
  // What is typed can be there before the size is: they go to the engine by two ways.
  await waitFor("the new size", () => {
    it.type("stty size\r");
    return it.shown().includes("\r\n20 80\r\n");
  });
  it.type("exit 5\r");
  expect(await it.exited).toBe(5);
});

test("a file that a plugin hands over arrives whole", async () => {
  const dump = join(berth.root, "backup.dump");
  writeFileSync(dump, "x".repeat(3_000_000));
  const folder = join(berth.root, "plugins/files/bin");
  mkdirSync(folder, { recursive: true });
  const wish = { type: "fetch_file", remote_path: dump, dest_path: "mine.dump", size_bytes: 3_000_000 };
  const answer = JSON.stringify({ status: "ok", data: { actions: [wish] } });
  writeFileSync(join(folder, "../plugin.yml"), "name: files\n");
  writeFileSync(join(folder, "get"), `#!/bin/sh\ncat >/dev/null\necho '${answer}'\n`, { mode: 0o755 });
  await done("files:get");
  expect(readFileSync(join(laptop, "mine.dump")).byteLength).toBe(3_000_000);
});

test("a connection that breaks while a folder is uploaded or a rollout is followed: the command goes on", async () => {
  writeFileSync(join(laptop, "page.bin"), randomBytes(3_000_000));
  const it = onTerminal(["up", "-y"], env, laptop);
  await it.until("uploading");
  sshd.cut();
  expect([await it.exited, it.shown()]).toEqual([0, expect.not.stringContaining("error")]);
  expect(await done("exec", "shop/web", "--", "sh", "-c", "wc -c </www/page.bin")).toBe("3000000\n");
});

test("a connection that breaks while output is followed: it goes on; a terminal ends, and its program too", async () => {
  const logs = onTerminal(["logs", "shop/web", "-f"], env);
  await logs.until("up");
  const shell = onTerminal(["exec", "shop/web", "-it", "--", "sh", "-c", "echo begun; exec sleep 54321"], env);
  await shell.until("begun");
  const running = () => berth.docker(["top", podOf("shop-web")]).includes("sleep 54321");
  await waitFor("sleep to run", running);
  sshd.cut();
  expect(await shell.exited).toBe(1);
  await shell.until("the session broke off before the command had ended");
  await waitFor("sleep to end", () => !running());
  await done("exec", "shop/web", "--", "sh", "-c", "echo after the cut >/proc/1/fd/1");
  await logs.until("after the cut");
  logs.kill("SIGINT");
  expect(await logs.exited).toBe(130);
});

test("a server that is down is told from a machine that is down", async () => {
  await cli("remote", "add", "other", `root@127.0.0.1:${sshd.port}`, "--socket", join(berth.root, "run/x.sock"));
  const { exitCode, stderr } = await cli("apply", "-f", "berth.yaml", "-y", "-r", "other");
  expect(exitCode).toBe(4);
  expect(stderr).toContain("there is no socket");
  await berth.server.stop();
  const down = await cli("get");
  expect(down.stderr).toContain("does it run?");
  await berth.start();
  expect((await cli("get")).exitCode).toBe(0);
  await cli("remote", "remove", "other");
});
