import { expect, test } from "bun:test";
import { createTerminal } from "../../../../src/client/basics/terminal.ts";

function screen(isTerminal: boolean) {
  const written: string[] = [];
  const terminal = createTerminal(
    {
      stdout: (text) => void written.push(`out:${text}`),
      stderr: (text) => void written.push(`err:${text}`),
      flushed: () => Promise.resolve(),
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

test("no text drives the terminal: only our own colours pass, and only where there are colours", () => {
  const evil = "a\x1b]52;c;aGk=\x07\x1b[2J\u009b\rb\u202e";
  const calm = "a\\u001b]52;c;aGk=\\u0007\\u001b[2J\\u009b\\u000db\\u202e";
  for (const color of [true, false]) {
    const [out, err]: [string[], string[]] = [[], []];
    const terminal = createTerminal(
      {
        stdout: (text) => void out.push(text),
        stderr: (text) => void err.push(text),
        flushed: () => Promise.resolve(),
        readLine: async () => undefined,
        ...{ stdinIsTerminal: true, stdoutIsTerminal: true, stderrIsTerminal: true },
        columns: () => 200,
      },
      { stdout: color, stderr: color },
    );
    terminal.out(terminal.style.red(evil));
    terminal.note(evil);
    terminal.prompt(evil);
    expect(out).toEqual([color ? `\x1b[31m${calm}\x1b[39m\n` : `${calm}\n`]);
    expect(err).toEqual([`${calm}\n`, calm]);
    terminal.block([evil]);
    expect(err.at(-1)).toEndWith(`\x1b[J${calm}\n`);
    // JSON stays the same JSON.
    terminal.out(JSON.stringify({ evil }));
    expect(JSON.parse(out.at(-1) ?? "")).toEqual({ evil });
  }
});

test("values go to a pipe byte for byte, and to a terminal without what drives it", () => {
  const value = "\x1b[2Jsecret\u009b\rline\n\u202e\x1b[31m";
  for (const isTerminal of [true, false]) {
    const { terminal, written } = screen(isTerminal);
    terminal.data(value);
    const calm = "\\u001b[2Jsecret\\u009b\\u000dline\n\\u202e\\u001b[31m";
    expect(written).toEqual([`out:${isTerminal ? calm : value}\n`]);
  }
});
