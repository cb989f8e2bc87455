import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth, type Finished, serve, type Server } from "../support/executable.ts";
import { freePort } from "../support/ports.ts";
import { webBrowser } from "../support/web-browser.ts";

/** The identity service as its operator and its app meet it: the real executable, no Docker. */
let root: string;
let server: Server;
let base: string;
const callback = "http://localhost:3000/callback";

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "berth-identity-e2e-"));
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  const engine = ["--docker-host", `unix://${root}/no-engine.sock`];
  server = await serve(["--root", root, "--addr", "", "--identity-addr", `127.0.0.1:${port}`, ...engine]);
});
afterAll(async () => {
  await server?.stop();
  rmSync(root, { recursive: true, force: true });
});

const identity = (words: string[], stdin?: string): Promise<Finished> =>
  berth(["identity", ...words], {
    env: { BERTH_ENDPOINT: `unix:${root}/run/berth.sock` },
    cwd: root,
    ...(stdin === undefined ? {} : { stdin }),
  });

async function json(words: string[]): Promise<Record<string, unknown>> {
  const run = await identity([...words, "-o", "json"]);
  const envelope = JSON.parse(run.stdout) as { status: string; data: Record<string, unknown> };
  expect([words.join(" "), run.exitCode, envelope.status]).toEqual([words.join(" "), 0, "ok"]);
  return envelope.data;
}

const verify = async (key: string, token: string) => {
  const headers = { "X-Service-Secret-Key": key, "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ token }) };
  const response = await fetch(`${base}/api/v1/tokens/verify`, init);
  return { status: response.status, body: (await response.json()) as { data?: { email: string } } };
};

/** What the app is sent after a sign-in with a password on the hosted page. */
async function signIn(url: string, email: string, password: string): Promise<string> {
  const browser = webBrowser({
    service: (request) => fetch(request),
    isService: (host) => host === new URL(base).host,
    isApp: (host) => host === new URL(callback).host,
    headers: { "User-Agent": "test browser", Origin: base },
  });
  const page = await browser.open(url);
  expect(page.status).toBe(200);
  const end = await browser.submit(page, "/sign-in", { email, password });
  expect(end.url).toStartWith(`${callback}?token=`);
  return new URL(end.url).searchParams.get("token") ?? "";
}

test("from nothing to a verified user, and the line that quickstart prints works as it stands", async () => {
  const { stdout, exitCode } = await identity(["quickstart", "--redirect", callback, "--app", "shop"]);
  expect(exitCode).toBe(0);
  const id = /inst_\w+/.exec(stdout)?.[0] ?? "";
  const url = /http:\S+sign-in\?\S+/.exec(stdout)?.[0] ?? "";
  const user = await json([
    "user",
    "create",
    "--instance",
    id,
    "--email",
    "ana@shop.test",
    "--password",
    "correct horse",
  ]);
  const token = await signIn(url, "ana@shop.test", "correct horse");
  const line = /^ {2}(curl .*)$/m.exec(stdout)?.[1] ?? "";
  const shell = Bun.spawn(["sh", "-c", line.replace("TOKEN", token)], { stdout: "pipe", stderr: "ignore" });
  const answer = JSON.parse(await new Response(shell.stdout).text());
  expect(answer).toMatchObject({ resource: "token", data: { valid: true, email: "ana@shop.test", provider: "email" } });
  expect(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())).toMatchObject({
    iss: "service",
    sub: user.id,
    instance_id: id,
  });
  await json(["instance", "delete", id, "--yes"]);
});

test("a rotation, a ban and a search reach the running service", async () => {
  const made = (await json(["quickstart", "--redirect", callback])) as Record<string, string>;
  const at = ["--instance", made.instance_id ?? ""];
  await json(["user", "create", ...at, "--email", "ana@shop.test", "--name", "Ana", "--password", "correct horse"]);
  const token = await signIn(made.sign_in_url ?? "", "ana@shop.test", "correct horse");
  const old = made.secret_key ?? "";
  const staged = String((await json(["key", "rotate", ...at])).secret_key);
  expect((await verify(staged, token)).status).toBe(200);
  await json(["key", "promote", ...at]);
  expect([(await verify(old, token)).status, (await verify(staged, token)).status]).toEqual([200, 200]);
  const sessions = (await json(["session", "list", ...at])).sessions as { session_id: string; active: boolean }[];
  expect(sessions).toMatchObject([{ email: "ana@shop.test", provider: "password", active: true }]);
  await json(["user", "ban", ...at, "ana@shop.test"]);
  expect(await verify(staged, token)).toMatchObject({ status: 401, body: { error: "User banned" } });
  expect((await json(["session", "list", ...at])).sessions).toMatchObject([{ active: false }]);
  expect((await json(["user", "search", ...at, "name:*na", "email:*@shop.test"])).users).toHaveLength(1);
  const leaked = String((await json(["key", "rotate", ...at, "--now"])).secret_key);
  expect([(await verify(staged, token)).status, (await verify(leaked, token)).status]).toEqual([401, 401]);
  const searched = await fetch(`${base}/api/v1/users/search?query=name:Ana`, {
    headers: { "X-Service-Secret-Key": leaked },
  });
  expect(await searched.json()).toMatchObject([{ data: { email: "ana@shop.test" } }]);
  await json(["instance", "delete", made.instance_id ?? "", "--yes"]);
});

test("providers stay outside of this machine unless the server allows them", async () => {
  const { instance_id: id = "" } = (await json(["quickstart", "--redirect", callback])) as Record<string, string>;
  const words = ["provider", "set", "--instance", id, "github", "--client-id", "X", "--client-secret", "Y"];
  const refused = await identity([...words, "--token-url", "http://127.0.0.1:1/token"]);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("serve with --identity-allow-private-endpoints");
  expect((await json(words)).has_secret).toBe(true);
  await json(["instance", "delete", id, "--yes"]);
});

test("users of another system come in with their passwords, and go out again", async () => {
  const made = (await json(["quickstart", "--redirect", callback])) as Record<string, string>;
  const at = ["--instance", made.instance_id ?? ""];
  const hash = await Bun.password.hash("old password", { algorithm: "bcrypt", cost: 4 });
  const users = Array.from({ length: 12_000 }, (_, n) =>
    JSON.stringify({ email: `u${n}@shop.test`, name: `User ${n}`, ...(n === 7 ? { password_hash: hash } : {}) }),
  );
  writeFileSync(join(root, "users.ndjson"), `${users.join("\n")}\n`);
  expect(await json(["import", "users.ndjson", ...at])).toMatchObject({ created: 12_000, failed: 0 });
  expect(await json(["import", "users.ndjson", ...at])).toMatchObject({ created: 0, skipped: 12_000 });
  const token = await signIn(made.sign_in_url ?? "", "u7@shop.test", "old password");
  expect((await verify(made.secret_key ?? "", token)).body.data?.email).toBe("u7@shop.test");
  expect(await json(["export", "--out", "out.ndjson", ...at])).toMatchObject({ users: 12_000 });
  const lines = readFileSync(join(root, "out.ndjson"), "utf8").trimEnd().split("\n");
  expect([lines.length, lines.at(-1)]).toEqual([12_001, '{"end":true,"users":12000}']);
  expect(lines.join("")).not.toContain("password_hash");
  await json(["instance", "delete", made.instance_id ?? "", "--yes"]);
});

test("a backup holds users and keys, and brings them back into a running server", async () => {
  const made = (await json(["quickstart", "--redirect", callback])) as Record<string, string>;
  const at = ["--instance", made.instance_id ?? ""];
  await json(["user", "create", ...at, "--email", "ana@shop.test", "--password", "correct horse"]);
  const token = await signIn(made.sign_in_url ?? "", "ana@shop.test", "correct horse");
  const file = join(root, "backups", "one.backup");
  const backup = await berth(["backup", file, "--root", root]);
  expect([backup.exitCode, backup.stderr]).toEqual([0, ""]);
  await json(["user", "delete", ...at, "ana@shop.test", "-y"]);
  expect((await verify(made.secret_key ?? "", token)).status).toBe(404);
  const restore = await berth(["restore", "--yes", file, "--root", root]);
  expect([restore.exitCode, restore.stderr]).toEqual([0, ""]);
  expect((await verify(made.secret_key ?? "", token)).body.data?.email).toBe("ana@shop.test");
  expect(existsSync(join(root, "identity.db"))).toBe(true);
  const doctor = await berth([
    "doctor",
    "--root",
    root,
    "--addr",
    "",
    "--observability-addr",
    "",
    "--identity-addr",
    "",
  ]);
  expect(doctor.stdout).toContain("identity service");
  expect(server.output()).not.toContain(made.secret_key ?? "");
  expect(server.output()).not.toContain(token);
});
