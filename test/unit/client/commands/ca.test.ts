import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installRoot } from "../../../../src/client/commands/ca.ts";
import { cli } from "../../../support/cli.ts";

const root = {
  certificate: "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n",
  common_name: "berth internal CA on vps",
  sha256: "0123456789abcdef".repeat(4),
  not_after: "2036-01-01T00:00:00.000Z",
};
const server = () => root;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-trust-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("ca prints the root as it is, to be put into a file", async () => {
  const { out, code, calls } = await cli(["ca"], { server });
  expect([code, out]).toEqual([0, root.certificate]);
  expect(calls).toMatchObject([{ method: "GET", path: "/certificates/authority" }]);
  expect(JSON.parse((await cli(["ca", "-o", "json"], { server })).out).data).toEqual(root);
});

test("install writes the root into the first trust store that is there, and has it read", async () => {
  mkdirSync(join(folder, "second"));
  const ran: unknown[] = [];
  const runLocal = async ({ argv }: { argv: readonly string[] }) => {
    ran.push(argv);
    return 0;
  };
  const stores = ["first", "second"].map((name) => ({ folder: join(folder, name), ending: "crt", update: [name] }));
  const path = await installRoot({ runLocal }, root, stores);
  expect(path).toBe(join(folder, "second", "berth-0123456789ab.crt"));
  expect(readFileSync(path, "utf8")).toBe(root.certificate);
  expect(ran).toEqual([["second"]]);
});

test("install says what is in its way", async () => {
  const store = { folder, ending: "crt", update: ["update-ca-certificates"] };
  const runLocal = async () => 127;
  await expect(installRoot({ runLocal }, root, [])).rejects.toThrow("no trust store found on this machine");
  await expect(installRoot({ runLocal }, root, [store])).rejects.toThrow(
    "update-ca-certificates failed with exit code 127",
  );
  const closed = { ...store, ending: "x/y" };
  await expect(installRoot({ runLocal }, root, [closed])).rejects.toThrow("run the command as root");
});

test.each([[["ca", "remove"]], [["ca", "install", "more"]]])("%p is a usage error", async (argv) => {
  expect(await cli(argv, { server })).toMatchObject({ code: 2, calls: [] });
});
