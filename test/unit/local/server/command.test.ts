import { describe, expect, test } from "bun:test";
import { serverCommand } from "../../../../src/local/server/command.ts";
import { said } from "../../../support/said.ts";

describe("serverCommand", () => {
  async function run(args: string[]) {
    const { result: code, ...texts } = await said(() => serverCommand(args, async () => 0));
    return { code, ...texts };
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
