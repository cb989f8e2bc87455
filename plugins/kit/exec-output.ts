/** Longest output of a command that is kept; more ends it as a fault. */
const outputBytesMax = 8 * 1024 * 1024;

/** How much of standard error is kept for the error text. */
const stderrLettersMax = 64 * 1024;

/** What a command has said. */
export interface Output {
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
  /** All output of the command. Reports a last line of standard error that has no line break. */
  end(): { stdout: string; stderr: string };
}

/** Keeps what a command says, and tells lines of standard error as they come. */
export function collectOutput(onLine: ((line: string) => void) | undefined, fail: (how: string) => void): Output {
  const out: Uint8Array[] = [];
  let outBytes = 0;
  const decoder = new TextDecoder();
  let all = "";
  let open = "";
  return {
    stdout(bytes) {
      outBytes += bytes.length;
      if (outBytes > outputBytesMax) fail(`printed more than ${outputBytesMax} bytes`);
      else out.push(bytes);
    },
    stderr(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      all = (all + text).slice(-stderrLettersMax);
      const lines = (open + text).split("\n");
      open = (lines.pop() ?? "").slice(-stderrLettersMax);
      for (const line of lines) onLine?.(line);
    },
    end() {
      if (open !== "") onLine?.(open);
      return { stdout: Buffer.concat(out).toString(), stderr: all };
    },
  };
}
