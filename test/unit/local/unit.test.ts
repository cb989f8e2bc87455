import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, spyOn, test } from "bun:test";
import { serverUnit, serverCommand, unitWord } from "../../../src/local/unit.ts";

describe("unitWord", () => {
  test("leaves plain words alone", () => {
    expect(unitWord("/usr/local/bin/berth")).toBe("/usr/local/bin/berth");
    expect(unitWord("127.0.0.1:8686")).toBe("127.0.0.1:8686");
  });

  test("keeps what systemd would expand or split", () => {
    expect(unitWord("/opt/my root")).toBe('"/opt/my root"');
    expect(unitWord("50%")).toBe("50%%");
    expect(unitWord("$HOME")).toBe("$$HOME");
    expect(unitWord('a"b\\c')).toBe('"a\\"b\\\\c"');
    expect(unitWord("")).toBe('""');
  });
});

describe("serverUnit", () => {
  const unit = serverUnit({ executable: "/usr/local/bin/berth", flags: { root: "/opt/berth", "identity-addr": "" } });

  test("runs serve with the given flags, an empty one too", () => {
    expect(unit).toContain('\nExecStart=/usr/local/bin/berth serve --root /opt/berth --identity-addr ""\n');
  });

  test("comes back after any end, and leaves other processes of the service alone", () => {
    expect(unit).toContain("\nRestart=always\n");
    expect(unit).toContain("\nKillMode=process\n");
    expect(unit).toContain("\nStartLimitIntervalSec=0\n");
  });

  test.skipIf(Bun.which("systemd-analyze") === null)("satisfies systemd", () => {
    const dir = mkdtempSync(join(tmpdir(), "berth-unit."));
    const file = join(dir, "berth.service");
    writeFileSync(file, serverUnit({ executable: "/bin/true", flags: { root: '/opt/a b"%$', addr: "" } }));
    const run = Bun.spawnSync(["systemd-analyze", "verify", "--man=no", file], { stderr: "pipe" });
    rmSync(dir, { recursive: true });
    // It also tells about units of this machine that ours only names.
    const ours = run.stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("berth.service"));
    expect(ours).toEqual([]);
  });
});

describe("serverCommand", () => {
  async function run(args: string[]) {
    const out = spyOn(process.stdout, "write").mockImplementation(() => true);
    const log = spyOn(console, "log").mockImplementation(() => undefined);
    const error = spyOn(console, "error").mockImplementation(() => undefined);
    try {
      const code = await serverCommand(args);
      const text = (calls: unknown[][]) => calls.map(([first]) => String(first)).join("\n");
      return { code, out: text(out.mock.calls) + text(log.mock.calls), error: text(error.mock.calls) };
    } finally {
      for (const spy of [out, log, error]) spy.mockRestore();
    }
  }

  test("prints the unit of this executable", async () => {
    const { code, out } = await run(["unit", "--root", "/srv/berth", "--prefix", "demo"]);
    expect(code).toBe(0);
    expect(out).toContain(`ExecStart=${process.execPath} serve --root /srv/berth --prefix demo\n`);
  });

  test("passes on who may connect", async () => {
    const { out } = await run(["unit", "--addr", "10.0.0.5:8686", "--addr-insecure", "--allowed-hosts", "berth.test"]);
    expect(out).toContain(" serve --addr 10.0.0.5:8686 --allowed-hosts berth.test --addr-insecure\n");
  });

  test("refuses an unknown flag with exit code 2 and its usage", async () => {
    const { code, out, error } = await run(["unit", "--rot", "/srv"]);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(error).toContain("--rot");
    expect(error).toContain("usage: berth server unit");
  });

  test("knows no other verb", async () => {
    expect(await run(["start"])).toMatchObject({ code: 2, error: expect.stringContaining('"server start"') });
    expect(await run([])).toMatchObject({ code: 2, out: "" });
  });

  test("explains itself", async () => {
    const usage = { code: 0, out: expect.stringContaining("--docker-host VALUE") };
    expect(await run(["--help"])).toMatchObject(usage);
    expect(await run(["unit", "--help"])).toMatchObject(usage);
  });
});
