import { describe, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const module = join(import.meta.dir, "../../../../src/client/basics/output.ts");

function script(body: string): string {
  return `import { inputIsTerminal, isUnread, openOutputs } from ${JSON.stringify(module)};
    const { stdout, stderr } = openOutputs();
    const big = new Uint8Array(1 << 20).fill(97);
    ${body}`;
}

/** A process of its own, with these as its stdout and stderr: ours belong to the test runner. */
function writer(body: string, stdio: { stdout?: "pipe" | number; stderr?: "pipe" | number } = {}) {
  return Bun.spawn([process.execPath, "-e", script(body)], {
    stdin: "ignore",
    stdout: stdio.stdout ?? "pipe",
    stderr: stdio.stderr ?? "pipe",
  });
}

async function textOf(stream: unknown): Promise<string> {
  return stream instanceof ReadableStream ? new Response(stream).text() : "";
}

describe("output", () => {
  test("a slow reader gets all of it, and the writer waits for it with little memory", async () => {
    const source = script(`
      const begun = performance.now();
      for (let n = 0; n < 48; n++) await stdout.write(big);
      const told = { ms: performance.now() - begun, rss: process.memoryUsage().rss };
      await stderr.write(Buffer.from(JSON.stringify(told)));`);
    // A pipe of the shell: what the test runner spawns is read ahead.
    const line = '"$0" -e "$1" | { sleep 0.5; wc -c; }';
    const child = Bun.spawn(["sh", "-c", line, process.execPath, source], { stdout: "pipe", stderr: "pipe" });
    expect(Number(await textOf(child.stdout))).toBe(48 << 20);
    const told = JSON.parse(await textOf(child.stderr));
    expect(told.ms).toBeGreaterThan(200);
    expect(told.rss).toBeLessThan(200 << 20);
  });

  test("what is written without waiting comes in order, all of it, before the process ends", async () => {
    const child = writer("for (let n = 0; n < 2_000; n++) void stdout.write(Buffer.from(`${n}\\n`));");
    const wanted = Array.from({ length: 2_000 }, (_, n) => `${n}\n`).join("");
    expect(await textOf(child.stdout)).toBe(wanted);
  });

  test("a reader that goes away rejects, and is told apart", async () => {
    const child = writer(`
      let caught;
      for (let n = 0; n < 64 && !caught; n++) await stdout.write(big).catch((error) => { caught = error; });
      await stderr.write(Buffer.from(\`\${caught.code} \${isUnread(caught)}\`));`);
    const reader = child.stdout instanceof ReadableStream ? child.stdout.getReader() : undefined;
    await reader?.read();
    await reader?.cancel();
    expect(await textOf(child.stderr)).toBe("EPIPE true");
  });

  test("a full disk rejects and is not a reader that went away", async () => {
    const full = openSync("/dev/full", "w");
    const child = writer(
      "await stdout.write(big).catch(async (error) => stderr.write(Buffer.from(`${error.code} ${isUnread(error)}`)));",
      { stdout: full },
    );
    closeSync(full);
    expect(await textOf(child.stderr)).toBe("ENOSPC false");
  });

  test("stdout and stderr that lead to one file keep their order, and what was there stays", async () => {
    const folder = mkdtempSync(join(tmpdir(), "output-"));
    const file = join(folder, "out");
    await Bun.write(file, "before\n");
    const both = openSync(file, "a");
    const child = writer(
      'for (let n = 0; n < 50; n++) { void stdout.write(Buffer.from(n + "o ")); void stderr.write(Buffer.from(n + "e ")); }',
      { stdout: both, stderr: both },
    );
    closeSync(both);
    await child.exited;
    const wanted = Array.from({ length: 50 }, (_, n) => `${n}o ${n}e `).join("");
    expect(readFileSync(file, "utf8")).toBe(`before\n${wanted}`);
    rmSync(folder, { recursive: true });
  });

  test("pipes, files and /dev/null are no terminals", async () => {
    const silent = openSync("/dev/null", "w");
    const child = writer(
      "await stderr.write(Buffer.from(JSON.stringify([inputIsTerminal(), stdout.isTerminal, stderr.isTerminal])));",
      { stdout: silent },
    );
    closeSync(silent);
    expect(await textOf(child.stderr)).toBe("[false,false,false]");
  });
});
