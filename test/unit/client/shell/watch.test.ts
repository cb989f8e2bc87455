import { expect, test } from "bun:test";
import type { Context } from "../../../../src/client/shell/command.ts";
import { createTerminal } from "../../../../src/client/basics/terminal.ts";
import { watch } from "../../../../src/client/shell/watch.ts";

test.each([true, false])("a screen that is drawn in place is not driven by text in it; colours: %s", async (color) => {
  let drawn = "";
  const interrupt = new AbortController();
  const terminal = createTerminal(
    {
      ...{
        stdout: () => undefined,
        stderr: () => undefined,
        readLine: async () => undefined,
        columns: () => 80,
        flushed: () => Promise.resolve(),
      },
      ...{ stdinIsTerminal: true, stdoutIsTerminal: true, stderrIsTerminal: true },
    },
    { stdout: color, stderr: color },
  );
  const context = {
    terminal,
    rawTerminal: {
      size: () => ({ cols: 80, rows: 24 }),
      enterScreen: () => () => undefined,
      stdout: async (bytes: Uint8Array) => {
        drawn += Buffer.from(bytes).toString();
      },
    },
    clock: { now: () => 0, sleep: async () => interrupt.abort() },
    signal: interrupt.signal,
    json: false,
  } as unknown as Context;
  const text = `${terminal.style.red("web")} \x1b]52;c;aGk=\x07\u009b2J`;
  expect(await watch(context, { look: async () => ({ text, key: "" }), everyMs: 1 })).toBe(130);
  const web = color ? "\x1b[31mweb\x1b[39m" : "web";
  expect(drawn).toBe(`\x1b[H${web} \\u001b]52;c;aGk=\\u0007\\u009b2J\x1b[K\n\x1b[J`);
});
