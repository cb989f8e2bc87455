import { expect, test } from "bun:test";
import { join } from "node:path";
import { cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

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
  ["/srv/berth/run/berth.sock", "berth receive-pack --root /srv/berth"],
  ["/srv/a~b=c/run/berth.sock", "berth receive-pack --root '/srv/a~b=c'"],
  ["/run/elsewhere.sock", "berth receive-pack"],
])("the socket %s of a stored remote says where the server has its state", async (socket, receive) => {
  using at = folder({ "remotes.json": JSON.stringify({ remotes: { lab: { host: "lab", socket } } }) });
  const { out, err } = await cli(["git-remote", "shop", "lab"], { remotesFile: join(at.path, "remotes.json") });
  expect(out.split("\n").slice(1)).toEqual([
    `git config remote.berth.receivepack "${receive}"`,
    `git config remote.berth.uploadpack "${receive.replace("receive", "upload")}"`,
    "",
  ]);
  const told = `note: ${socket} does not end in /run/berth.sock: write --root`;
  expect(err.startsWith(told)).toBe(receive === "berth receive-pack");
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
