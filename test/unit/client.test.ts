import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const main = join(import.meta.dir, "../../src/main.ts");
const folder = mkdtempSync(join(tmpdir(), "client-output."));
const source = { scope: "shop", name: "web", pod: "shop-web.a", replica_id: "a", release: "r", role: "" };
const storedLine = { ...source, at: "2026-01-31T13:05:00.000Z", stream: "stdout", level: "info", text: "paid" };
/** Stored lines without an end. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => {
    if (new URL(url).pathname !== "/logs/stream") return new Response("{}", { status: 404 });
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setImmediate(resolve));
        controller.enqueue(Buffer.from(`${JSON.stringify(storedLine)}\n`));
      },
    });
    return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
  },
});

afterAll(() => {
  server.stop(true);
  rmSync(folder, { recursive: true });
});

/** Runs a line of the shell in which `berth` is the program. */
async function shell(line: string): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const script = `berth() { "${process.execPath}" "${main}" "$@"; }; ${line}`;
  const child = Bun.spawn(["bash", "-c", script], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, HOME: folder, BERTH_ENDPOINT: `http://127.0.0.1:${server.port}`, BERTH_ROOT: folder },
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

/** Of the client, of a command of the machine itself, and one that waits for the server's lines. */
const writers = ["completion bash", "server unit", "doctor --help", "logs shop/web --stored -f"];

describe("a full disk is a sentence and an exit code", () => {
  for (const words of [...writers, "backup --help", "schema"])
    test(words, async () => {
      const { exitCode, stderr } = await shell(`berth ${words} > /dev/full`);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: "error: cannot write to stdout: no space left on the device\n",
      });
    });

  test("the exit code of a failure stays, and a full stderr changes none", async () => {
    expect((await shell("berth get --no-such-flag -o json > /dev/full")).exitCode).toBe(2);
    expect((await shell("berth --version 2> /dev/full")).exitCode).toBe(0);
    expect((await shell("berth get --no-such-flag 2> /dev/full")).exitCode).toBe(2);
    expect((await shell("berth server nothing 2> /dev/full")).exitCode).toBe(2);
  });

  test("a backup does not take the place of a device", async () => {
    const { exitCode, stderr } = await shell("berth backup /dev/full --force");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: 'error: "/dev/full" is not a regular file: name a file to write the backup to\n',
    });
  });
});

describe("a reader that goes away is no failure", () => {
  for (const words of writers)
    test(words, async () => {
      const { stdout, stderr } = await shell(`berth ${words} | head -n 1 > /dev/null; echo "\${PIPESTATUS[0]}"`);
      expect({ stdout, stderr }).toEqual({ stdout: "0\n", stderr: "" });
      const closed = await shell(`(sleep 0.05; berth ${words}; echo $? > ${folder}/code) | true; cat ${folder}/code`);
      expect(closed).toEqual({ exitCode: 0, stdout: "0\n", stderr: "" });
    });
});
