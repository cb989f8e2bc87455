import type { PodSession } from "../../src/observability/service/platform.ts";

/** A command in a container, as a test plays it. */
export interface FakeCommand {
  session: PodSession;
  print(text: string, stream?: "stdout" | "stderr"): void;
  exit(code: number): void;
  /** Reads no more input. */
  stall(): void;
  /** Everything that came in. */
  input(): string;
  inputEnded(): boolean;
  sizes: { cols: number; rows: number }[];
  killed(): boolean;
  /** Parts of its output that were taken. */
  taken(): number;
}

type Part = { stream: "stdout" | "stderr"; bytes: Uint8Array };

export function fakeCommand(): FakeCommand {
  const waiting: Part[] = [];
  const sizes: { cols: number; rows: number }[] = [];
  let input = "";
  let inputEnded = false;
  let isStalled = false;
  let killed = false;
  let code: number | undefined;
  let taken = 0;
  let wake: () => void = () => undefined;
  const woken = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  async function* output(): AsyncGenerator<Part> {
    for (;;) {
      const part = waiting.shift();
      if (part !== undefined) {
        taken += 1;
        yield part;
      } else if (code !== undefined || killed) return;
      else await woken();
    }
  }
  return {
    session: {
      output: output(),
      async write(bytes) {
        if (isStalled) await new Promise(() => undefined);
        input += new TextDecoder().decode(bytes);
      },
      endInput() {
        inputEnded = true;
      },
      async resize(size) {
        sizes.push(size);
      },
      exitCode: async () => code ?? 137,
      async kill() {
        killed = code === undefined;
        wake();
      },
    },
    print(text, stream = "stdout") {
      waiting.push({ stream, bytes: new TextEncoder().encode(text) });
      wake();
    },
    exit(value) {
      code = value;
      wake();
    },
    stall() {
      isStalled = true;
    },
    input: () => input,
    inputEnded: () => inputEnded,
    sizes,
    killed: () => killed,
    taken: () => taken,
  };
}
