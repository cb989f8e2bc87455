import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";

const installer = join(import.meta.dir, "../../install.sh");
const work = mkdtempSync(join(tmpdir(), "berth-install."));
afterAll(() => rmSync(work, { recursive: true, force: true }));

async function run(command: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn(command, {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...env },
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

const install = (args: string[], env: Record<string, string> = {}) => run([installer, ...args], env);

describe("the command line", () => {
  test("an unknown argument is refused with the usage", async () => {
    const { exitCode, stderr } = await install(["--dmeo"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('unknown argument "--dmeo"');
    expect(stderr).toContain("usage: install.sh");
  });

  test("a flag without its value is refused", async () => {
    expect(await install(["--demo", "--root"])).toMatchObject({ exitCode: 1, stderr: "error: --root needs a value\n" });
  });

  test("--down alone removes nothing", async () => {
    expect(await install(["--down"])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--demo") });
  });

  test.skipIf(existsSync("/run/systemd/system"))("a server needs systemd, and the way out is said", async () => {
    const { exitCode, stderr } = await install(["--root", join(work, "server")]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("no systemd");
    expect(stderr).toContain("--demo");
    expect(existsSync(join(work, "server"))).toBe(false);
  });
});

/** A small program in the place of the executable. */
const program = "#!/bin/sh\necho 9.9.9\n";
const sum = createHash("sha256").update(program).digest("hex");

describe("a release", () => {
  let told = sum;
  const asked: string[] = [];
  const release = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (!/^\/v1\/berth-linux-(?:x64|x64-baseline|arm64)(?:\.sha256)?$/.test(pathname)) {
        return new Response("no such file", { status: 404 });
      }
      return new Response(pathname.endsWith(".sha256") ? `${told}  berth\n` : program);
    },
  });
  const url = `http://127.0.0.1:${release.port}`;
  afterAll(() => release.stop(true));

  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(work, "release."));
    told = sum;
  });

  test("is fetched for this machine, checked and made executable", async () => {
    const { exitCode, stdout } = await install(["--fetch", join(dir, "berth"), "--release-url", `${url}/v1`]);
    expect(stdout).toContain("got 9.9.9");
    expect(exitCode).toBe(0);
    expect(readFileSync(join(dir, "berth"), "utf8")).toBe(program);
    expect(statSync(join(dir, "berth")).mode & 0o777).toBe(0o755);
    expect(readdirSync(dir)).toEqual(["berth"]);
  });

  test("with another sum is refused, and what was there stays", async () => {
    told = "0".repeat(64);
    writeFileSync(join(dir, "berth"), "old");
    const { exitCode, stderr } = await install(["--fetch", join(dir, "berth")], { BERTH_RELEASE_URL: `${url}/v1` });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("does not match its sha256");
    expect(readFileSync(join(dir, "berth"), "utf8")).toBe("old");
    expect(readdirSync(dir)).toEqual(["berth"]);
  });

  test("that is not there is named", async () => {
    const { exitCode, stderr } = await install(["--fetch", join(dir, "berth"), "--release-url", `${url}/v2`]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`cannot fetch ${url}/v2/berth-linux-`);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("through a pipe and without a release address, nothing is fetched, and the error says what to do", async () => {
    asked.length = 0;
    const piped = ["sh", "-c", `sh -s -- --fetch "$1" <"$2"`, "sh", join(dir, "berth"), installer];
    const { exitCode, stderr } = await run(piped, { BERTH_RELEASE_URL: "" });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("no release address, and no checkout to build");
    expect(stderr).toContain("--release-url");
    expect(asked).toEqual([]);
  });

  test("outside of a checkout and without a release address, the installer is an error that says what to do", async () => {
    const alone = join(dir, "install.sh");
    copyFileSync(installer, alone);
    const { exitCode, stderr, stdout } = await run(["sh", alone, "--root", join(dir, "root")], {
      BERTH_RELEASE_URL: "",
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("nothing was installed");
    expect(stderr).toContain("--release-url");
    expect(readdirSync(dir)).toEqual(["install.sh"]);
  });

  test("a script that is cut off runs nothing and is an error", async () => {
    const whole = readFileSync(installer, "utf8");
    const half = join(dir, "half.sh");
    writeFileSync(half, whole.slice(0, whole.lastIndexOf("main ")));
    const { exitCode, stdout, stderr } = await run(["sh", half, "--bogus"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("incomplete");
  });
});

describe("a checkout", () => {
  test("shows the output of npm when npm fails", async () => {
    const dir = mkdtempSync(join(work, "checkout."));
    const root = join(import.meta.dir, "../..");
    for (const part of ["install.sh", "build.ts", "package.json", "setup"]) {
      cpSync(join(root, part), join(dir, part), { recursive: true });
    }
    const programs = join(dir, "programs");
    mkdirSync(programs);
    const fault = "npm error code ENOTFOUND\nnpm error request to the registry failed";
    writeFileSync(join(programs, "npm"), `#!/bin/sh\nprintf '${fault.replace("\n", "\\n")}\\n' >&2\nexit 7\n`, {
      mode: 0o755,
    });
    const { exitCode, stderr } = await run([join(dir, "install.sh"), "--fetch", join(dir, "berth")], {
      PATH: `${programs}:/usr/bin:/bin`,
      BERTH_RELEASE_URL: "",
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(fault);
    expect(stderr).toContain("npm could not fetch bun@");
    expect(readdirSync(join(dir, ".cache"))).toEqual([]);
  });
});

describe("HAProxy", () => {
  /** need_proxy of the installer, with programs that write down how they are called in the place of the real ones. */
  async function needProxy(programs: Record<string, string>, isThere: boolean) {
    const dir = mkdtempSync(join(work, "proxy."));
    const calls = join(dir, "calls");
    writeFileSync(calls, "");
    for (const [name, code] of Object.entries(programs)) {
      writeFileSync(join(dir, name), `#!/bin/sh\necho "${name} $*" >>${calls}\n${code}\n`, { mode: 0o755 });
    }
    writeFileSync(join(dir, "functions"), readFileSync(installer, "utf8").replace('main "$@"\n', "trap - EXIT\n"));
    const hide = 'for f in /usr/sbin/haproxy /usr/bin/apt-get; do [ ! -e "$f" ] || mount --bind /dev/null "$f"; done';
    const script = `set -e; ${isThere ? "" : `${hide}; `}. ${dir}/functions; need_proxy`;
    const finished = await run(["unshare", "-m", "sh", "-c", script], { PATH: `${dir}:/usr/bin:/bin` });
    return { ...finished, calls: readFileSync(calls, "utf8").split("\n").filter(Boolean) };
  }

  test("that is installed and runs as a service is left alone, and the installer says so", async () => {
    const { exitCode, stdout, calls } = await needProxy({ "apt-get": "", systemctl: "", haproxy: "" }, true);
    expect({ exitCode, calls }).toEqual({ exitCode: 0, calls: ["systemctl is-active --quiet haproxy.service"] });
    expect(stdout).toContain("haproxy.service of this machine runs and stays as it is");
    expect(stdout).toContain("--ingress-http-addr");
  });

  test("that is missing is installed, and the service of the package is turned off", async () => {
    const { exitCode, calls } = await needProxy({ "apt-get": "", systemctl: "" }, false);
    expect({ exitCode, calls }).toEqual({
      exitCode: 0,
      calls: [
        "apt-get update -qq",
        "apt-get install -y -qq --no-install-recommends haproxy",
        "systemctl --quiet disable --now haproxy.service",
      ],
    });
  });

  test("that the machine has no package of is named, with what to do", async () => {
    const missing = await needProxy({ systemctl: "" }, false);
    expect(missing).toMatchObject({ exitCode: 1, calls: [] });
    expect(missing.stdout).toContain("install HAProxy 2.6 or newer");
    const failed = await needProxy({ systemctl: "", "apt-get": "exit 100" }, false);
    expect(failed).toMatchObject({ exitCode: 1, calls: ["apt-get update -qq"] });
    expect(failed.stdout).toContain("no ingress is served");
  });
});

describe("a folder that is not a demo", () => {
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(work, "foreign."));
    mkdirSync(join(dir, "precious"));
  });
  afterEach(() => expect(readdirSync(dir)).toEqual(["precious"]));

  test("is not taken for one", async () => {
    expect(await install(["--demo", "--root", dir])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is not empty and holds no demo"),
    });
  });

  test("is not removed as one", async () => {
    expect(await install(["--demo", "--down", "--root", dir])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("nothing is removed"),
    });
  });
});
