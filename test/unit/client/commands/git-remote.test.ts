import { expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";

test("prints the commands for git, and asks no server", async () => {
  const { out, code, calls } = await cli(["git-remote", "shop", "deploy@shop.example.com:2222"]);
  expect([code, calls]).toEqual([0, []]);
  expect(out).toBe(
    [
      "git remote add berth ssh://deploy@shop.example.com:2222/shop",
      'git config remote.berth.receivepack "berth receive-pack"',
      'git config remote.berth.uploadpack "berth upload-pack"',
      "",
    ].join("\n"),
  );
});

test("for one app of a scope, under another name", async () => {
  const { out } = await cli(["git-remote", "shop/api", "deploy@host", "--name", "live", "-o", "json"]);
  expect(JSON.parse(out).data).toMatchObject({ name: "live", url: "ssh://deploy@host/shop/api" });
});

test.each([
  [["git-remote"], "say which scope"],
  [["git-remote", "Shop", "a@b"], "scope"],
  [["git-remote", "shop", "a@b", "more"], "say which scope"],
  [["git-remote", "shop", "a@$(id)"], "is not a host name"],
  [["git-remote", "shop", "a@b", "--name", "x; id"], "cannot be the name"],
  [["git-remote", "shop"], "say where the server is"],
])("%j is refused", async (argv, text) => {
  const { err, code } = await cli(argv);
  expect([code, err]).toEqual([2, expect.stringContaining(text)]);
});
