import { expect, test } from "bun:test";
import { join } from "node:path";
import { cli, pod } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const remotes = {
  remotes: {
    "eu-1": { host: "one.example", groups: ["eu"] },
    "eu-2": { host: "two.example", user: "ana", groups: ["eu"] },
    us: { host: "us.example" },
  },
};

/** The server plays all of them: each is asked once. */
async function onGroup(argv: string[], server: (nth: number) => unknown) {
  using place = folder({ "remotes.json": JSON.stringify(remotes) });
  let nth = 0;
  return await cli(argv, {
    remotesFile: join(place.path, "remotes.json"),
    server: ({ path }) => (path === "/pods" ? server(nth++) : undefined),
  });
}

const pods = (nth: number) => ({ pods: [pod(`shop-web.${nth}`)], degraded: [] });

test("what only reads is asked of each remote, in the order of the file", async () => {
  const { code, out, err, calls } = await onGroup(["ps", "-r", "eu"], pods);
  expect([code, err, calls.length]).toEqual([0, "", 2]);
  expect(out).toMatch(/^eu-1 \(one\.example\)\n.*\n.*shop-web\.0.*\n\neu-2 \(ana@two\.example\)\n.*\n.*shop-web\.1/);
});

test("in JSON it is one object, and a remote that fails does not hide the others", async () => {
  const good = await onGroup(["ps", "-r", "eu", "-o", "json"], pods);
  expect(Object.keys(JSON.parse(good.out).data.remotes)).toEqual(["eu-1", "eu-2"]);
  const failing = (nth: number) => (nth === 0 ? undefined : pods(nth));
  const bad = await onGroup(["ps", "-r", "eu", "-o", "json"], failing);
  expect(JSON.parse(bad.out)).toMatchObject({
    status: "error",
    error: "eu-1: no such thing",
    remotes: { "eu-1": { status: "error" }, "eu-2": { status: "ok", data: { pods: [{ name: "shop-web.1" }] } } },
  });
  expect(bad.code).toBe(1);
  const text = await onGroup(["ps", "-r", "eu"], failing);
  expect([text.code, text.err]).toEqual([1, "error: no such thing\n"]);
  expect(text.out).toContain("shop-web.1");
});

test.each([
  [["delete", "shop/web", "-y"], '"eu" is a group of remotes (eu-1, eu-2), and delete works on one: say which'],
  [["apply", "-f", "x.yaml"], "and apply works on one: say which"],
  [["get", "-w"], "say which one for -w, -o yaml and -o name"],
  [["pg:psql"], '"eu" is a group of remotes (eu-1, eu-2): say which one'],
])("%j is not for a group", async (argv, message) => {
  const { code, err, calls } = await onGroup(["-r", "eu", ...argv], pods);
  expect([code, calls]).toEqual([2, []]);
  expect(err).toContain(message);
});

test("a command of the machine itself does not go to a remote", async () => {
  const { code, err } = await onGroup(["-r", "us", "doctor"], pods);
  expect([code, err]).toEqual([2, "error: doctor works on its own machine: leave out -r\n"]);
  const move = await onGroup(["-r", "old", "move", "--to", "ssh://root@new"], pods);
  const line = "ssh -A old berth move --to ssh://root@new";
  expect([move.code, move.err]).toEqual([2, `error: move runs on the machine of the server; type: ${line}\n`]);
});
