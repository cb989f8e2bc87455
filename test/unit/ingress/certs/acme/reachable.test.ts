import { expect, test } from "bun:test";
import { checkReachable, type ReachOptions } from "../../../../../src/ingress/certs/acme/reachable.ts";

/** What answers at each address; an address that is missing refuses connections. */
type Servers = Record<string, (text: string) => Response>;

const ours = (text: string) => new Response(text);
const other = () => new Response("welcome to nginx");

async function check(servers: Servers, more: Partial<ReachOptions> = {}) {
  const answers = new Map<string, string>();
  const asked: string[] = [];
  const options: ReachOptions = {
    name: "shop.example.com",
    challenge: {
      set: async (token, text) => void answers.set(token, text),
      clear: async (token) => void answers.delete(token),
    },
    resolve: async () => Object.keys(servers),
    addresses: () => ["5.6.7.8"],
    async fetch(url, init) {
      const { hostname, pathname } = new URL(url);
      asked.push(`${url} ${new Headers(init.headers).get("host")}`);
      const server = servers[hostname.replace(/[[\]]/g, "")];
      if (server === undefined) throw Object.assign(new Error("refused"), { code: "ConnectionRefused" });
      return server(answers.get(pathname.split("/").at(-1) ?? "") ?? "no such token");
    },
    timeoutMs: 1_000,
    token: "t0ken",
    signal: new AbortController().signal,
    ...more,
  };
  const outcome = await checkReachable(options).then(
    () => "fine",
    (error: Error) => error.message,
  );
  expect(answers.size).toBe(0);
  return { outcome, asked };
}

const refuses: Servers[string] = () => {
  throw Object.assign(new Error("refused"), { code: "ConnectionRefused" });
};

test("a name that leads here is fine, and is asked for as a CA does", async () => {
  expect(await check({ "5.6.7.8": ours })).toEqual({
    outcome: "fine",
    asked: ["http://5.6.7.8/.well-known/acme-challenge/t0ken shop.example.com"],
  });
});

test("a proxy in front that passes the request on is fine", async () => {
  expect((await check({ "9.9.9.9": ours })).outcome).toBe("fine");
});

test.each<[string, Servers, string]>([
  [
    "another server",
    { "1.2.3.4": other },
    "dns: shop.example.com resolves to 1.2.3.4, this server is 5.6.7.8. Port 80 there: answers with status 200, not as this server does",
  ],
  [
    "a dead address",
    { "1.2.3.4": refuses },
    "dns: shop.example.com resolves to 1.2.3.4, this server is 5.6.7.8. Port 80 there: connection refused",
  ],
  [
    "a program of this machine on port 80",
    { "5.6.7.8": other },
    "port 80: http://shop.example.com at 5.6.7.8 answers with status 200, not as this server does. Another program may hold the port",
  ],
  [
    "a closed port 80",
    { "5.6.7.8": refuses },
    "port 80: http://shop.example.com at 5.6.7.8: connection refused. Open port 80 in the firewall",
  ],
  [
    "an old IPv6 record beside the right IPv4 one",
    { "5.6.7.8": ours, "2a00::1": other },
    "dns: shop.example.com resolves to 2a00::1, this server is 5.6.7.8. Port 80 there: answers with status 200, not as this server does",
  ],
])("%s is told in words", async (_, servers, text) => {
  expect((await check(servers)).outcome).toBe(text);
});

test("an IPv6 address that cannot be reached from here harms nothing, as long as IPv4 leads here", async () => {
  expect((await check({ "5.6.7.8": ours, "2a00::1": refuses })).outcome).toBe("fine");
});

test("behind a router that does not lead back, the CA has the last word", async () => {
  const behind = { addresses: () => ["192.168.1.5"] };
  expect((await check({ "1.2.3.4": refuses }, behind)).outcome).toBe("fine");
  expect((await check({ "1.2.3.4": other }, behind)).outcome).toStartWith("dns: shop.example.com resolves to 1.2.3.4");
});

test("of an address inside that is not this server's, open and closed ports look the same", async () => {
  for (const address of ["10.0.0.9", "127.0.0.1", "169.254.169.254", "fd00::1"]) {
    const text = `dns: shop.example.com resolves to ${address}, this server is 5.6.7.8. Port 80 there: does not answer as this server does`;
    for (const server of [other, refuses]) expect((await check({ [address]: server })).outcome).toBe(text);
    // A private address of a load balancer that leads here is fine.
    expect((await check({ [address]: ours })).outcome).toBe("fine");
  }
});

test("a name without a record says where it should point", async () => {
  const text = "Add a DNS record that points to this server: 5.6.7.8";
  const missing = { resolve: () => Promise.reject(new Error("ENOTFOUND")) };
  expect((await check({}, missing)).outcome).toBe(`dns: shop.example.com does not resolve. ${text}`);
  expect((await check({})).outcome).toBe(`dns: shop.example.com has no address. ${text}`);
});

test("public addresses of the server are named first", async () => {
  const many = { addresses: () => ["172.17.0.1", "10.0.0.2", "10.0.0.3", "5.6.7.8"] };
  expect((await check({}, many)).outcome).toEndWith("points to this server: 5.6.7.8, 172.17.0.1, 10.0.0.2");
});

test("an answer without end is not read to its end", async () => {
  const endless = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          controller.enqueue(new Uint8Array(65_536).fill(97));
        },
      }),
    );
  expect((await check({ "5.6.7.8": endless })).outcome).toStartWith("port 80: ");
});
