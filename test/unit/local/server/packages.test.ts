import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Machine } from "../../../../src/local/server/machine.ts";
import {
  firewallHints,
  needEngine,
  needProxy,
  needRestic,
  offerLiveRestore,
} from "../../../../src/local/server/packages.ts";

/** A machine with these programs, which answer with these exit codes or texts; 0 where nothing is said. */
function machineWith(programs: readonly string[], answers: Record<string, number | string> = {}, files: string[] = []) {
  const calls: string[] = [];
  const said: string[] = [];
  const machine: Machine = {
    has: (program) => programs.includes(program),
    exists: (path) => files.includes(path),
    async run(command) {
      const line = command.join(" ");
      if (!programs.includes(command[0] ?? "")) return { exitCode: 127, stdout: "", stderr: "" };
      calls.push(line);
      const [, answer = 0] = Object.entries(answers).find(([start]) => line.startsWith(start)) ?? [];
      return typeof answer === "number"
        ? { exitCode: answer, stdout: "", stderr: "" }
        : { exitCode: 0, stdout: answer, stderr: "" };
    },
    ask: () => undefined,
    say: (line) => said.push(line),
    note: (line) => said.push(line),
  };
  return { machine, calls, said };
}

describe("Docker", () => {
  test("that is there is left alone", async () => {
    const { machine, calls } = machineWith(["docker", "apt-get", "systemctl"]);
    await needEngine(machine);
    expect(calls).toEqual([]);
  });

  test("that is missing is installed from the packages of Debian", async () => {
    const { machine, calls } = machineWith(["apt-get", "systemctl"]);
    await needEngine(machine);
    expect(calls).toEqual([
      "apt-get update -qq",
      "apt-get install -y -qq --no-install-recommends docker.io",
      "systemctl enable --now --quiet docker.service",
    ]);
  });

  test("that another distribution has is named with its command", async () => {
    const { machine } = machineWith(["dnf"]);
    expect(needEngine(machine)).rejects.toThrow("dnf install -y docker-ce && systemctl enable --now docker");
  });

  test("without live-restore: the operator is told how to turn it on, and settings that exist are left alone", async () => {
    const off = { "docker info": "false\n" };
    const none = machineWith(["docker"], off);
    await offerLiveRestore(none.machine, false);
    expect(none.said.join("\n")).toContain("live-restore is off");
    expect(none.said.join("\n")).toContain("systemctl reload docker");
    const some = machineWith(["docker"], off, ["/etc/docker/daemon.json"]);
    await offerLiveRestore(some.machine, true);
    expect(some.said.join("\n")).toContain('add "live-restore": true');
    expect(some.calls).toEqual(["docker info --format {{.LiveRestoreEnabled}}"]);
    const on = machineWith(["docker"], { "docker info": "true\n" });
    await offerLiveRestore(on.machine, false);
    expect(on.said).toEqual([]);
  });
});

describe("HAProxy", () => {
  test("that is missing is installed, and the service of the package is turned off", async () => {
    const { machine, calls } = machineWith(["apt-get", "systemctl"]);
    await needProxy(machine);
    expect(calls).toEqual([
      "apt-get update -qq",
      "apt-get install -y -qq --no-install-recommends haproxy",
      "systemctl --quiet disable --now haproxy.service",
    ]);
  });

  test("that runs as a service stays as it is, and the operator hears of it", async () => {
    const { machine, calls, said } = machineWith(["haproxy", "systemctl"]);
    await needProxy(machine);
    expect(calls).toEqual(["systemctl is-active --quiet haproxy.service"]);
    expect(said.join(" ")).toContain("stays as it is");
  });

  test("that cannot be installed is run from its image", async () => {
    const failed = machineWith(["apt-get", "systemctl"], { "apt-get update": 100 });
    await needProxy(failed.machine);
    expect(failed.calls).toEqual(["apt-get update -qq"]);
    expect(failed.said.join(" ")).toContain("the server fetches its image");
    const other = machineWith(["zypper"]);
    await needProxy(other.machine);
    expect(other.said.join(" ")).toContain("zypper install -y haproxy");
  });
});

describe("restic", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-restic."));
  const program = join(folder, "bin-restic");
  const script = "#!/bin/sh\necho restic 0.17.3 compiled\n";
  const packed = Bun.spawnSync(["bzip2", "-c"], { stdin: Buffer.from(script) }).stdout;
  const name = process.arch === "x64" ? "amd64" : "arm64";
  const served = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: ({ url }) =>
      url.endsWith(`/v0.17.3/restic_0.17.3_linux_${name}.bz2`)
        ? new Response(packed)
        : new Response("none", { status: 404 }),
  });
  afterAll(async () => {
    await served.stop(true);
    rmSync(folder, { recursive: true });
  });
  const sum = new Bun.CryptoHasher("sha256").update(packed).digest("hex");
  const release = (over: { version?: string; sha256?: string } = {}) => ({
    ...{ url: `http://127.0.0.1:${served.port}`, version: over.version ?? "0.17.3", program },
    archives: { [process.arch]: [name, over.sha256 ?? sum] as const },
  });
  const none = release({ version: "9.9.9" });

  test("that is there is left alone, and one that is missing is installed", async () => {
    const there = machineWith(["restic", "apt-get"], { "restic version": "restic 0.12.0 compiled" });
    await needRestic(there.machine, none);
    expect(there.calls).toEqual(["restic version"]);
    const { machine, calls } = machineWith(["apt-get"]);
    await needRestic({ ...machine, has: (one) => machine.has(one) || (one === "restic" && calls.length > 1) }, none);
    expect(calls).toEqual(["apt-get update -qq", "apt-get install -y -qq --no-install-recommends restic"]);
  });

  test("that cannot be installed stops nothing: what does not work without it is said, with the command", async () => {
    for (const [programs, answers, command] of [
      [["apt-get", "bzip2"], { "apt-get update": 100 }, "apt-get install restic"],
      [["apt-get"], { "apt-get install": 100 }, "apt-get install restic"],
      [["dnf", "bzip2"], {}, "dnf install -y restic"],
      [[], {}, "install restic 0.12 or newer"],
    ] as const) {
      const { machine, said } = machineWith(programs, answers);
      await needRestic(machine, none);
      expect(said.at(-3)).toMatch(programs.includes("bzip2" as never) ? /status 404/ : /bzip2 is missing/);
      expect(said.at(-2)).toContain("berth backup target cannot copy anything");
      expect(said.at(-1)).toBe(`to install it: ${command}`);
    }
  });

  test.skipIf(Bun.which("bzip2") === null)(
    "that a distribution lacks, or has too old, is a release whose checksum is known; another one stops",
    async () => {
      const run: Machine["run"] = async (words) => {
        const { exitCode, stdout, stderr } = Bun.spawnSync([...words]);
        return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
      };
      for (const [programs, answers] of [
        [["dnf", "bzip2", "install"], {}],
        [["restic", "apt-get", "bzip2", "install"], { "restic version": "restic 0.9.6 compiled" }],
      ] as const) {
        const { machine } = machineWith(programs, answers);
        const real = { ...machine, run: (words: readonly string[]) => (isReal(words) ? run : machine.run)(words) };
        const isReal = ([one = ""]: readonly string[]) => one === "bzip2" || one === "install";
        const wrong = needRestic(real, release({ sha256: "0".repeat(64) }));
        await expect(wrong).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(`got ${sum}`) });
        expect(existsSync(program)).toBe(false);
        await needRestic(real, release());
        expect(Bun.spawnSync([program]).stdout.toString()).toBe("restic 0.17.3 compiled\n");
        rmSync(program);
      }
    },
  );
});

test("the firewall that runs gets its own commands", async () => {
  const ufw = machineWith(["ufw"], { "ufw status": "Status: active\n" });
  expect((await firewallHints(ufw.machine)).join()).toContain("ufw allow 80/tcp");
  const firewalld = machineWith(["firewall-cmd"], { "firewall-cmd": "running\n" });
  expect((await firewallHints(firewalld.machine)).join()).toContain("--add-service=https");
  expect((await firewallHints(machineWith([]).machine)).join()).toContain("ports 80 and 443");
});
