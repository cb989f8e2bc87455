import { afterEach, beforeEach, expect, test } from "bun:test";
import { archiveOf, fileIn } from "../../../src/observability/service/files/archive.ts";
import type { FileInfo } from "../../../src/orchestration/api/files.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { readyPlaneTls } from "../../../src/local/plane-tls.ts";
import { addressOf, connectRaw } from "../../support/raw-client.ts";
import { waitFor } from "../../support/wait.ts";
import { temporaryFolder } from "../../support/haproxy.ts";
import { type FakeCommand, fakeCommand } from "../../support/fake-command.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;
let written: { folder: string; text: string }[];
let copies: FakeCommand[];
const file = "/files";
const path = `/pods/shop-web.abcde${file}`;

const there: Record<string, FileInfo> = {
  "/app": { path: "/app", kind: "folder", size_bytes: 0, mode: "755" },
  "/app/hi.txt": { path: "/app/hi.txt", kind: "file", size_bytes: 5, mode: "640" },
  "/app/link": { path: "/app/link", kind: "link", size_bytes: 0, mode: "777", link_target: "/app/hi.txt" },
  "/app/huge": { path: "/app/huge", kind: "file", size_bytes: 300 * 1024 * 1024, mode: "640" },
};

async function* once(text: string) {
  yield new TextEncoder().encode(text);
}

beforeEach(() => {
  written = [];
  copies = [];
  it = planeWorld({
    inside: {
      async stat(_, at) {
        const found = there[at];
        if (found === undefined) throw new Failure("not_found", `"${at}" does not exist`);
        return found;
      },
      read: async () => archiveOf({ name: "hi.txt", sizeBytes: 5, mode: 0o640, modifiedAt: 0 }, once("hello")),
      async look(_, command) {
        const ran = fakeCommand();
        ran.print(`./hi\n.txt\0\x001\0\x0081a4 5 0\n`);
        ran.exit(command.at(-2) === "/app" ? 0 : 3);
        return ran.session;
      },
      async write(_, folder) {
        const parts: Uint8Array[] = [];
        const copy = fakeCommand();
        copies.push(copy);
        const { session } = copy;
        return {
          ...session,
          write: async (bytes) => void parts.push(bytes),
          async exitCode() {
            const found = await fileIn(
              (async function* () {
                yield Buffer.concat(parts);
              })(),
            );
            const chunks: Uint8Array[] = [];
            for await (const part of found?.content ?? []) chunks.push(part);
            written.push({ folder, text: Buffer.concat(chunks).toString() });
            return 0;
          },
        };
      },
    },
  });
});
afterEach(() => it.close());

const audit = () => it.store.audit.list({ limit: 50 });

test("a folder is listed, with names as they are, and it is on record", async () => {
  const answer = await it.ask(`GET ${path}?path=/app/`, { token: await it.token(["config:reveal"]) });
  expect(answer.data).toEqual({
    path: "/app",
    entries: [{ name: "hi\n.txt", kind: "file", size_bytes: 5, mode: "644", modified_at: "1970-01-01T00:00:00.000Z" }],
    left_out: 0,
  });
  expect(audit()[0]).toMatchObject({ action: "GET /api/pat/v1/pods/:name/files", params: { path: "/app/" } });
});

test("a file is read, whole or in part, as a download that no browser runs", async () => {
  const token = await it.token(["config:reveal"]);
  const whole = await it.ask(`GET /pods/shop-web.abcde/file?path=/app/link`, { token });
  expect([whole.status, whole.text]).toEqual([200, "hello"]);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    "content-disposition": `attachment; filename="link"; filename*=UTF-8''link`,
    "content-type": "application/octet-stream",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  const part = await it.ask(`GET /pods/shop-web.abcde/file?path=/app/hi.txt&offset=1&length=3`, { token });
  expect([part.text, part.headers.get("x-file-size")]).toEqual(["ell", "5"]);
  expect((await it.ask(`GET /pods/shop-web.abcde/file?path=/app/hi.txt&offset=9`, { token })).text).toBe("");
  expect(audit()[0]).toMatchObject({ action: "GET /api/pat/v1/pods/:name/file", params: { path: "/app/hi.txt" } });
});

test("a file is written; a link stays and what it leads to is replaced", async () => {
  const token = await it.token(["exec"]);
  const other = await it.token(["exec"]);
  const put = (to: string, body: string, by = token) => {
    const headers = { "Content-Length": String(body.length) };
    return it.ask(`PUT /pods/shop-web.abcde/file?path=${to}`, { token: by, body, headers });
  };
  expect((await put("/app/new.txt", "fresh")).data).toEqual({ path: "/app/new.txt", size_bytes: 5 });
  expect((await put("/app/link", "again")).data).toEqual({ path: "/app/hi.txt", size_bytes: 5 });
  expect(written).toEqual([
    { folder: "/app", text: "fresh" },
    { folder: "/app", text: "again" },
  ]);
  expect(audit()[0]).toMatchObject({ action: "PUT /api/pat/v1/pods/:name/file", params: { path: "/app/link" } });
  expect((await put("/app", "x")).status).toBe(409);
  expect((await put("/none/x", "x", other)).status).toBe(404);
});

test.each([
  ["GET /pods/shop-web.abcde/file?path=/app/huge", "config:reveal", 413],
  ["GET /pods/shop-web.abcde/file?path=/app", "config:reveal", 409],
  ["GET /pods/shop-web.abcde/file?path=/none", "config:reveal", 404],
  ["GET /pods/shop-web.abcde/file?path=app", "config:reveal", 400],
  ["GET /pods/shop-web.abcde/file", "config:reveal", 400],
  ["GET /pods/shop-web.abcde/file?path=/app/hi.txt&offset=-1", "config:reveal", 400],
  ["GET /pods/shop-web.abcde/files?path=/app/hi.txt", "config:reveal", 409],
  ["GET /pods/shop-web.abcde/files?path=/app", "exec", 403],
  ["GET /pods/shop-web.abcde/file?path=/app/hi.txt", "read", 403],
  ["PUT /pods/shop-web.abcde/file?path=/app/x", "config:reveal", 403],
  ["PUT /pods/shop-web.abcde/file?path=/app/x&mode=1", "exec", 400],
])("%s with the scope %s is a %i", async (request, scope, status) => {
  expect((await it.ask(request, { token: await it.token([scope]) })).status).toBe(status);
});

test("a file goes over TLS too, as it comes", async () => {
  const { folder, remove } = temporaryFolder();
  const tls = await readyPlaneTls({ kind: "self-signed" }, { folder, now: Date.now() });
  const listener = it.listen({ tls: { cert: tls?.cert ?? "", key: tls?.key ?? "" } });
  const at = `https://localhost:${listener.address.split(":")[1]}/api/pat/v1/pods/shop-web.abcde/file?path=/app/new`;
  const headers = { Authorization: `Bearer ${await it.token(["exec"])}` };
  const body = "x".repeat(2 * 1024 * 1024);
  const put = await fetch(at, { method: "PUT", headers, body, tls: { ca: tls?.cert ?? "" } });
  expect([put.status, written[0]?.text.length]).toEqual([200, body.length]);
  await listener.stop(0);
  remove();
});

test("an upload that breaks off leaves no copy behind", async () => {
  const listener = it.listen();
  const client = await connectRaw(addressOf(listener.address));
  const token = await it.token(["exec"]);
  const head = [
    "PUT /api/pat/v1/pods/shop-web.abcde/file?path=/app/new HTTP/1.1",
    ...["Host: plane.test", `Authorization: Bearer ${token}`, "Content-Length: 100000"],
  ];
  await client.send(`${head.join("\r\n")}\r\n\r\n${"x".repeat(50_000)}`);
  await waitFor("the copy", () => copies.length === 1);
  client.abort();
  await waitFor("its end", () => copies[0]?.killed());
  expect(written).toEqual([]);
  await listener.stop(0);
});

test("a token that is limited to other apps reaches no files", async () => {
  const token = await it.token(["config:reveal", "exec"], { apps: ["other"] });
  for (const request of [`GET ${path}?path=/app`, "GET /pods/shop-web.abcde/file?path=/app/hi.txt"]) {
    expect((await it.ask(request, { token })).status).toBe(404);
  }
  const headers = { "Content-Length": "1" };
  const put = await it.ask("PUT /pods/shop-web.abcde/file?path=/app/x", { token, body: "x", headers });
  expect([put.status, written]).toEqual([404, []]);
});
