import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth, serve, type Server } from "../support/executable.ts";
import { freePort } from "../support/ports.ts";
import { waitFor } from "../support/wait.ts";
import { webBrowser } from "../support/web-browser.ts";

/** The snippets of docs/identity.md, as they stand there, against the executable. */
const checkout = join(import.meta.dir, "../..");
const page = readFileSync(join(checkout, "docs/identity.md"), "utf8");

let folder: string;
let server: Server;
let base: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-identity-docs-"));
  const root = join(folder, "root");
  mkdirSync(root, { mode: 0o700 });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  const engine = ["--docker-host", `unix://${root}/no-engine.sock`, "--observability-addr", ""];
  server = await serve(["--root", root, "--addr", "", "--identity-addr", `127.0.0.1:${port}`, ...engine]);
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Marked with `<!-- snippet: NAME -->` on the line before the block. */
function snippet(name: string): string {
  const found = new RegExp(`<!-- snippet: ${name.replaceAll(".", "\\.")} -->\n\`\`\`\\w+\n([^]*?)\n\`\`\`\n`).exec(
    page,
  );
  if (found?.[1] === undefined) throw new Error(`docs/identity.md has no snippet ${name}`);
  const file = join(folder, name);
  writeFileSync(file, found[1]);
  return file;
}

/** The variables of the page, from what quickstart prints, and a user who may sign in. */
async function prepare(port: number): Promise<Record<string, string>> {
  const env = { BERTH_ENDPOINT: `unix:${folder}/root/run/berth.sock` };
  const app = `http://localhost:${port}`;
  const words = ["identity", "quickstart", "--redirect", `${app}/callback`, "-o", "json"];
  const made = JSON.parse((await berth(words, { env })).stdout).data as Record<string, string>;
  const at = ["--instance", made.instance_id ?? ""];
  const user = ["--email", "ana@shop.test", "--password", "correct horse"];
  expect((await berth(["identity", "user", "create", ...at, ...user], { env })).exitCode).toBe(0);
  return {
    SIGN_IN_URL: made.sign_in_url?.split("?")[0] ?? "",
    VERIFY_URL: made.verify_url ?? "",
    SECRET_KEY: made.secret_key ?? "",
    PUBLISHABLE_KEY: made.publishable_key ?? "",
    APP_URL: app,
    PORT: String(port),
    INSTANCE: made.instance_id ?? "",
  };
}

const browser = (isApp: (host: string) => boolean) =>
  webBrowser({
    service: (request) => fetch(request),
    isService: () => true,
    isApp,
    headers: { "User-Agent": "test browser", Origin: base },
  });

const environment = (extra: Record<string, string>) => ({ PATH: process.env.PATH ?? "", HOME: folder, ...extra });

test.each(["http.mjs", "elysia.mjs"])("the app of %s signs its users in", async (name) => {
  const variables = await prepare(await freePort());
  const app = variables.APP_URL ?? "";
  const run = Bun.spawn([process.execPath, snippet(name)], {
    env: environment(variables),
    cwd: folder,
    stderr: "inherit",
  });
  try {
    await waitFor(
      "the app to listen",
      async () => (await fetch(app, { redirect: "manual" }).catch(() => undefined)) !== undefined,
    );
    const ana = browser(() => false);
    const form = await ana.open(app);
    expect(form.url).toStartWith(`${variables.SIGN_IN_URL}?redirect_uri=`);
    const home = await ana.submit(form, "/sign-in", { email: "ana@shop.test", password: "correct horse" });
    expect([home.url, home.html]).toEqual([`${app}/`, expect.stringContaining("hello ana@shop.test")]);
    expect((await ana.open(app)).html).toContain("hello ana@shop.test");
    // The access token has run out: the browser has only the refresh token.
    const host = new URL(app).host;
    const refresh =
      ana
        .cookies(host)
        .split("; ")
        .find((pair) => pair.startsWith("refresh=")) ?? "";
    const renewed = await fetch(app, { redirect: "manual", headers: { Cookie: refresh } });
    expect(await renewed.text()).toContain("hello ana@shop.test");
    const kept = renewed.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
    expect(kept.map((pair) => pair.split("=")[0]).sort()).toEqual(["refresh", "token"]);
    const signedOut = await fetch(`${app}/sign-out`, {
      method: "POST",
      headers: { Cookie: kept.join("; "), Origin: app },
    });
    expect(await signedOut.text()).toContain("signed out");
    const gone = await fetch(app, { redirect: "manual", headers: { Cookie: kept.join("; ") } });
    expect(gone.headers.get("location")).toEndWith("/sign-in");
    const again = await ana.open(`${app}/sign-in`);
    await ana.submit(again, "/sign-in", { email: "ana@shop.test", password: "correct horse" });
    expect((await ana.open(app)).html).toContain("hello ana@shop.test");
    const foreign = await fetch(`${app}/callback?token=x&state=y`, { redirect: "manual" });
    expect(foreign.status).toBe(400);
    const env = { BERTH_ENDPOINT: `unix:${folder}/root/run/berth.sock` };
    await berth(["identity", "user", "ban", "ana@shop.test", "--instance", variables.INSTANCE ?? ""], { env });
    const after = await ana.open(app);
    expect(after.html).not.toContain("hello");
  } finally {
    run.kill();
    await run.exited;
  }
});

test("the lines of curl.sh verify, list and search", async () => {
  const variables = await prepare(3000);
  const ana = browser((host) => host === "localhost:3000");
  const form = await ana.open(
    `${variables.SIGN_IN_URL}?redirect_uri=${encodeURIComponent("http://localhost:3000/callback")}`,
  );
  const end = await ana.submit(form, "/sign-in", { email: "ana@shop.test", password: "correct horse" });
  const token = new URL(end.url).searchParams.get("token") ?? "";
  const run = Bun.spawn(["sh", snippet("curl.sh")], {
    env: environment({ ...variables, TOKEN: token }),
    stdout: "pipe",
  });
  const text = await new Response(run.stdout).text();
  expect(await run.exited).toBe(0);
  // The last line signs out.
  const after = await fetch(variables.VERIFY_URL ?? "", {
    method: "POST",
    headers: { "X-Service-Secret-Key": variables.SECRET_KEY ?? "" },
    body: JSON.stringify({ token }),
  });
  expect(await after.json()).toMatchObject({ data: { session: { status: "revoked" } } });
  const [verified, users, found, sessions] = JSON.parse(`[${text.replaceAll(/([}\]])([{[])/g, "$1,$2")}]`) as [
    Record<string, unknown>,
    unknown[],
    unknown[],
    unknown[],
  ];
  expect(verified).toMatchObject({ resource: "token", data: { valid: true, email: "ana@shop.test" } });
  expect(users).toMatchObject([{ data: { email: "ana@shop.test" } }]);
  expect(found).toMatchObject([{ data: { email: "ana@shop.test" } }]);
  expect(sessions).toMatchObject([{ data: { provider: "password", active: true } }]);
});

test("every block of code on the page is run here, or says that it is not", () => {
  const blocks = [...page.matchAll(/### ([^\n]+)\n([\s\S]*?)(?=\n##)/g)].filter(([, , body]) =>
    /```(?:js|sh|ruby)/.test(body ?? ""),
  );
  expect(blocks.map(([, title]) => title)).toContain("Rails");
  for (const [, title, body = ""] of blocks) {
    const isRun = /<!-- snippet: /.test(body) && body.includes("Tested.");
    expect([title, isRun || body.includes("Not tested.")]).toEqual([title, true]);
  }
});
