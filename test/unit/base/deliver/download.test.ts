import { afterAll, expect, test } from "bun:test";
import { createDownload } from "../../../../src/base/deliver/download.ts";
import { thrownBy } from "../../../support/failure.ts";

const asked: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    if (pathname === "/moved") return Response.redirect("/file", 302);
    if (pathname === "/gone") return new Response("secret text", { status: 404 });
    return new Response(new Uint8Array([0, 255, 128]));
  },
});
afterAll(() => server.stop(true));

const bounds = { timeoutMs: 2_000, bytesMax: 10 };
const make = (allowPrivate: boolean, addresses = ["127.0.0.1"]) =>
  createDownload({ fetch: (url, init) => fetch(url, init), resolve: async () => addresses, allowPrivate });
const at = (path: string) => `http://files.test:${server.port}${path}`;

test("a file comes as it is, from the address that was checked", async () => {
  expect([...(await make(true)(at("/file"), bounds))]).toEqual([0, 255, 128]);
});

test("no redirect is followed, a refusal is told without its text, and the bounds hold", async () => {
  asked.length = 0;
  const download = make(true);
  expect(await thrownBy(() => download(at("/moved"), bounds))).toMatchObject({ code: "invalid" });
  expect(await thrownBy(() => download(at("/gone"), bounds))).toMatchObject({ message: "the server answered 404" });
  expect(await thrownBy(() => download(at("/file"), { ...bounds, bytesMax: 2 }))).toMatchObject({ code: "too_large" });
  expect(asked).toEqual(["/moved", "/gone", "/file"]);
});

test("what is not https to a public address is never asked, and an open port answers as a closed one", async () => {
  asked.length = 0;
  const closed = make(false);
  const port = String(server.port);
  const told = async (address: string) => {
    const error = await thrownBy(() => closed(address, bounds));
    return [
      Reflect.get(error as object, "code"),
      String(Reflect.get(error as object, "message")).replaceAll(port, "1"),
    ];
  };
  expect(await told(at("/file"))).toEqual(["forbidden", "the address is not https"]);
  for (const host of ["127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1", "files.test", "0x7f.1", "2130706433"]) {
    const open = await told(`https://${host}:${port}/file`);
    expect([host, open]).toEqual([host, await told(`https://${host}:1/file`)]);
    expect([host, open[0]]).toEqual([host, "forbidden"]);
  }
  expect(asked).toEqual([]);
});
