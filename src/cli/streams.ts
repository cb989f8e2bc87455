import type { Streams } from "./terminal.ts";

/** The process's own streams. A reader that goes away (`berth get | head`) is not an error. */
export function processStreams(): Streams {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    readLine,
    stdinIsTerminal: process.stdin.isTTY === true,
    stdoutIsTerminal: process.stdout.isTTY === true,
    stderrIsTerminal: process.stderr.isTTY === true,
    columns: () => process.stdout.columns ?? process.stderr.columns,
  };
}

/** Everything on stdin, as UTF-8. */
export function readStdin(): Promise<string> {
  return Bun.stdin.text();
}

/** One line: a terminal hands over whole lines. Ends without one at end of file or Ctrl-C. */
function readLine(): Promise<string | undefined> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const finish = (line: string | undefined) => {
      stdin.off("data", take).off("end", none);
      process.off("SIGINT", none);
      stdin.pause();
      resolve(line);
    };
    const take = (chunk: Buffer) => finish(chunk.toString());
    const none = () => finish(undefined);
    stdin.on("data", take).on("end", none);
    process.on("SIGINT", none);
    stdin.resume();
  });
}
