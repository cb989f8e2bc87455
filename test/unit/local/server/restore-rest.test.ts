import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Layout, layoutOf } from "../../../../src/base/disk/layout.ts";
import type { Machine } from "../../../../src/local/server/machine.ts";
import { restoreRest } from "../../../../src/local/server/restore-rest.ts";

const copies = "/mnt/disk/copies";

/** A restored server that answers at its socket, and a machine that writes down what it is asked. */
let home: string;
let layout: Layout;
let targets: object[];
let server: Bun.Server<undefined> | undefined;
let asked: { said: string[]; ran: string[]; words: string[] };

function start(): void {
  mkdirSync(dirname(layout.socket), { recursive: true });
  server ??= Bun.serve({
    unix: layout.socket,
    fetch: (request) => {
      const isSystem = request.url.endsWith("/system");
      return Response.json({ data: isSystem ? { version: "x", engine: { up: true } } : { targets } });
    },
  });
}
const machine = (systemd: boolean): Machine => ({
  has: () => true,
  exists: () => systemd,
  async run(command) {
    asked.ran.push(command.join(" "));
    start();
    return { exitCode: 0, stdout: "", stderr: "" };
  },
  ask: () => undefined,
  say(line) {
    asked.said.push(line);
    // A person reads the line and starts the server.
    if (line.startsWith("start the server")) start();
  },
  note: () => undefined,
});

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "rest."));
  layout = layoutOf(join(home, "root"));
  asked = { said: [], ran: [], words: [] };
  targets = [
    { name: "nas", url: "/elsewhere" },
    { name: "disk", url: copies },
  ];
});
afterEach(async () => {
  await server?.stop(true);
  server = undefined;
  rmSync(home, { recursive: true, force: true });
});

function rest({ code = 0, at, service = false }: { code?: number; at?: string; service?: boolean } = {}) {
  const client = async (words: readonly string[]) => {
    asked.words = [...words];
    return code;
  };
  const words = service ? ["--root", layout.root] : ["--root", "/opt/another"];
  const where = { layout, root: layout.root, from: copies, at };
  return restoreRest({ machine: machine(true), service: words, client, ...where });
}

test("the service of this folder is started, and the client asked for what is missing", async () => {
  expect(await rest({ service: true, at: "2026-11-28T14:05:00.000Z" })).toBe(0);
  expect(asked.ran).toEqual(["systemctl start berth.service"]);
  const words = "backup restore --all --yes --from disk --at 2026-11-28T14:05:00.000Z --endpoint";
  expect(asked.words.join(" ")).toBe(`${words} unix:${layout.socket}`);
  const [first, second, ...last] = asked.said;
  expect([first, second]).toEqual([
    expect.stringMatching(/^the server answers, after \d+\.\d s$/),
    expect.stringMatching(/^volumes and databases, after \d+\.\d s$/),
  ]);
  // A person confirms.
  expect(last).toEqual([expect.stringContaining(`then run berth restore --confirm --root ${layout.root}`)]);
  expect(last[0]).not.toContain("backup restore --all");
});

test("where the service is of another folder, a person is told what to start", async () => {
  expect(await rest()).toBe(0);
  expect(asked.ran).toEqual([]);
  expect(asked.said[0]).toBe(`start the server now, in another terminal: berth serve --root ${layout.root}`);
});

test("a target that the server knows by another address leaves it to ask all of its targets", async () => {
  targets = [{ name: "nas", url: "/elsewhere" }];
  await rest();
  expect(asked.words).not.toContain("--from");
});

test.each([
  [1, 1],
  [4, 1],
  [130, 130],
])("where the client ends with %p, so does the command with %p, and names the way on", async (code, ended) => {
  expect(await rest({ code })).toBe(ended);
  expect(asked.said.at(-1)).toContain("bring volumes that are missing back with berth backup restore --all --endpoint");
});
