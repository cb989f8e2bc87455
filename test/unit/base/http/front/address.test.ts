import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { bindFailure, openAt, claimUnixPath, privately } from "../../../../../src/base/http/front/address.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "address-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a free path is fine, and a socket made privately is only for its owner", async () => {
  const path = join(folder, "a.sock");
  await claimUnixPath(path);
  const before = process.umask();
  const listener = privately(() => Bun.listen({ unix: path, socket: { data() {} } }));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(process.umask()).toBe(before);
  listener.stop(true);
});

test("a socket that somebody answers on is a conflict and stays", async () => {
  const path = join(folder, "a.sock");
  const listener = Bun.listen({ unix: path, socket: { data() {} } });
  const failure = await claimUnixPath(path).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Failure);
  expect(failure).toMatchObject({ code: "conflict" });
  expect(String(failure)).toContain("in use by a running server");
  expect(existsSync(path)).toBe(true);
  listener.stop(true);
});

test("a socket left behind by a killed process is removed", async () => {
  const path = join(folder, "a.sock");
  const script = `Bun.listen({ unix: ${JSON.stringify(path)}, socket: { data() {} } }); process.kill(process.pid, "SIGKILL")`;
  await Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "ignore" }).exited;
  expect(existsSync(path)).toBe(true);
  await claimUnixPath(path);
  expect(existsSync(path)).toBe(false);
});

test("a file that is no socket is never removed", async () => {
  const path = join(folder, "precious");
  writeFileSync(path, "x");
  expect(await claimUnixPath(path).catch((error: unknown) => error)).toMatchObject({ code: "conflict" });
  expect(existsSync(path)).toBe(true);
});

test("a path that the kernel would cut off is refused", async () => {
  expect(await claimUnixPath(`/${"x".repeat(107)}`).catch((error: unknown) => error)).toMatchObject({
    code: "invalid",
  });
});

test("bind errors name the address and the way out", () => {
  const errorWith = (code: string) => Object.assign(new Error("x"), { code });
  expect(bindFailure("127.0.0.1:8686", errorWith("EADDRINUSE"))).toMatchObject({
    code: "conflict",
    message: "address 127.0.0.1:8686 is in use, stop what uses it or choose another address",
  });
  expect(bindFailure("127.0.0.1:80", errorWith("EACCES")).code).toBe("forbidden");
  expect(bindFailure("unix:/none/x", errorWith("ENOENT")).code).toBe("not_found");
  expect(bindFailure("nowhere:1", new Error("x"))).toMatchObject({ code: "invalid" });
});

test("an address that is taken names the process that has it, and how to end it", async () => {
  using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const address = `127.0.0.1:${other.port}`;
  const fail = (code: string) => () => {
    throw bindFailure(address, Object.assign(new Error("x"), { code }));
  };
  const failure = await expectFailure(openAt(address, fail("EADDRINUSE")), "conflict");
  expect(failure.message).toStartWith(`address ${address} is in use by process ${process.pid} (`);
  expect(failure.message).toContain(`; end it with "kill ${process.pid}", or`);
  await expectFailure(openAt(address, fail("EACCES")), "forbidden");
  expect(await openAt(address, () => 1)).toBe(1);
});
