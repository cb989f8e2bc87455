import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth, serve, type Server } from "../support/executable.ts";
import { waitFor } from "../support/wait.ts";

let root: string;
let server: Server;
const start = async () => {
  const planes = ["--addr", "", "--identity-addr", "127.0.0.1:0", "--observability-addr", ""];
  server = await serve(["--root", root, ...planes, "--docker-host", `unix://${root}/no-engine.sock`]);
};
const identity = (...words: string[]) =>
  berth(["identity", ...words], { env: { BERTH_ENDPOINT: `unix:${root}/run/berth.sock` }, cwd: root });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "berth-import-"));
  await start();
});
afterAll(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const users = 40_000;

test("a server that is killed in the middle of an import has whole users, and the same import goes on", async () => {
  expect((await identity("quickstart", "--redirect", "http://localhost/cb")).exitCode).toBe(0);
  const lines = Array.from({ length: users }, (_, n) => {
    const identities = [{ provider: "github", uid: String(n), email: `u${n}@x.test`, email_verified: true }];
    return JSON.stringify({ email: `u${n}@x.test`, name: "x".repeat(60), identities });
  });
  writeFileSync(join(root, "users.ndjson"), lines.join("\n"));
  const cut = identity("import", "users.ndjson");
  await waitFor("some users", async () =>
    (await identity("user", "list", "-n", "1", "-o", "json")).stdout.includes("@x.test"),
  );
  await server.stop("SIGKILL");
  expect((await cut).exitCode).not.toBe(0);
  await start();
  const again = JSON.parse((await identity("import", "users.ndjson", "-o", "json")).stdout).data;
  expect(again).toMatchObject({ lines: users, failed: 0, updated: 0 });
  expect(again.skipped).toBeGreaterThan(0);
  expect(again.created + again.skipped).toBe(users);
  expect((await identity("export", "--out", "out.ndjson")).exitCode).toBe(0);
  const out = readFileSync(join(root, "out.ndjson"), "utf8").trimEnd().split("\n");
  expect(out.at(-1)).toBe(`{"end":true,"users":${users}}`);
  // Nobody came in without what belongs to them.
  expect(out.slice(0, -1).every((line) => line.includes('"provider":"github"'))).toBe(true);
});
