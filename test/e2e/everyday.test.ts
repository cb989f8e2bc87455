import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable, berth as run } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { connectRaw } from "../support/raw-client.ts";
import { type Rig, rig } from "../support/rig.ts";
import { startSshd } from "../support/sshd.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

let berth: Rig;
let folder: string;
beforeAll(async () => {
  berth = await rig();
  folder = mkdtempSync(join(tmpdir(), "berth-everyday."));
  const command = ["sh", "-c", "mkdir -p /www && echo page >/www/index.html && exec httpd -f -p 8080 -h /www"];
  await berth.apply(deployment("shop", "web", { command, stop_grace: "1s" }));
  await berth.ready("deployment", "shop", "web");
});
afterAll(async () => {
  await berth.close();
  rmSync(folder, { recursive: true, force: true });
});

const cli = (...args: string[]) => berth.cli(args, { cwd: folder });

test("env: a pulled file is private, and what is changed in it is pushed", async () => {
  await cli("config", "set", "shop/web", "KEY=one two", "--no-restart");
  expect((await cli("env", "pull", "shop/web")).stdout).toBe("wrote 1 variable to .env\n");
  const path = join(folder, ".env");
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual([
    "# config of shop/web\nKEY='one two'\n",
    0o600,
  ]);
  const added = await berth.cli(["env", "import", "shop/web", "-", "--no-restart"], { stdin: 'PEM="a\nb$c"\n' });
  expect([added.stderr, added.exitCode]).toEqual(["+ PEM\n", 0]);
  expect((await cli("config", "get", "shop/web", "PEM")).stdout).toBe("a\nb$c\n");
  expect((await cli("env", "push", "shop/web", "-y", "--no-restart")).stderr).toBe("- PEM\n");
  expect((await cli("config", "get", "shop/web")).stdout).toBe("KEY=one two\n");
});

test("env: KEY= is the empty string in config set, in .env files and in an env_file, and unset takes it away", async () => {
  const command = ["httpd", "-f"];
  const file = join(folder, "empty.json");
  const spec = { image: "berth-fixture:1", command, stop_grace: "1s", env_file: ["app.env"], env: { IN_MANIFEST: "" } };
  writeFileSync(file, JSON.stringify({ kind: "deployment", scope: "shop", name: "empty", spec }));
  writeFileSync(join(folder, "app.env"), "IN_FILE=\n");
  await cli("config", "set", "shop", "SET=scope", "IMPORTED=scope", "--no-restart");
  expect((await cli("config", "set", "shop/empty", "SET=", "GONE=1", "--no-restart")).exitCode).toBe(0);
  await berth.cli(["env", "import", "shop/empty", "-", "-y", "--no-restart"], { stdin: "IMPORTED=\nGONE=1\n" });
  expect((await cli("config", "set", "shop/empty", "GONE=", "--unset-empty", "--no-restart")).exitCode).toBe(0);
  expect((await cli("config", "list", "shop/empty")).stdout).toMatch(
    /IMPORTED +empty +shop\/empty\nSET +empty +shop\/empty\n/,
  );
  expect((await cli("env", "pull", "shop/empty", "-")).stdout).toBe("# config of shop/empty\nIMPORTED=\nSET=\n");
  expect((await cli("apply", "-f", "empty.json", "-y")).exitCode).toBe(0);
  await berth.ready("deployment", "shop", "empty");
  const names = ["SET", "IMPORTED", "IN_FILE", "IN_MANIFEST", "GONE"];
  const script = names.map((name) => `echo "${name}=\${${name}-unset}"`).join(";");
  const shown = await cli("exec", "shop/empty", "--", "sh", "-c", script);
  expect(shown.stdout).toBe("SET=\nIMPORTED=\nIN_FILE=\nIN_MANIFEST=\nGONE=unset\n");
  await cli("config", "unset", "shop/empty", "SET", "--no-restart");
  expect((await cli("config", "get", "shop/empty", "SET")).stdout).toBe("scope\n");
});

test("cp: a folder goes to a pod and comes back, with its permissions, for the user of the container", async () => {
  const source = join(folder, "app");
  mkdirSync(join(source, "deep"), { recursive: true });
  writeFileSync(join(source, "run.sh"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
  writeFileSync(join(source, "deep/large.bin"), Buffer.alloc(3_000_000, 7));
  symlinkSync("../run.sh", join(source, "deep/link"));
  symlinkSync("/etc/passwd", join(source, "out"));
  const sent = await cli("cp", "app", "shop/web:/tmp/");
  expect([sent.stderr, sent.exitCode]).toEqual(["", 0]);
  expect(sent.stdout).toMatch(/^copied 4 files \(2\.9Mi?B?\) to shop-web\.\w+:\/tmp\/app\n$/);
  const ran = await cli(
    "exec",
    "shop/web",
    "--",
    "sh",
    "-c",
    "/tmp/app/deep/link && stat -c %u /tmp/app && ls -l /tmp/app",
  );
  expect(ran.stdout).toStartWith("ran\n0\n");
  const back = await cli("cp", "shop/web:/tmp/app", "back");
  expect(back.stdout).toContain(`to ${join(folder, "back")}\n`);
  expect(back.stderr).toContain('! left out: app/out is a link that leads to "/etc/passwd"');
  expect(statSync(join(folder, "back/run.sh")).mode & 0o777).toBe(0o755);
  expect(readFileSync(join(folder, "back/deep/large.bin")).equals(Buffer.alloc(3_000_000, 7))).toBe(true);
  expect(readFileSync(join(folder, "back/deep/link"), "utf8")).toContain("echo ran");
  expect((await cli("cp", "app", "shop/web:/none/x/")).stderr).toContain('"/none/x" does not exist in shop-web.');
  expect((await cli("cp", "app", "shop/web:/none/x")).stderr).toContain('"/none" does not exist in shop-web.');
  const file = await cli("cp", "app/run.sh", "shop/web:/tmp/other.sh");
  expect([file.stderr, file.exitCode]).toEqual(["", 0]);
  expect((await cli("exec", "shop/web", "--", "/tmp/other.sh")).stdout).toBe("ran\n");
  const piped = await berth.cli(["cp", "-", "shop/web:/tmp/piped"], { stdin: "from a pipe\n" });
  expect([piped.stderr, piped.exitCode]).toEqual(["", 0]);
  expect((await cli("exec", "shop/web", "--", "cat", "/tmp/piped")).stdout).toBe("from a pipe\n");
});

test("shell: a container of its own, with the environment of the app, without its program", async () => {
  const script = "echo $KEY; test -e /tmp/app || echo of its own; exit 5";
  const ran = await berth.cli(["shell", "shop/web", "-e", "MINE=1"], { stdin: script });
  expect(ran).toEqual({ stdout: "one two\nof its own\n", stderr: "", exitCode: 5 });
  expect((await cli("shell", "shop/web", "ls")).stderr).toContain("write: berth run shop/web -- ls");
});

test("completion: bash offers what the server has", async () => {
  const script = `source <("$0" completion bash)
    COMP_WORDS=("$0" exec sho) COMP_CWORD=2; _berth; echo "\${COMPREPLY[*]}"
    COMP_WORDS=("$0" config "") COMP_CWORD=2; _berth; echo "\${COMPREPLY[*]}"
    COMP_WORDS=("$0" apply -f "") COMP_CWORD=3; _berth; echo "\${#COMPREPLY[@]}"`;
  const run = Bun.spawn(["bash", "-c", script, executable], {
    env: { ...process.env, BERTH_ENDPOINT: berth.endpoint },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  expect([out, err]).toEqual(["shop/empty shop/web\nget list set unset\n0\n", ""]);
});

test("domains: an app gets one and another, and loses it again; open prints them", async () => {
  const added = await cli("domains", "add", "shop/web", "web.localhost");
  expect([added.stdout.split("\n")[0], added.exitCode]).toEqual(["added web.localhost to ingress/shop/web", 0]);
  expect((await cli("domains", "add", "shop/web", "two.localhost")).exitCode).toBe(0);
  expect((await cli("open", "shop/web")).stdout).toBe("https://web.localhost\nhttps://two.localhost\n");
  expect((await cli("domains", "list", "shop/web", "--address", "192.0.2.1")).stdout).toMatch(
    /shop\/web +two\.localhost +/,
  );
  expect((await cli("domains", "remove", "shop/web", "web.localhost", "-y")).exitCode).toBe(0);
  expect((await cli("open", "shop/web", "--print")).stdout).toBe("https://two.localhost\n");
  expect((await cli("domains", "remove", "shop/web", "two.localhost", "-y")).stderr).toContain("is the only domain");
});

test("port-forward: a port of this machine leads to the pod, and ends with it", async () => {
  const child = Bun.spawn([executable, "port-forward", "web", ":8080", ":1", "--endpoint", berth.endpoint], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const reader = child.stdout.getReader();
  let said = "";
  while (said.split("\n").length < 3) said += Buffer.from((await reader.read()).value ?? []).toString();
  const [pod] = await berth.pods("shop", "web");
  const [, port, , closed] = /^127\.0\.0\.1:(\d+) → (\S+):8080\n127\.0\.0\.1:(\d+) → /.exec(said) ?? [];
  expect(said).toContain(` → ${pod?.name}:8080\n`);
  const pages = Array.from({ length: 20 }, async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
  expect(new Set(await Promise.all(pages))).toEqual(new Set(["page\n"]));
  expect(await fetch(`http://127.0.0.1:${closed}/`).then(String, () => "broken off")).toBe("broken off");
  berth.docker(["rm", "-f", pod?.name ?? ""]);
  expect(await child.exited).toBe(1);
  const told = await new Response(child.stderr).text();
  expect(told).toContain(`! nothing listens on port 1 of ${pod?.name}`);
  expect(told).toMatch(
    new RegExp(`error: ${pod?.name} (?:is gone|has ended \\(\\w+\\)): nothing is forwarded any more\n$`),
  );
  await waitFor("a successor", async () => (await berth.pods("shop", "web")).some(({ running }) => running));
});

test("cp and port-forward go through a tunnel, and each side of a connection still ends by itself", async () => {
  await using sshd = await startSshd();
  const env = {
    BERTH_REMOTES: join(sshd.folder, "remotes.json"),
    BERTH_TUNNELS: join(sshd.folder, "t"),
    BERTH_SSH_CONFIG: sshd.clientConfig,
  };
  const far = (...args: string[]) => run(args, { env, cwd: folder });
  expect(
    await far("remote", "add", "far", `root@127.0.0.1:${sshd.port}`, "--socket", `${berth.root}/run/berth.sock`),
  ).toMatchObject({ exitCode: 0 });
  writeFileSync(join(folder, "tunnel.bin"), Buffer.alloc(2_000_000, 9));
  expect(await far("cp", "tunnel.bin", "shop/web:/tmp/")).toMatchObject({ exitCode: 0 });
  expect(await far("cp", "shop/web:/tmp/tunnel.bin", "tunnel.back")).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(folder, "tunnel.back")).equals(Buffer.alloc(2_000_000, 9))).toBe(true);
  // It answers only once the client has finished sending.
  const listens = "until grep -q ':0009 .* 0A ' /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done";
  await cli("exec", "shop/web", "--", "sh", "-c", `(nc -l -p 9 -e wc -c >/dev/null 2>&1 &); ${listens}`);
  const child = Bun.spawn([executable, "port-forward", "shop/web", ":9"], {
    env: { ...process.env, ...env },
    stdout: "pipe",
  });
  const said = Buffer.from((await child.stdout.getReader().read()).value ?? []).toString();
  const client = await connectRaw({ hostname: "127.0.0.1", port: Number(/:(\d+) →/.exec(said)?.[1]) });
  await client.send("x".repeat(500_000));
  client.finish();
  expect((await client.all()).trim()).toBe("500000");
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  await far("remote", "remove", "far");
});
