import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { layoutOf } from "../../../src/base/disk/layout.ts";
import { ingressUnit, serverUnit, serveWords, unitWord } from "../../../src/local/unit.ts";

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
  const words = ["--root", "/opt/berth", "--identity-addr", ""];
  const unit = serverUnit({
    executable: "/usr/local/bin/berth",
    words,
    environment: { BERTH_INGRESS_UNIT: "berth-ingress.service" },
  });

  test("runs serve with the given flags, an empty one too", () => {
    expect(unit).toContain('\nExecStart=/usr/local/bin/berth serve --root /opt/berth --identity-addr ""\n');
  });

  test("comes back after any end, and leaves other processes of the service alone", () => {
    expect(unit).toContain("\nRestart=always\n");
    expect(unit).toContain("\nKillMode=process\n");
    expect(unit).toContain("\nStartLimitIntervalSec=0\n");
  });

  test("carries settings that older servers ignore as environment", () => {
    expect(unit).toContain("\nEnvironment=BERTH_INGRESS_UNIT=berth-ingress.service\n");
  });

  test("is read back", () => {
    expect(serveWords(unit)).toEqual(words);
    const odd = ["--root", '/opt/a b"%$\\', "--addr", "[::1]:8686", "--addr-insecure"];
    expect(serveWords(serverUnit({ executable: "/opt/a b/berth", words: odd }))).toEqual(odd);
    expect(serveWords("[Service]\nExecStart=/usr/sbin/sshd -D\n")).toBeUndefined();
    expect(serveWords("")).toBeUndefined();
  });

  test.skipIf(Bun.which("systemd-analyze") === null)("satisfies systemd", () => {
    const dir = mkdtempSync(join(tmpdir(), "berth-unit."));
    const file = join(dir, "berth.service");
    const words = ["--root", '/opt/a b"%$', "--addr", ""];
    writeFileSync(file, serverUnit({ executable: "/bin/true", words, environment: { A: "b c" } }));
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

describe("ingressUnit", () => {
  test("may write where its sockets are, also where that is beside a long root", () => {
    const root = `/srv/${"r".repeat(150)}`;
    const { sockets } = layoutOf(root);
    const unit = ingressUnit({ haproxy: "/usr/sbin/haproxy", root });
    expect(unit).toContain(`\nReadWritePaths=${root} ${sockets}\n`);
    expect(unit).toContain(` -S ${sockets}/haproxy-master.sock,mode,600 `);
  });

  const unit = ingressUnit({ haproxy: "/usr/sbin/haproxy", root: "/opt/berth" });

  test("runs HAProxy with the files of the root, so that the server finds it", () => {
    expect(unit).toContain(
      "\nExecStart=/usr/sbin/haproxy -W -S /opt/berth/run/haproxy-master.sock,mode,600 -p /opt/berth/run/haproxy.pid -f /opt/berth/ingress/haproxy.cfg\n",
    );
    expect(unit).toContain("\nStandardError=append:/opt/berth/logs/haproxy.log\n");
  });

  test("does not depend on the server, so nothing that happens to the server stops it", () => {
    expect(unit).not.toContain("berth.service");
  });

  test.skipIf(Bun.which("systemd-analyze") === null)("satisfies systemd", () => {
    const dir = mkdtempSync(join(tmpdir(), "berth-unit."));
    const file = join(dir, "berth-ingress.service");
    writeFileSync(file, ingressUnit({ haproxy: "/bin/true", root: "/opt/a b%" }));
    const run = Bun.spawnSync(["systemd-analyze", "verify", "--man=no", file], { stderr: "pipe" });
    rmSync(dir, { recursive: true });
    const said = run.stderr.toString().split("\n");
    expect(said.filter((line) => line.includes("berth-ingress.service"))).toEqual([]);
  });
});
