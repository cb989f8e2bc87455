import { docker } from "./dockerd.ts";

/**
 * Stops every process of a container, as a machine that hangs does; whatever is started in it afterwards runs. Not by
 * `docker pause`: an exec that begins at that moment is frozen too, and Docker 20.10 then waits for it for ever.
 * False where the container does not run.
 */
export function hang(dockerHost: string, container: string): boolean {
  const stopped = new Set<number>();
  for (;;) {
    const fresh = processesOf(dockerHost, container).filter((pid) => !stopped.has(pid));
    // What is stopped starts nothing more.
    if (fresh.length === 0) return stopped.size > 0;
    for (const pid of fresh) signal(pid, "SIGSTOP");
    for (const pid of fresh) stopped.add(pid);
  }
}

export function goOn(dockerHost: string, container: string): void {
  for (const pid of processesOf(dockerHost, container)) signal(pid, "SIGCONT");
}

function processesOf(dockerHost: string, container: string): number[] {
  const [, ...lines] = docker(dockerHost, ["top", container, "-eo", "pid"]).trim().split("\n");
  return lines.map(Number);
}

function signal(pid: number, name: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
