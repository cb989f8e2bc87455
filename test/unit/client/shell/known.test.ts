import { describe, expect, test } from "bun:test";
import { type Call, cli, refusal } from "../../../support/cli.ts";

const plugin = { version: "1", aliases: [], kinds: [], commands: [], env: {}, enabled: true, description: "" };
const wipe = { name: "wipe", usage: "SCOPE/NAME", destructive: true };
const user = { id: "u-1", email: "ana@example.com", instance: "inst_a1b2c3" };

/** A server with one of each noun that a command asks about. */
function server({ method, path, query }: Call): unknown {
  if (method !== "GET") return refusal(500, "this was asked of the server, and must not be");
  if (path === "/pats") return { pats: [{ id: "a1B2c3", name: "ci" }] };
  if (path === "/plugins") {
    const origins = { backups: "installed", postgres: "bundled" };
    const plugins = Object.entries(origins).map(([name, origin]) => ({ ...plugin, name, origin, commands: [wipe] }));
    return { plugins, errors: ["odd: plugin.yml line 1"] };
  }
  if (path === "/people") return { people: [{ email: "ana@example.com" }] };
  if (path === "/identity/instances") return { instances: [{ id: "inst_a1b2c3", name: "shop", app: "shop" }] };
  if (path === "/identity/instances/inst_a1b2c3/keys") return { keys: [{ id: "key_abcdef" }] };
  if (path === "/identity/users") return { users: [user] };
  if (path === "/previews") return { previews: [{ of: "shop", branch: "new-cart" }] };
  if (path !== "/apply") return refusal(404, "there is none");
  const web = { kind: "deployment", scope: "shop", name: "web", spec: {}, metadata: { revision: 1 } };
  const isMeant = (["kind", "scope", "name"] as const).every((field) => (query[field] ?? web[field]) === web[field]);
  return isMeant ? [web] : [];
}

const commands = [
  ["pat revoke", "a1B2c4", "a1B2c3"],
  ["plugins remove", "bakcups", "backups"],
  ["people remove", "anna@example.com", "ana@example.com"],
  ["identity key delete", "key_abcdfe", "key_abcdef"],
  ["identity instance delete", "inst_a1b2c4", "inst_a1b2c3"],
  ["identity user delete", "anna@example.com", "ana@example.com"],
  ["preview delete shop", "new-card", "new-cart"],
  ["domains remove", "shop/wbe www.example.com", "shop/web"],
  ["delete", "shop/wbe", "shop/web"],
  ["backups:wipe", "shop/wbe", "shop/web"],
  ["ingress move --to none", "shop/wbe", ""],
  ["remote remove", "none", ""],
] as const;

describe("a command that asks, for a name that does not exist", () => {
  test.each(commands)("%s %s asks nothing, changes nothing and names the nearest", async (command, name, near) => {
    for (const scene of [{ typed: ["y"] }, { autoApprove: false }]) {
      const { code, err, calls } = await cli([...command.split(" "), ...name.split(" ")], { server, ...scene });
      if (near !== "") expect(err).toContain(`did you mean "${near}"?`);
      expect(err).not.toContain("[y/N]");
      expect(err).not.toContain("no terminal");
      expect(code).toBeOneOf([1, 2]);
      expect(calls.filter(({ method }) => method !== "GET")).toEqual([]);
    }
  });

  test.each([
    ["pat revoke zzzzzz", 'no token "zzzzzz"; see: berth pat list'],
    ["pat revoke ci", '"ci" is the name of a token: write its id, a1B2c3'],
    ["plugins remove postgres", "is part of the server and cannot be removed: berth plugins disable postgres"],
  ])("%s says what to do", async (words, text) => {
    const { code, err } = await cli(words.split(" "), { server, typed: ["y"] });
    expect([code, err]).toEqual([1, expect.stringContaining(text)]);
  });

  test("a plugin whose plugin.yml cannot be read is in no list, and is removed after a yes", async () => {
    const { calls } = await cli(["plugins", "remove", "odd"], { server, typed: ["y"] });
    expect(calls.some(({ method }) => method === "DELETE")).toBe(true);
  });

  test("plugins rm and people rm are remove, and plugins ls and pat ls are list", async () => {
    for (const words of [
      ["plugins", "rm", "bakcups"],
      ["people", "rm", "anna@example.com"],
    ]) {
      expect((await cli(words, { server, typed: ["y"] })).err).toContain("did you mean");
    }
    for (const words of [
      ["plugins", "ls"],
      ["pat", "ls"],
      ["preview", "list"],
    ]) {
      expect((await cli(words, { server })).err).not.toContain("unknown command");
    }
  });

  test("env push names the nearest app before it asks, because config may come first", async () => {
    const { err } = await cli(["env", "push", "shop/wbe", "-"], {
      server: (call: Call) => (call.path === "/config" ? { vars: {} } : server(call)),
      stdin: "A=1\n",
      autoApprove: false,
    });
    expect(err).toContain('Did you mean "shop/web"?');
    expect(err.indexOf("Did you mean")).toBeLessThan(err.indexOf("no terminal"));
  });
});
