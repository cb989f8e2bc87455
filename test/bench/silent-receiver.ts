import { readFileSync } from "node:fs";

interface SilentReceiver {
  port: number;
  /** How many came so far, without the first few hundred, which wait. */
  lines(): number;
  stop(): Promise<void>;
}

/** A UDP port whose owner is asleep: the kernel drops what it does not take. Reading would cost the core of the load. */
export async function silentReceiver(): Promise<SilentReceiver> {
  const program = `const s = await Bun.udpSocket({ hostname: "127.0.0.1" }); console.log(s.port); setInterval(() => {}, 1e6);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  child.kill("SIGSTOP");
  const port = Number(new TextDecoder().decode(value));
  return {
    port,
    lines: () => droppedAt(port),
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Datagrams that came to a port and that nobody took; see proc_net(5).. */
function droppedAt(port: number): number {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/udp", "utf8")
    .split("\n")
    .map((row) => row.trim().split(/\s+/));
  const row = rows.find(([, local = ""]) => local.endsWith(end));
  if (row === undefined) throw new Error(`no socket on UDP port ${port}`);
  return Number(row.at(-1));
}
