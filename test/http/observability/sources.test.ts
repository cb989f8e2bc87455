import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextLimits } from "../../../src/config/context-limits.ts";
import { createContexts, type Contexts } from "../../../src/base/disk/contexts.ts";
import { resolveHost } from "../../../src/base/deliver/resolve-host.ts";
import { createSources } from "../../../src/local/source/sources.ts";
import type { Source } from "../../../src/orchestration/api/sources.ts";
import { type GitServer, startGitServer } from "../../support/git-server.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

setDefaultTimeout(60_000);

/** The plane over the real reader of source, which runs as a process of its own. */
let folder: string;
let contexts: Contexts;
let it: PlaneWorld;
let config: Record<string, string> = {};

function world(allowPrivate: boolean): PlaneWorld {
  return planeWorld({
    sources: createSources({
      folder,
      self: [process.execPath, join(import.meta.dir, "../../../src/main.ts")],
      resolve: resolveHost,
      allowPrivate,
      configOf: () => config,
      context: async (digest) => ({ digest, ...(await contexts.state(digest)) }),
      upload: async (digest, bytes, at) => ({ digest, ...(await contexts.append(digest, bytes, at)) }),
    }),
  });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-sources-"));
  contexts = createContexts(folder, contextLimits);
  config = {};
  it = world(false);
});
afterEach(() => {
  it.close();
  rmSync(folder, { recursive: true, force: true });
});

async function archive(
  files: Record<string, string>,
  link?: [path: string, target: string],
): Promise<Uint8Array<ArrayBuffer>> {
  const from = join(folder, "files");
  mkdirSync(from);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(from, path), text);
  if (link !== undefined) symlinkSync(link[1], join(from, link[0]));
  const made = Bun.spawnSync(["tar", "-cz", "-C", from, "."]);
  rmSync(from, { recursive: true });
  return new Uint8Array(made.stdout);
}

async function upload(token: string, body: Uint8Array<ArrayBuffer> | undefined, query = "scope=shop&name=web") {
  const response = await it.app.fetch(
    new Request(`http://plane.test/api/pat/v1/sources/upload?${query}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
    }),
  );
  const { data, error = "" } = (await response.json()) as { data?: Source; error?: string };
  return { status: response.status, data, error };
}

describe("an upload", () => {
  test("larger than other bodies becomes a folder that is built from, without its secrets", async () => {
    const token = await it.token(["actions"]);
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))
      .toString("base64")
      .repeat(1);
    const big = Array.from({ length: 30 }, () =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64"),
    );
    const body = await archive({ Dockerfile: "FROM a\nEXPOSE 8080\n", ".env": "KEY=1", noise, big: big.join("") });
    expect(body.length).toBeGreaterThan(1024 * 1024);
    const { status, data } = await upload(token, body);
    expect([status, data?.left_out, data?.found]).toEqual([200, [".env"], "Dockerfile"]);
    const [build] = data?.builds ?? [];
    expect(build).toMatchObject({ index: 0, files: 3, request: { dockerfile: "Dockerfile" } });
    expect(await contexts.state(build?.request.context ?? "")).toMatchObject({ complete: true });
    expect(data?.text).toContain("scope: shop\nname: web\n");
    expect(JSON.stringify(data)).not.toContain("KEY=1");
  });

  test("with manifests is described by them, and what they name outside of it is refused", async () => {
    const token = await it.token(["actions"]);
    const manifest = "kind: deployment\nscope: own\nname: api\nspec:\n  build: { target: web }\n";
    const { data } = await upload(token, await archive({ "berth.yaml": manifest, Dockerfile: "FROM a AS web\n" }));
    expect([data?.found, data?.text]).toEqual([
      ...["berth.yaml", "kind: deployment\nscope: own\nname: api\nspec:\n  build:\n    target: web\n"],
    ]);
    expect(data?.builds[0]?.request.target).toBe("web");
    const outside = manifest.replace("{ target: web }", "{ context: ../.. }");
    const refused = await upload(token, await archive({ "berth.yaml": outside, Dockerfile: "FROM a\n" }));
    expect([refused.status, refused.error]).toEqual([400, expect.stringContaining("../..")]);
  });

  test.each<[string, () => Promise<Uint8Array<ArrayBuffer> | undefined>, string]>([
    ["nothing", async () => undefined, "the body is empty"],
    ["no archive", async () => new Uint8Array(Buffer.from("hello ".repeat(200))), "neither tar nor zip"],
    ["a link out of it", () => archive({ Dockerfile: "FROM a" }, ["a", "/etc/passwd"]), "out of the folder"],
    ["nothing that shows a language", () => archive({ "a.txt": "a" }), "nothing to make them from"],
  ])("of %s is refused", async (_, body, why) => {
    const { status, error } = await upload(await it.token(["actions"]), await body());
    expect([status, error]).toEqual([400, expect.stringContaining(why)]);
  });

  test("that stands still holds up no other one", async () => {
    const token = await it.token(["actions"]);
    const left = new AbortController();
    const stalled = [1, 2].map(() => {
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
      const url = "http://plane.test/api/pat/v1/sources/upload?scope=shop&name=web";
      const headers = { Authorization: `Bearer ${token}` };
      return it.app.fetch(new Request(url, { method: "POST", headers, body, signal: left.signal }));
    });
    expect((await upload(token, await archive({ Dockerfile: "FROM a" }))).status).toBe(200);
    left.abort();
    expect((await Promise.all(stalled)).map(({ status }) => status)).toEqual([503, 503]);
  });

  test("is for tokens that may build the app, and has a limit", async () => {
    const limited = await it.token(["read", "actions"], { apps: ["back"] });
    expect(await upload(limited, await archive({ Dockerfile: "FROM a" }))).toMatchObject({ status: 403 });
    expect(await upload(await it.token(["read"]), await archive({ Dockerfile: "FROM a" }))).toMatchObject({
      status: 403,
    });
    const headers = { Authorization: `Bearer ${await it.token(["actions"])}`, "Content-Length": String(2 ** 40) };
    const url = "http://plane.test/api/pat/v1/sources/upload?scope=shop&name=web";
    const answer = await it.app.fetch(new Request(url, { method: "POST", headers, body: "x" }));
    expect(answer.status).toBe(413);
    const other = await it.app.fetch(
      new Request(url.replace("upload?", "git?"), { method: "POST", headers, body: "x" }),
    );
    expect(other.status).toBe(413);
  });
});

describe("a git repository", () => {
  let server: GitServer;
  const trusted = process.env.GIT_SSL_CAINFO;
  beforeAll(() => {
    server = startGitServer({ token: "s3cret-token" });
    process.env.GIT_SSL_CAINFO = server.ca;
  });
  afterAll(async () => {
    if (trusted === undefined) delete process.env.GIT_SSL_CAINFO;
    else process.env.GIT_SSL_CAINFO = trusted;
    await server.stop();
  });
  const fetchIn = async (plane: PlaneWorld, more: object = {}) => {
    const body = { scope: "shop", name: "web", url: server.url, ...more };
    return plane.ask("POST /sources/git", { token: await plane.token(["actions", "config:reveal"]), body });
  };

  test("on this machine is refused unless the operator allows it", async () => {
    const { port } = new URL(server.url);
    for (const url of [
      server.url,
      `https://127.0.0.1:${port}/shop.git`,
      "https://[::1]/a.git",
      "https://169.254.169.254/a",
    ]) {
      const { status, error } = await fetchIn(it, { url });
      expect([url, status, error]).toEqual([url, 403, expect.stringContaining("--allow-private-hooks")]);
    }
    expect(await fetchIn(it, { url: "http://example.com/a.git" })).toMatchObject({ status: 403 });
    expect(server.asked).toEqual([]);
  });

  test("is fetched with the token of the app's config, which is nowhere to be read", async () => {
    const open = world(true);
    const commit = server.commit("main", "Faster search\n\nmore", {
      Dockerfile: "FROM a\n",
      "deep/Dockerfile": "FROM b\n",
      ".env": "KEY=1",
    });
    expect(await fetchIn(open)).toMatchObject({
      status: 400,
      error: expect.stringContaining("not a repository that can be read"),
    });
    config = { GIT_TOKEN: "s3cret-token" };
    const { status, data, error, text } = await fetchIn(open, { token_key: "GIT_TOKEN", ref: "main" });
    expect([status, error ?? ""]).toEqual([200, ""]);
    expect(data).toMatchObject({ git: { commit, ref: "main", subject: "Faster search" }, left_out: [".env"] });
    expect(text + open.lines.join("")).not.toContain("s3cret-token");
    const deep = await fetchIn(open, { token_key: "GIT_TOKEN", ref: commit, folder: "deep" });
    expect((deep.data as Partial<Source>).builds?.[0]).toMatchObject({ files: 1 });
    const wrong = await fetchIn(open, { token_key: "GIT_TOKEN", ref: "gone" });
    expect([wrong.status, wrong.error]).toEqual([400, expect.stringContaining('no branch, tag or commit "gone"')]);
    expect(await fetchIn(open, { token_key: "OTHER" })).toMatchObject({ status: 409 });
    const body = { scope: "shop", name: "web", url: server.url, token_key: "GIT_TOKEN" };
    const unread = await open.ask("POST /sources/git", { token: await open.token(["actions"]), body });
    expect(unread).toMatchObject({ status: 403, error: expect.stringContaining("takes the scope config:reveal") });
    open.close();
  });

  test("with a link out of it is refused", async () => {
    const open = world(true);
    config = { GIT_TOKEN: "s3cret-token" };
    server.commit("evil", "evil", { Dockerfile: "FROM a\n" });
    const work = server.git("rev-parse", "--show-toplevel");
    symlinkSync("/etc/passwd", join(work, "passwd"));
    server.git("add", "-A");
    server.git("commit", "--quiet", "-m", "link");
    server.git("push", "--quiet", join(work, "../served/shop.git"), "HEAD:evil");
    const { status, error } = await fetchIn(open, { token_key: "GIT_TOKEN", ref: "evil" });
    expect([status, error]).toEqual([400, expect.stringContaining("out of the folder")]);
    open.close();
  });
});
