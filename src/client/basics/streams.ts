import { inputIsTerminal, type Output, type Outputs } from "./output.ts";
import { textOf } from "./read-bounded.ts";
import type { Streams } from "./terminal.ts";

/** The process's own streams. What cannot be written is in `lost` of the output. */
export function processStreams({ stdout, stderr }: Outputs): Streams {
  const columnsOf = (output: Output, stream: () => NodeJS.WriteStream) =>
    output.isTerminal ? stream().columns : undefined;
  return {
    stdout: stdout.later,
    flushed: async () => {
      const lost = await stdout.lost();
      if (lost !== undefined) throw lost;
    },
    stderr: stderr.later,
    readLine,
    stdinIsTerminal: inputIsTerminal(),
    stdoutIsTerminal: stdout.isTerminal,
    stderrIsTerminal: stderr.isTerminal,
    columns: () => columnsOf(stdout, () => process.stdout) ?? columnsOf(stderr, () => process.stderr),
  };
}

/** Everything on stdin. Fails where that is not UTF-8. */
export async function readStdin(): Promise<string> {
  return textOf(await Bun.stdin.bytes(), "stdin");
}

/** One line: a terminal hands over whole lines. Ends without one at end of file, and when the command is interrupted. */
function readLine(signal: AbortSignal): Promise<string | undefined> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const finish = (line: string | undefined) => {
      stdin.off("data", take).off("end", none);
      signal.removeEventListener("abort", none);
      stdin.pause();
      resolve(line);
    };
    const take = (chunk: Buffer) => finish(chunk.toString());
    const none = () => finish(undefined);
    stdin.on("data", take).on("end", none);
    signal.addEventListener("abort", none);
    stdin.resume();
  });
}
