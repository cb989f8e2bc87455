import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deadProxies } from "../support/dead-proxies.ts";
import { deployment } from "../support/manifests.ts";
import { helloPlugin, writeTree } from "../support/plugin-yard.ts";
import { onTerminal } from "../support/pty.ts";
import { freePort } from "../support/ports.ts";
import { type ReleaseServer, releaseServer, sha256 } from "../support/release-server.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

let host: ReleaseServer;
let berth: Rig;
let folder: string;
let addr: string;
let http: string;

beforeAll(async () => {
  host = releaseServer();
  addr = `127.0.0.1:${await freePort()}`;
  http = `127.0.0.1:${await freePort()}`;
  const flags = ["--plugin-releases", host.url, "--ingress-http-addr", http, "--ingress-https-addr", ""];
  // All of this file: nothing of it is outside of this machine.
  berth = await rig({ flags, addr, env: deadProxies });
  folder = mkdtempSync(join(tmpdir(), "berth-e2e-plugins-"));
});
afterAll(async () => {
  await berth.close();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A process that ended and that nobody has asked about has no command line. */
function isAlive(pid: number): boolean {
  const path = `/proc/${pid}/cmdline`;
  return existsSync(path) && readFileSync(path, "utf8") !== "";
}

const cli = (line: string, cwd = folder) => berth.cli(line.split(" "), { cwd });

/** Ends with 0, or fails with what was said. */
async function done(line: string, cwd?: string): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(line, cwd);
  if (exitCode !== 0) throw new Error(`berth ${line} ended with ${exitCode}:\n${stdout}${stderr}`);
  return stdout;
}

describe("an author", () => {
  test("begins with a plugin that works, links it, and applies a block of it", async () => {
    await done("plugins init greet --lang bash");
    expect(await done("plugins lint greet")).toBe("errors: 0, warnings: 0\n");
    expect(await done("plugins test greet")).toContain("2 passed, 0 failed");
    expect(await done("plugins install ./greet --link -y")).toBe("linked greet 0.1.0\n");
    const said = await cli("greet:hello ana");
    expect(said).toEqual({ exitCode: 0, stdout: "hello ana\n", stderr: "thinking of somebody\n" });
    expect(await done("explain greet")).toMatch(/^ {2}image +text +required/m);
    const block = { kind: "greet", scope: "shop", name: "web", spec: { image: "berth-fixture:1", replicas: 0 } };
    writeFileSync(join(folder, "block.yml"), JSON.stringify(block));
    const wrong = await cli("apply -y -f block.yml");
    expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining("must be at least 1, got 0")]);
    const answer = await berth.call("POST", "/apply", { ...block, spec: { ...block.spec, replicas: 1 } });
    expect(answer.body.data).toMatchObject({
      plugin_expansions: [{ from: "greet/shop/web", to: ["deployment/shop/web"] }],
    });
    expect(await done("plugins remove greet -y")).toBe("removed greet\n");
    expect(existsSync(join(folder, "greet/plugin.yml"))).toBe(true);
  });
});

test("an owner edits a program, looks at the change and accepts it; config reaches the program", async () => {
  await done("plugins init edited --lang bash");
  await done("plugins install ./edited -y");
  const program = join(berth.root, "plugins/edited/bin/hello");
  // As an editor writes: a new file of root's, which nobody else may read.
  rmSync(program);
  writeFileSync(program, '#!/bin/sh\ncat >/dev/null\necho "mine has $GREETING"\n', { mode: 0o600 });
  const refused = await cli("edited:hello");
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("berth plugins accept edited")]);
  const unasked = await cli("plugins accept edited");
  expect([unasked.exitCode, unasked.stderr]).toEqual([5, expect.stringContaining("changed bin/hello")]);
  expect(await done("plugins accept edited -y")).toBe("accepted the changes of edited 0.1.0\n");
  expect(await done("plugins config edited GREETING=welcome")).toContain("changed GREETING for edited");
  expect(await done("plugins config edited")).toMatch(/^GREETING +\*{8}$/m);
  expect(await done("edited:hello")).toBe("mine has welcome\n");
  expect(await done("plugins info edited")).toMatch(/changed +accepted at .*: bin\/hello/);
  expect(await done("plugins accept edited")).toBe("nothing was changed in edited\n");
  await done("plugins remove edited -y");
});

test("a plugin in TypeScript needs nothing on the server", async () => {
  await done("plugins init typed --lang ts");
  expect(await done("plugins test typed")).toContain("2 passed, 0 failed");
  expect(await done("plugins install ./typed -y")).toBe("installed typed 0.1.0\n");
  expect(await done("typed:hello ana")).toBe("hello ana\n");
  expect(await done("plugins info typed")).toContain("a user of its own");
  await done("plugins remove typed -y");
});

describe("an operator", () => {
  const slow = () => join(berth.root, "slow");
  const napping = () => join(berth.root, "napping");
  /** Leaves its process id, and sleeps for as long as the file says so. */
  const install = () => `#!/bin/sh\n[ ! -e "${slow()}" ] || { echo $$ > "${napping()}"; exec sleep 600; }\n`;
  const release = (version: string) => ({
    files: helloPlugin(version, { files: { install: install() } }),
    assets: {
      hello_linux_amd64: `#!/bin/sh\necho tool ${version}\n`,
      hello_linux_arm64: `#!/bin/sh\necho tool ${version}\n`,
      "checksums.txt": ["amd64", "arm64"]
        .map((arch) => `${sha256(`#!/bin/sh\necho tool ${version}\n`)}  hello_linux_${arch}\n`)
        .join(""),
    },
  });

  beforeEach(async () => {
    for (const file of [slow(), napping()]) rmSync(file, { force: true });
    await cli("plugins remove hello -y");
    host.releases["ana/hello"] = { v1: release("1") };
  });

  test("installs a release, updates it, goes back, looks and removes", async () => {
    const { stdout, stderr } = await cli("plugins install ana/hello -y");
    expect(stdout).toBe("installed hello 1\n");
    expect(stderr).toContain("it may do everything");
    expect(await done("plugins")).toMatch(/^hello +1 +hi +installed +ana\/hello/m);
    expect(await done("hi:hello you")).toBe("tool 1\n");
    host.releases["ana/hello"] = { v1: release("1"), v2: release("2") };
    expect(await done("plugins update")).toBe("updated from 1 to hello 2\n");
    expect(await done("plugins update hello")).toBe("already the newest: hello 2\n");
    expect(await done("plugins rollback hello")).toBe("rolled back to hello 1\n");
    expect(await done("plugins info hi")).toContain("rolls back to  2");
    expect(await done("hi -h")).toContain("hi:hello  says hello");
    expect(await done("help hi:hello")).toContain("says hello");
    expect(await done("plugins runs hello --limit 1")).toMatch(/hello you +succeeded/);
    expect(await done("plugins disable hello")).toBe("disabled hello 1\n");
    expect((await cli("hi:hello")).stderr).toBe('error: plugin "hello" is disabled; enable it first\n');
    expect((await cli("plugins remove hello")).exitCode).toBe(5);
    expect(await done("plugins remove hello -y")).toBe("removed hello\n");
    const again = await cli("plugins remove hello -y");
    expect([again.exitCode, again.stderr]).toEqual([1, 'error: no plugin "hello"; see: berth plugins\n']);
    expect((await cli("hi:hello")).stderr).toContain('unknown command "hi"');
  });

  test("on a terminal is shown and asked about first; Ctrl-C takes it back", async () => {
    const install = () =>
      onTerminal(["plugins", "install", "ana/hello"], { BERTH_ENDPOINT: berth.endpoint, NO_COLOR: "1" });
    const refused = install();
    await refused.until("Install it? [y/N]");
    expect(refused.shown()).toContain("runs as   the user of the server, root mostly");
    refused.type("n\r");
    expect(await refused.exited).toBe(5);

    writeFileSync(slow(), "");
    const broken = install();
    await broken.until("Install it? [y/N]");
    expect(existsSync(napping())).toBe(false);
    broken.type("y\r");
    const pid = await waitFor("the hook to run", async () => Number(readFileSync(napping(), "utf8")) || false);
    broken.kill("SIGINT");
    expect(await broken.exited).toBe(130);
    await waitFor("the hook to end", () => !isAlive(pid));
    expect((await cli("plugins info hello")).exitCode).toBe(1);

    rmSync(slow());
    const taken = install();
    await taken.until("Install it? [y/N]");
    taken.type("y\r");
    expect(await taken.exited).toBe(0);
    await taken.until("installed hello 1");
    expect(await done("hi:hello you")).toBe("tool 1\n");
  });

  test("a server that is killed in an update has the old version when it is back", async () => {
    await done("plugins install ana/hello -y");
    host.releases["ana/hello"] = { v2: release("2") };
    writeFileSync(slow(), "");
    const updating = cli("plugins update hello");
    const pid = await waitFor("the hook to run", async () => Number(readFileSync(napping(), "utf8")) || false);
    await berth.stop("SIGKILL");
    expect((await updating).exitCode).not.toBe(0);
    expect(isAlive(pid)).toBe(true);
    await berth.start();
    expect(isAlive(pid)).toBe(false);
    expect(await done("hello:hello")).toBe("tool 1\n");
    rmSync(slow());
    expect(await done("plugins update hello")).toBe("updated from 1 to hello 2\n");
  });
});

describe("what belongs on the operator's terminal", () => {
  const answers = (actions: unknown) =>
    `#!/bin/sh\ncat >/dev/null\necho '${JSON.stringify({ status: "ok", data: { actions } })}'\n`;

  test("docker exec runs where the server is, with its exit code; through the server elsewhere", async () => {
    await berth.apply(deployment("shop", "box"));
    await berth.ready("deployment", "shop", "box");
    const pod = (await berth.pods("shop", "box"))[0]?.name ?? "";
    const command = ["docker", "exec", pod, "sh", "-c", "echo inside; exit 7"];
    writeTree(join(berth.root, "plugins/local"), {
      "plugin.yml": "name: local\n",
      "bin/shell": answers([{ type: "exec_local", command }]),
      "bin/touch": answers([{ type: "exec_local", command: ["touch", join(folder, "touched")] }]),
    });
    const { exitCode, stdout, stderr } = await cli("local:shell");
    expect([exitCode, stdout]).toEqual([7, "inside\n"]);
    expect(stderr).toBe(`$ docker exec ${pod} sh -c 'echo inside; exit 7'\n`);
    const path = "/nowhere";
    const without = await berth.cli(["local:shell"], { env: { PATH: path } });
    expect([without.exitCode, without.stdout]).toEqual([7, "inside\n"]);
    expect(without.stderr).toContain(`$ berth exec ${pod} -- sh -c`);
    expect((await cli("local:touch")).exitCode).toBe(5);
    expect(existsSync(join(folder, "touched"))).toBe(false);
    await done("--yes local:touch");
    expect(existsSync(join(folder, "touched"))).toBe(true);
  });

  test("a file is copied and never written over", async () => {
    const remote = join(berth.root, "backup.dump");
    writeFileSync(remote, "x".repeat(3_000_000));
    writeTree(join(berth.root, "plugins/files"), {
      "plugin.yml": "name: files\n",
      "bin/get": answers([{ type: "fetch_file", remote_path: remote, dest_path: "mine.dump", size_bytes: 3_000_000 }]),
    });
    mkdirSync(join(folder, "copies"));
    await done("files:get", join(folder, "copies"));
    expect(readFileSync(join(folder, "copies/mine.dump")).byteLength).toBe(3_000_000);
    const again = await cli("files:get", join(folder, "copies"));
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("is there already")]);
  });
});

test("a proxy of the environment is in the way of nothing on this machine", async () => {
  const command = ["sh", "-c", "mkdir -p /www && echo page >/www/index.html && exec httpd -f -p 8080 -h /www"];
  const probes = { readiness: { http_get: { path: "/", port: 8080 }, period: "1s" } };
  await berth.apply(deployment("shop", "page", { command, ports: ["8080"], probes, stop_grace: "1s" }), {
    kind: "ingress",
    scope: "shop",
    name: "page",
    spec: { host: "page.test" },
  });
  await berth.ready("deployment", "shop", "page");
  await waitFor("the page behind the ingress", async () => {
    const answer = await fetch(`http://${http}/`, { headers: { Host: "page.test" } });
    return (await answer.text()) === "page\n";
  });
  const overTcp = (...words: string[]) => berth.cli(["--endpoint", `http://${addr}`, ...words]);
  expect((await overTcp("describe", "deployment", "shop/page")).stdout).toContain("shop-page.");
  expect((await overTcp("exec", "shop/page", "--", "echo", "inside")).stdout).toBe("inside\n");
  const doctor = await berth.cli(["doctor", "--root", berth.root, "--docker-host", berth.dockerHost, "--addr", addr]);
  expect(doctor.stdout).toMatch(/\nok +server +version /);
  writeTree(join(berth.root, "plugins/seen"), {
    "plugin.yml": "name: seen\n",
    "bin/env": "#!/bin/sh\necho $no_proxy\n",
  });
  const subnet = berth.docker(["network", "inspect", `${berth.prefix}0`, "-f", "{{(index .IPAM.Config 0).Subnet}}"]);
  expect(await done("seen:env")).toBe(`localhost,127.0.0.1,::1,127.0.0.0/8,${subnet.trim()}\n`);
});
