import { expect, test } from "bun:test";
import { createTerminal } from "../../../../src/client/shell/terminal.ts";

function screen(isTerminal: boolean) {
  const written: string[] = [];
  const terminal = createTerminal(
    {
      stdout: (text) => void written.push(`out:${text}`),
      stderr: (text) => void written.push(`err:${text}`),
      readLine: async () => undefined,
      stdinIsTerminal: isTerminal,
      stdoutIsTerminal: isTerminal,
      stderrIsTerminal: isTerminal,
      columns: () => 10,
    },
    { stdout: false, stderr: false },
  );
  return { terminal, written };
}

test("answers and notes go to their streams, a line each", () => {
  const { terminal, written } = screen(false);
  terminal.out("a");
  terminal.note("b");
  expect(written).toEqual(["out:a\n", "err:b\n"]);
});

test("a block is replaced in place, its lines cut to the screen", () => {
  const { terminal, written } = screen(true);
  terminal.block(["one", "a line too long"]);
  terminal.block(["two"]);
  terminal.block([]);
  expect(written).toEqual(["err:\x1b[Jone\na line t…\n", "err:\x1b[2A\r\x1b[Jtwo\n", "err:\x1b[1A\r\x1b[J"]);
});

test("a note comes out above the block", () => {
  const { terminal, written } = screen(true);
  terminal.block(["busy"]);
  terminal.note("news");
  expect(written.slice(1)).toEqual(["err:\x1b[1A\r\x1b[J", "err:news\n", "err:\x1b[Jbusy\n"]);
});

test("without a terminal there is no block, no width and nobody to ask", () => {
  const { terminal, written } = screen(false);
  terminal.block(["busy"]);
  expect(written).toEqual([]);
  expect([terminal.width, terminal.interactive, terminal.live]).toEqual([Number.POSITIVE_INFINITY, false, false]);
});
