import { describe, expect, test } from "bun:test";
import type { Command } from "../../../../src/client/shell/command.ts";
import { loaded, verbs } from "../../../../src/client/entry/table.ts";
import { type Call, cli } from "../../../support/cli.ts";

/** Every command, narrower ones after the one they are of. */
async function allCommands(): Promise<{ path: string; command: Command }[]> {
  const within = (command: Command, path: string): { path: string; command: Command }[] => [
    { path, command },
    ...(command.commands ?? []).flatMap((inner) => within(inner, `${path} ${inner.name}`)),
  ];
  const found = await Promise.all(verbs.map(async (verb) => within(await loaded(verb), verb.name)));
  return found.flat();
}

/** Commands that list without the word. */
const others = ["get", "ps", "stats", "events", "releases", "locks", "certs", "identity user search", "identity audit"];

test("every command that lists has -o yaml, -o name and --watch", async () => {
  for (const { path, command } of await allCommands()) {
    const saysList = command.usage.some((line) => /\blist\b|\bls\b/.test(line.replace(/ \[?SCOPE.*/, "")));
    if (!saysList && !others.includes(path)) continue;
    const hasWatch = command.flags.some(({ name, short }) => name === "watch" && short === "w");
    expect([path, command.yaml, command.names, hasWatch]).toEqual([path, true, true, true]);
  }
});

const server = ({ path }: Call): unknown => {
  switch (path) {
    case "/builds":
      return { builds: [build("a1"), build("b2")] };
    case "/locks":
      return { locks: [lock("shop"), lock("data", "db")] };
    case "/certificates":
      return { certificates: [] };
    case "/config":
      return { vars: { B: "two", A: "one" } };
    default:
      return undefined;
  }
};
const build = (id: string) => ({
  id,
  scope: "shop",
  name: "web",
  status: "succeeded",
  started_at: "2026-01-01T00:00:00Z",
});
const lock = (scope: string, name?: string) => ({
  scope,
  ...(name && { name }),
  reason: "x",
  actor: "ana",
  since: "2026-01-01T00:00:00Z",
});

describe("lists", () => {
  test.each([
    [["build", "list", "-o", "name"], "a1\nb2\n"],
    [["locks", "-o", "name"], "shop\ndata/db\n"],
    [["certs", "-o", "name"], ""],
    [["config", "list", "shop/web", "-o", "name"], "B\nA\n"],
    [["config", "list", "shop/web", "-o", "yaml"], "key: B\n---\nkey: A\n"],
  ])("%j", async (words, out) => {
    const answer = await cli(words, { server });
    expect([answer.out, answer.code]).toEqual([out, 0]);
  });

  test("-o yaml has a document for each row", async () => {
    const { out } = await cli(["locks", "-o", "yaml"], { server });
    expect(out).toBe(
      "scope: shop\nreason: x\nactor: ana\nsince: 2026-01-01T00:00:00Z\n---\nscope: data\nname: db\nreason: x\nactor: ana\nsince: 2026-01-01T00:00:00Z\n",
    );
  });

  test.each([
    [["certs", "renew", "shop.example", "-o", "yaml"], "-o yaml is for lists: berth certs list"],
    [["config", "set", "shop/web", "A=1", "-o", "name"], "-o name is for lists: berth config list REF"],
    [["events", "-f", "-o", "name"], "-o name does not go with -f"],
    [["build", "log", "shop/web", "a1", "-w"], 'unknown flag "-w"; see: berth build log --help'],
  ])("%j is refused before anything is asked", async (words, text) => {
    const { err, code, calls } = await cli(words, { server });
    expect([code, calls]).toEqual([2, []]);
    expect(err).toContain(text);
  });

  test("-w prints again when what is listed has changed, not when only its age has", async () => {
    let looks = 0;
    const changing = (call: Call) => {
      looks += 1;
      return { locks: looks < 3 ? [lock("shop")] : [lock("shop"), lock("data", "db")], path: call.path };
    };
    const onSleep = (passedMs: number, interrupt: () => void) => {
      if (passedMs > 10_000) interrupt();
    };
    const { out, code } = await cli(["locks", "-w"], { server: changing, onSleep });
    expect([out.match(/^WHAT/gm)?.length, out.match(/data\/db/g)?.length, code]).toEqual([2, 1, 130]);
  });
});
