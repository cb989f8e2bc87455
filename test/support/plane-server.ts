import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deployment } from "./manifests.ts";
import { berth, type Server, serve } from "./executable.ts";

/** The executable with its observability plane on loopback, and no engine: what it costs without containers. */
export interface PlaneServer {
  root: string;
  url: string;
  server: Server;
  cli(...words: string[]): Promise<string>;
  token(scope?: string): Promise<string>;
  /** Stored manifests of apps without replicas, in two scopes. */
  apps(count: number): Promise<void>;
  /** Seconds of the processor since its start, user and system. */
  cpuSeconds(): number;
  /** Resident memory. */
  memoryBytes(): number;
  close(): Promise<void>;
}

/** `prepare` fills the folder before the server starts. */
export async function startPlaneServer(
  prepare: (root: string) => Promise<void> = async () => {},
): Promise<PlaneServer> {
  const folder = mkdtempSync(join(tmpdir(), "berth-plane-"));
  const root = join(folder, "root");
  mkdirSync(root, { mode: 0o700 });
  await prepare(root);
  const planes = ["--addr", "", "--identity-addr", "", "--observability-addr", "127.0.0.1:0", "--callback-port", "off"];
  const server = await serve(["--root", root, ...planes, "--docker-host", `unix://${root}/no-engine.sock`]);
  const { observability = [] } = server.ready.addresses as Record<string, string[]>;
  const socket = join(root, "run/berth.sock");
  const cli = async (...words: string[]) => {
    const { stdout, stderr, exitCode } = await berth(["--endpoint", `unix:${socket}`, ...words]);
    if (exitCode !== 0) throw new Error(`berth ${words.join(" ")}: ${stderr}`);
    return stdout;
  };
  return {
    ...{ root, server, cli, url: `http://${observability[0]}` },
    token: async (scope = "read") => (await cli("pat", "create", "--scope", scope)).split("\n")[0] ?? "",
    async apps(count) {
      const all = Array.from({ length: count }, (_, at) =>
        deployment(at % 4 === 0 ? "more" : "many", `app-${at}`, { replicas: 0 }),
      );
      for (let from = 0; from < count; from += 100) {
        const body = JSON.stringify(all.slice(from, from + 100));
        const response = await fetch("http://localhost/apply", { method: "POST", unix: socket, body });
        if (!response.ok) throw new Error(await response.text());
      }
    },
    cpuSeconds() {
      const [, fields = ""] = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ");
      const [user, system] = fields.split(" ").slice(11, 13);
      return (Number(user) + Number(system)) / 100;
    },
    memoryBytes() {
      const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1];
      return Number(kib) * 1_024;
    },
    async close() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
