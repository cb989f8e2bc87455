/** A folder that a command writes to, and what gets the bytes that are there on the disk, now and then. */
export interface Watched {
  folder: string;
  onBytes(bytes: number): void;
}

/** Counts what is on the disk below a folder, each `everyMs`, until the returned function is called; large folders less often. */
export function watchBytes({ folder, onBytes }: Watched, everyMs: number): () => void {
  let timer: Timer | undefined;
  let isOver = false;
  async function look(): Promise<void> {
    const begunAt = performance.now();
    const words = ["nice", "-n", "10", "du", "--summarize", "--one-file-system", "--block-size=1", folder];
    const child = Bun.spawn(words, { cwd: "/", stdin: "ignore", stdout: "pipe", stderr: "ignore" });
    const bytes = Number.parseInt(await new Response(child.stdout).text(), 10);
    if (isOver) return;
    if (!Number.isNaN(bytes)) onBytes(bytes);
    again(Math.max(everyMs, 10 * (performance.now() - begunAt)));
  }
  const again = (ms: number) => {
    timer = setTimeout(() => void look().catch(() => undefined), ms);
  };
  again(everyMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
