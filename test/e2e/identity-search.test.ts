import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seedUsers } from "../support/identity-seed.ts";
import { berth, serve, type Server } from "../support/executable.ts";
import { waitFor } from "../support/wait.ts";

/** The search thread is an entry point of its own in the executable: this is where it is seen to be there. */
let root: string;
let server: Server;
let key: string;

const start = async () => {
  const flags = ["--addr", "", "--identity-addr", "127.0.0.1:0", "--docker-host", `unix://${root}/no-engine.sock`];
  server = await serve(["--root", root, "--observability-addr", "", ...flags]);
};

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "berth-search-"));
  await start();
  const made = await berth(["identity", "quickstart", "--redirect", "http://localhost:3000/callback", "-o", "json"], {
    env: { BERTH_ENDPOINT: `unix:${root}/run/berth.sock` },
  });
  expect([made.exitCode, made.stderr]).toEqual([0, expect.any(String)]);
  key = (JSON.parse(made.stdout) as { data: { secret_key: string } }).data.secret_key;
});
afterAll(async () => {
  await server?.stop();
  rmSync(root, { recursive: true, force: true });
});

async function search(query: string): Promise<{ status: number; found: { data: { email: string } }[] }> {
  const [address = ""] = (server.ready.addresses as { identity: string[] }).identity;
  const url = `http://${address}/api/v1/users/search?query=${encodeURIComponent(query)}`;
  const response = await fetch(url, { headers: { "X-Service-Secret-Key": key } });
  return { status: response.status, found: (await response.json()) as { data: { email: string } }[] };
}

const bytesOf = (file: string) => (existsSync(file) ? statSync(file).size : 0);

/** Threads of a process that stand back for the others. */
function niceThreads(pid: number): number {
  const nice = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    return Number(stat.split(") ").at(-1)?.split(" ")[16]);
  });
  return nice.filter((one) => one > Math.min(...nice)).length;
}

test("the executable searches in its thread, by an index that is made anew when it is gone", async () => {
  expect(await search("name:*nobody*")).toEqual({ status: 200, found: [] });
  seedUsers(join(root, "identity.db"), [1], 5_000);
  const silvas = await waitFor("users to be found", async () => {
    const { found } = await search("name:*SILVA*");
    return found.length > 0 && found;
  });
  expect(silvas.length).toBeGreaterThan(200);
  const index = join(root, "identity-search.db");
  await waitFor("the index", () => bytesOf(index) + bytesOf(`${index}-wal`) > 200_000);
  expect(statSync(index).mode & 0o777).toBe(0o600);
  expect((await search("email:*4999@*")).found).toHaveLength(1);

  // The thread of the search, and the one that stores logs.
  expect(niceThreads(server.pid)).toBe(2);

  expect(await server.stop()).toBe(0);
  rmSync(index, { force: true });
  await start();
  expect((await search("name:*silva*")).found.length).toBe(silvas.length);
  expect(server.output()).not.toContain("search failed");
});
