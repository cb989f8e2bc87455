import { expect, test } from "bun:test";
import { type Call, cli } from "../../../support/cli.ts";

const link = { code: "abc", path: "/sign-in#link=abc", expires_at: "2026-01-01T00:01:00.000Z" };

async function ui(words: string[], { address = "0.0.0.0:8687", desktop = false } = {}) {
  const bodies: unknown[] = [];
  const opened: string[] = [];
  const server = ({ path, body }: Call): unknown => {
    if (path === "/system") return { listeners: address === "" ? [] : [{ name: "observability", address }] };
    if (path !== "/ui/links") return undefined;
    bodies.push(body);
    return link;
  };
  const runLocal = async ({ argv }: { argv: readonly string[] }) => {
    opened.push(argv.at(-1) ?? "");
    return 0;
  };
  const scene = desktop ? { variables: { DISPLAY: ":0" }, typed: [] } : {};
  return { ...(await cli(["ui", ...words], { server, runLocal, ...scene })), bodies, opened };
}

test("ui prints a link on loopback and nothing else on stdout", async () => {
  const { out, err, code, bodies } = await ui([]);
  expect([out, code]).toEqual(["http://127.0.0.1:8687/sign-in#link=abc\n", 0]);
  expect(err).toContain("open it within a minute; it works once");
  expect(bodies).toEqual([{}]);
});

test("another address than every interface stays what it is", async () => {
  expect((await ui([], { address: "[::1]:9000" })).out).toBe("http://[::1]:9000/sign-in#link=abc\n");
});

test("scopes and apps are asked for", async () => {
  expect((await ui(["--scope", "read,exec", "--app", "shop"])).bodies).toEqual([
    { scopes: ["read", "exec"], apps: ["shop"] },
  ]);
});

test.skipIf(process.platform === "darwin")(
  "on a desktop the link is opened, unless it is only to be printed",
  async () => {
    expect((await ui([], { desktop: true })).opened).toEqual(["http://127.0.0.1:8687/sign-in#link=abc"]);
    expect((await ui(["--print"], { desktop: true })).opened).toEqual([]);
  },
);

test("a server without the plane says how to get it", async () => {
  const { err, code } = await ui([], { address: "" });
  expect([err, code]).toEqual([expect.stringContaining("start it with --observability-addr"), 1]);
});
