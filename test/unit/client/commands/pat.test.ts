import { describe, expect, test } from "bun:test";
import { exitCodes } from "../../../../src/client/basics/failures.ts";
import { type Call, cli, refusal } from "../../../support/cli.ts";

const token = "pat_a1B2c3d4e5f6g7h8i9j0k1l2m3n4";
const record = {
  id: "a1B2c3",
  scopes: ["read", "actions"],
  name: "ci",
  apps: ["shop"],
  cidr: [],
  created_at: "2026-01-01T00:00:00.000Z",
  created_by: "ana@laptop",
};
const used = {
  ...record,
  last_used_at: "2026-01-01T00:00:00.000Z",
  last_used_ip: "192.0.2.1",
  last_used_agent: "curl/8",
};
const ended = { ...record, id: "zzzzzz", revoked_at: "2026-01-01T00:00:00.000Z" };

function pats() {
  const calls: Call[] = [];
  const server = (call: Call): unknown => {
    calls.push(call);
    const { method, path, query } = call;
    if (method === "POST") return { token, record };
    if (method === "DELETE") return { id: "a1B2c3", revoked_at: "2026-01-01T00:00:00.000Z" };
    if (path === "/pats") return { pats: query.all === "true" ? [used, ended] : [used] };
    return path === "/pats/a1B2c3" ? { pat: used } : refusal(404, "there is no token");
  };
  return { calls, run: async (...words: string[]) => cli(["pat", ...words], { server }) };
}

describe("pat", () => {
  test("create prints the token first, for scripts to take", async () => {
    const { calls, run } = pats();
    const { out, code } = await run("create", "ci", "--scope", "read,actions", "--app", "shop", "--expires", "90d");
    expect([out.split("\n")[0], code]).toEqual([token, 0]);
    expect(out).toContain("a1B2c3: read, actions; never expires");
    expect(out).toContain("shown once");
    expect(calls[0]?.body).toEqual({ name: "ci", scopes: ["read", "actions"], apps: ["shop"], expires: "90d" });
  });

  test("create reads by default", async () => {
    const { calls, run } = pats();
    await run("create");
    expect(calls[0]?.body).toEqual({ scopes: ["read"] });
  });

  test("create says how to limit a token that never ends, unless never was asked for", async () => {
    expect((await pats().run("create", "ci")).err).toBe(
      "! it works until it is revoked: --expires 90d makes one that ends\n",
    );
    expect((await pats().run("create", "ci", "--expires", "never")).err).toBe("");
    expect((await pats().run("create", "ci", "-o", "json")).err).toBe("");
  });

  test("list has no token in it", async () => {
    const { out } = await pats().run("list");
    expect(out).toMatch(/ID\s+NAME\s+SCOPES\s+APPS\s+AGE\s+LAST USED\s+ENDS/);
    expect(out).toMatch(/a1B2c3\s+ci\s+read,actions\s+shop\s+\S+\s+\S+\s+never/);
    expect((await pats().run("list", "--all")).out).toContain("revoked");
  });

  test("show tells the last use", async () => {
    const { out } = await pats().run("show", "a1B2c3");
    expect(out).toContain("2026-01-01 00:00:00Z from 192.0.2.1");
    expect(out).toContain("curl/8");
  });

  test("a whole token is cut to its id before it is sent", async () => {
    const { calls, run } = pats();
    await run("revoke", token, "-y");
    expect(calls.map(({ path }) => path)).toEqual(["/pats", "/pats/a1B2c3"]);
  });

  test("revoke asks first", async () => {
    const { calls, run } = pats();
    const { err, code } = await run("revoke", "a1B2c3");
    expect([err, code]).toEqual([expect.stringContaining("end token a1B2c3?"), exitCodes.refused]);
    expect(calls.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("rotate says when the old one ends", async () => {
    const { calls, run } = pats();
    expect((await run("rotate", "a1B2c3")).out).toContain("the old token a1B2c3 ends in 15m");
    expect((await run("rotate", "a1B2c3", "--grace", "0")).out).toContain("the old token a1B2c3 has ended");
    expect(calls.map(({ body }) => body)).toEqual([{}, { grace: "0" }]);
  });

  test.each([
    [["show"], "say which token"],
    [["list", "x"], '"x" is one word too many'],
    [["create", "a", "b"], '"b" is one word too many'],
  ])("%j is a usage error", async (words, text) => {
    const { err, code } = await pats().run(...words);
    expect([err, code]).toEqual([expect.stringContaining(text), 2]);
  });
});
