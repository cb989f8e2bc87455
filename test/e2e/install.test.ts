import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";

import { releaseKey } from "../support/release-key.ts";

const installer = join(import.meta.dir, "../../install.sh");
const setup = join(import.meta.dir, "../../setup");
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

const key = releaseKey(join(work, "keys"));
const trusted = { BERTH_RELEASE_PUBLIC_KEY: key.publicFile };
const install = (args: string[], env: Record<string, string> = {}) => run([installer, ...args], { ...trusted, ...env });

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
});

/** A small program in the place of the executable. */
const program = "#!/bin/sh\necho 9.9.9\n";
const sum = createHash("sha256").update(program).digest("hex");

describe("a release", () => {
  let told = sum;
  let served = program;
  /** The version that is in the signed text, where it is not that of the folder. */
  let signedAs: string | undefined;
  let signature: ((text: string) => string | undefined) | undefined;
  const asked: string[] = [];
  const release = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      const [, folder, version, file = ""] = /^\/(\w+)\/(9\.9\.[89]|latest)(?:\/(.+))?$/.exec(pathname) ?? [];
      if (folder !== "releases") return new Response("no such file", { status: 404 });
      if (version === "latest") return new Response("9.9.9\n");
      const other = "f".repeat(64);
      const files = ["berth-linux-x64", "berth-linux-arm64"].map((name) => `${told}  ${name}\n`).join("");
      const sums = `# berth ${signedAs ?? version}\n${other}  install.sh\n${files}`;
      if (file === "SHA256SUMS") return new Response(sums);
      if (file === "SHA256SUMS.sig") {
        const text = (signature ?? key.sign)(sums);
        return text === undefined ? new Response("none", { status: 404 }) : new Response(text);
      }
      return /^berth-linux-(?:x64|arm64)$/.test(file) ? new Response(served) : new Response("no", { status: 404 });
    },
  });
  const url = `http://127.0.0.1:${release.port}/releases`;
  afterAll(() => release.stop(true));

  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(work, "release."));
    told = sum;
    served = program;
    signedAs = undefined;
    signature = undefined;
    asked.length = 0;
  });

  test("that is not signed, or by another key, is refused before the executable is fetched", async () => {
    const fetchTo = ["--fetch", join(dir, "berth"), "--release-url", url];
    signature = () => undefined;
    expect(await install(fetchTo)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is not signed") });
    const stranger = releaseKey(join(work, "keys"));
    signature = stranger.sign;
    const refused = await install(fetchTo);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is not of the release key") });
    signature = (text) => key.sign(text, "git");
    expect(await install(fetchTo)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is not of the") });
    expect(asked.filter((path) => path.includes("/berth-linux"))).toEqual([]);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("of before under a new name is refused", async () => {
    signedAs = "1.0.0";
    const { exitCode, stderr } = await install(["--fetch", join(dir, "berth"), "--release-url", url]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("holds the release 1.0.0 under the name of 9.9.9");
  });

  test("needs a key and a program that checks with it, and says which", async () => {
    const fetchTo = ["--fetch", join(dir, "berth"), "--release-url", url];
    const keyless = await install(fetchTo, { BERTH_RELEASE_PUBLIC_KEY: "" });
    expect(keyless).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("has no release key") });
    writeFileSync(join(dir, "empty.pub"), "ssh-rsa AAAA\n");
    const empty = await install([...fetchTo, "--release-key", join(dir, "empty.pub")]);
    expect(empty).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no public key in") });
    // The key of the release itself, where bun run release has put it.
    const own = join(dir, "own.sh");
    const [line = ""] = key.publicText.split("\n");
    writeFileSync(own, readFileSync(installer, "utf8").replace("release_keys=''", `release_keys='${line}'`));
    expect((await run(["sh", own, ...fetchTo], { BERTH_RELEASE_PUBLIC_KEY: "" })).exitCode).toBe(0);
    const programs = join(dir, "few");
    mkdirSync(programs);
    const names = ["sh", "uname", "ldd", "grep", "sed", "cat", "rm", "dirname", "id", "apt-get"];
    for (const name of names) symlinkSync(Bun.which(name) ?? "/bin/true", join(programs, name));
    asked.length = 0;
    const without = await install(fetchTo, { PATH: programs });
    expect(without).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("apt-get install openssh-client") });
    expect(asked).toEqual([]);
  });

  const [, port = ""] = /:(\d+)\//.exec(url) ?? [];
  test.each([
    `http://127.0.0.1:1@localhost:${port}/releases`,
    `http://127.0.0.1:${port}@127.0.0.1:${port}/releases`,
    `http://localhost@127.0.0.1:${port}/releases`,
    `http://[::1]@127.0.0.1:${port}/releases`,
    `http://127.0.0.1\\@127.0.0.1:${port}/releases`,
    `http://127.0.0.1:${port}.example.com/releases`,
    `http://127.0.0.1.example.com/releases`,
    `http://127.0.0.1:/releases`,
    `https://user@127.0.0.1:${port}/releases`,
    `ftp://127.0.0.1:${port}/releases`,
    `file:///etc`,
  ])("from %s is refused, and nothing is asked", async (address) => {
    const { exitCode, stderr } = await install(["--fetch", join(dir, "berth"), "--release-url", address]);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/is not (?:an https|a release) address/)]);
    expect(asked).toEqual([]);
  });

  test("is fetched for this machine, checked and made executable", async () => {
    const { exitCode, stdout } = await install(["--fetch", join(dir, "berth"), "--release-url", `${url}/`]);
    expect(stdout).toContain("got 9.9.9");
    expect(exitCode).toBe(0);
    expect(readFileSync(join(dir, "berth"), "utf8")).toBe(program);
    expect(statSync(join(dir, "berth")).mode & 0o777).toBe(0o755);
    expect(readdirSync(dir)).toEqual(["berth"]);
  });

  test("of a version that was asked for is fetched, and not the latest", async () => {
    const flags = ["--fetch", join(dir, "berth"), "--release-url", url, "--version", "9.9.8"];
    expect(await install(flags)).toMatchObject({ exitCode: 0 });
    expect(asked[0]).toBe("/releases/9.9.8/SHA256SUMS");
    expect(asked[1]).toBe("/releases/9.9.8/SHA256SUMS.sig");
    expect(asked[2]).toStartWith("/releases/9.9.8/berth-linux-");
    expect(asked.length).toBe(3);
  });

  test("with another sum is refused, and what was there stays", async () => {
    told = "0".repeat(64);
    writeFileSync(join(dir, "berth"), "old");
    const { exitCode, stderr } = await install(["--fetch", join(dir, "berth")], { BERTH_RELEASE_URL: url });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("does not match its sha256");
    expect(readFileSync(join(dir, "berth"), "utf8")).toBe("old");
    expect(readdirSync(dir)).toEqual(["berth"]);
  });

  test("that does not run here is refused, and what was there stays", async () => {
    served = "#!/bin/sh\nexit 1\n";
    told = createHash("sha256").update(served).digest("hex");
    writeFileSync(join(dir, "berth"), "old");
    const { exitCode, stderr } = await install(["--fetch", join(dir, "berth"), "--release-url", url]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: "error: the new executable does not run on this machine; nothing was installed\n",
    });
    expect(readFileSync(join(dir, "berth"), "utf8")).toBe("old");
    expect(readdirSync(dir)).toEqual(["berth"]);
  });

  test("that is not there is named", async () => {
    const fetchTo = ["--fetch", join(dir, "berth"), "--release-url"];
    const other = await install([...fetchTo, url.replace("/releases", "/other")]);
    expect(other).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("/other/latest") });
    const version = await install([...fetchTo, url, "--version", "1.2.3"]);
    expect(version).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`${url}/1.2.3/SHA256SUMS`) });
    const odd = await install([...fetchTo, url, "--version", "../x"]);
    expect(odd).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('"../x" cannot be a version') });
    expect(readdirSync(dir)).toEqual([]);
  });

  test("a version without a release address is refused", async () => {
    const { exitCode, stderr } = await install(["--version", "9.9.9"], { BERTH_RELEASE_URL: "" });
    expect({ exitCode, stderr: stderr.slice(0, 38) }).toEqual({
      exitCode: 1,
      stderr: "error: --version chooses a release: it",
    });
  });

  /** The installer on another machine: `uname` and `ldd` are programs that say so. */
  async function on(system: { os: string; cpu: string; ldd?: string }, args: string[]) {
    const programs = join(dir, "programs");
    mkdirSync(programs);
    const uname = `case $1 in -s) echo ${system.os} ;; -m) echo ${system.cpu} ;; esac`;
    writeFileSync(join(programs, "uname"), `#!/bin/sh\n${uname}\n`, { mode: 0o755 });
    writeFileSync(join(programs, "ldd"), `#!/bin/sh\necho '${system.ldd ?? "ldd (GNU libc) 2.36"}' >&2\nexit 1\n`, {
      mode: 0o755,
    });
    return install(args, { PATH: `${programs}:/usr/bin:/bin`, BERTH_RELEASE_URL: url });
  }

  test.each([
    [{ os: "Linux", cpu: "aarch64" }, "/releases/9.9.9/berth-linux-arm64"],
    [{ os: "Linux", cpu: "x86_64" }, "/releases/9.9.9/berth-linux-x64"],
  ])("on %o is %s", async (system, path) => {
    const { exitCode } = await on(system, ["--fetch", join(dir, "berth")]);
    expect(exitCode).toBe(0);
    expect(asked.at(-1)).toBe(path);
  });

  test.each([
    [{ os: "Linux", cpu: "riscv64" }, "no release for Linux on riscv64"],
    [{ os: "FreeBSD", cpu: "amd64" }, "no release for FreeBSD on amd64"],
    [{ os: "Linux", cpu: "x86_64", ldd: "musl libc (x86_64)" }, "berth needs glibc"],
    [{ os: "Darwin", cpu: "arm64" }, "release 9.9.9 has no executable for darwin-arm64"],
  ])("for %o is refused: %s", async (system, words) => {
    const { exitCode, stderr } = await on(system, ["--fetch", join(dir, "berth")]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(words);
    expect(readdirSync(dir)).toEqual(["programs"]);
  });

  test("for the client goes into the folder of the user, without root, and replaces an older one", async () => {
    const home = join(dir, "home");
    mkdirSync(join(home, ".local/bin"), { recursive: true });
    writeFileSync(join(home, ".local/bin/berth"), "old");
    chownSync(join(home, ".local/bin"), 65534, 65534);
    for (const folder of [work, dir, home, join(work, "keys")]) chmodSync(folder, 0o755);
    const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-s", "--", "--client"];
    const script = `exec ${asNobody.join(" ")} <${installer}`;
    const { exitCode, stdout } = await run(["sh", "-c", script], { ...trusted, HOME: home, BERTH_RELEASE_URL: url });
    expect(stdout).toContain(`got 9.9.9 as ${home}/.local/bin/berth`);
    expect(stdout).toContain(`export PATH="${home}/.local/bin:$PATH"`);
    expect(exitCode).toBe(0);
    expect(readFileSync(join(home, ".local/bin/berth"), "utf8")).toBe(program);
    expect(readdirSync(join(home, ".local/bin"))).toEqual(["berth"]);
  });

  test("on a machine without systemd is installed alone, with the line that serves", async () => {
    // Folders of the machine are empty ones in a namespace of its own.
    const bin = join(dir, "bin");
    const serve = ["sh", "-s", "--", "--release-url", url];
    const alone = (...more: string[]) => {
      const script = `mount --bind "$1" /usr/local/bin && mount -t tmpfs none /run && shift && exec "$@" <${installer}`;
      return run(["unshare", "--mount", "sh", "-c", script, "sh", bin, ...serve, ...more], {
        ...trusted,
        PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
      });
    };
    mkdirSync(bin);
    const { exitCode, stdout, stderr } = await alone();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("no systemd on this machine: only the executable was installed");
    expect(stdout).toContain("\n    /usr/local/bin/berth serve\n");
    expect(readFileSync(join(bin, "berth"), "utf8")).toBe(program);
    expect(readdirSync(bin)).toEqual(["berth"]);
    expect((await alone("--root", "/srv/berth")).stdout).toContain("/usr/local/bin/berth serve --root /srv/berth\n");
  });

  test("for the client needs a folder that can be written to", async () => {
    const flags = ["--client", "--release-url", url, "--bin"];
    expect(await install([...flags, "here"])).toMatchObject({
      exitCode: 1,
      stderr: 'error: --bin needs an absolute path, not "here"\n',
    });
    writeFileSync(join(dir, "file"), "");
    const { exitCode, stderr } = await install([...flags, join(dir, "file/bin")]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("cannot make the folder");
    expect(asked).toEqual([]);
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
  /** need_proxy of the demo, with programs that write down how they are called in the place of the real ones. */
  async function needProxy(programs: Record<string, string>, isThere: boolean) {
    const dir = mkdtempSync(join(work, "proxy."));
    const calls = join(dir, "calls");
    writeFileSync(calls, "");
    for (const [name, code] of Object.entries(programs)) {
      writeFileSync(join(dir, name), `#!/bin/sh\necho "${name} $*" >>${calls}\n${code}\n`, { mode: 0o755 });
    }
    const hide = 'for f in /usr/sbin/haproxy /usr/bin/apt-get; do [ ! -e "$f" ] || mount --bind /dev/null "$f"; done';
    const script = `set -e; ${isThere ? "" : `${hide}; `}. ${setup}/say.sh; . ${setup}/proxy.sh; need_proxy`;
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
