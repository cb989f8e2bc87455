import { describe, expect, test } from "bun:test";
import { type Call, cli, refusal, stored } from "../../../support/cli.ts";

let listen = { http: ["[::]:80"], https: ["[::]:443"] };
const ingress = { ...stored("ingress/shop/web"), spec: { hosts: ["a.example.com", "b.example.com"], tls: {} } };

function server({ path, query }: Call): unknown {
  if (path === "/ingress") return { proxy: { state: "running", listen }, sites: [] };
  if (path !== "/apply") return undefined;
  return query.name === "web" ? [ingress] : query.kind === "ingress" ? [] : query.name === "api" ? [ingress] : [];
}

interface Desk {
  variables?: Record<string, string>;
  typed?: string[];
  code?: number;
}

async function open(words: string[], { code = 0, ...desk }: Desk = {}) {
  const opened: (readonly string[])[] = [];
  const runLocal = async ({ argv }: { argv: readonly string[] }) => {
    opened.push(argv);
    return code;
  };
  return { ...(await cli(["open", ...words], { server, runLocal, ...desk })), opened };
}

const desktop = { variables: { DISPLAY: ":0" }, typed: [] };
const both = "https://a.example.com\nhttps://b.example.com\n";

describe("open", () => {
  test("prints every address and opens the first", async () => {
    const { out, code, opened } = await open(["shop/web"], desktop);
    expect([out, code]).toEqual([both, 0]);
    expect(opened.map((argv) => argv.at(-1))).toEqual(["https://a.example.com"]);
  });

  test.each<[string, string[], Desk]>([
    ["through a pipe", ["shop/web"], { variables: { DISPLAY: ":0" } }],
    ["with --print", ["shop/web", "--print"], desktop],
  ])("only prints %s", async (_, words, desk) => {
    expect(await open(words, desk)).toMatchObject({ out: both, code: 0, opened: [] });
  });

  test.skipIf(process.platform === "darwin")("only prints without a desktop, and through ssh", async () => {
    expect((await open(["shop/web"], { typed: [] })).opened).toEqual([]);
    const variables = { DISPLAY: ":10", SSH_CONNECTION: "192.0.2.1 1 192.0.2.2 22" };
    expect((await open(["shop/web"], { typed: [], variables })).opened).toEqual([]);
  });

  test("the port is part of the address where it is not the usual one", async () => {
    const before = listen;
    listen = { http: ["127.0.0.1:8080"], https: ["127.0.0.1:8443"] };
    const { out, opened } = await open(["shop/web"], desktop).finally(() => {
      listen = before;
    });
    expect(out).toBe("https://a.example.com:8443\nhttps://b.example.com:8443\n");
    expect(opened.map((argv) => argv.at(-1))).toEqual(["https://a.example.com:8443"]);
  });

  test("without a port where the server does not say where it listens", async () => {
    const refusing = (call: Call) => (call.path === "/ingress" ? refusal(403, "no permission") : server(call));
    expect((await cli(["open", "shop/web"], { server: refusing })).out).toBe(both);
  });

  test("a browser that does not start is told, and is no failure", async () => {
    const { err, code } = await open(["shop/web"], { ...desktop, code: 127 });
    expect([err, code]).toEqual([expect.stringMatching(/^no browser was opened: \S+ ended with exit code 127\n$/), 0]);
  });

  test("an app without a domain says how to get one; an unknown one is told", async () => {
    expect(await open(["shop/api"])).toMatchObject({
      code: 1,
      err: "error: shop/api has no address; give it a domain: berth domains add shop/api HOST\n",
    });
    expect((await open(["shop/none"])).err).toContain('no resource "shop/none"');
    expect((await open([])).code).toBe(2);
  });
});
