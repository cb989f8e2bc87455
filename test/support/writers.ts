import type { BlockRig } from "./blocks.ts";
import { waitFor } from "./wait.ts";

/** Clients that write a number again and again, and note each that was acknowledged. */
export interface Writers {
  /** Ends them; the numbers that were acknowledged. */
  stop(): Promise<number[]>;
  /** Resolves when one more write was acknowledged. */
  goOn(): Promise<void>;
}

/** Short enough for many writes within each step of a promotion; without it, three clients leave the databases no CPU. */
const pauseSeconds = 0.1;

let started = 0;

/**
 * Starts `count` of them in a container. `write` is a shell command that writes the number `$n`, and succeeds only where
 * the server has acknowledged that.
 */
export async function writers(
  berth: BlockRig,
  { container, write, count = 3 }: { container: string; write: string; count?: number },
): Promise<Writers> {
  const run = (script: string) => berth.docker(["exec", container, "sh", "-c", script]);
  // Numbers of an earlier call are there already.
  started += 1;
  const first = started * 100_000_000;
  const loop = `n=$1; while [ ! -e /tmp/writers/stop ]; do n=$((n + 1)); if ${write}; then echo $n >>/tmp/writers/$1; fi; sleep ${pauseSeconds}; done`;
  run(`rm -rf /tmp/writers; mkdir /tmp/writers; cat >/tmp/writer <<'BERTH_END'\n${loop}\nBERTH_END`);
  for (let at = 1; at <= count; at += 1) {
    berth.docker(["exec", "-d", container, "sh", "/tmp/writer", String(first + at * 1_000_000)]);
  }
  const acknowledged = () =>
    run("cat /tmp/writers/*000000 2>/dev/null || true").split("\n").filter(Boolean).map(Number);
  const goOn = async () => {
    const before = acknowledged().length;
    await waitFor("a write to be acknowledged", () => acknowledged().length > before, 60_000);
  };
  await goOn();
  return {
    goOn,
    async stop() {
      run("touch /tmp/writers/stop");
      await waitFor("the writers to end", () => run("pgrep -f /tmp/writer || true").trim() === "", 60_000);
      return acknowledged();
    },
  };
}
