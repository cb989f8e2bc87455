import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { direct } from "../base/wire/outgoing.ts";
import type { InsideNetwork } from "../orchestration/controller/rollout/drill-pod.ts";

/** Exit code of a script whose port takes no connection. */
const refusedCode = 7;
const connect = (host: string, port: number | string) => `exec 3<>/dev/tcp/${host}/${port} || exit ${refusedCode}`;

const entered = (pid: number) => ["nsenter", `--net=/proc/${pid}/ns/net`, "--"];

/**
 * Asks what listens in the network of a process from inside of it, with the bash of this machine. `enter` is the command
 * that runs another one in the network of a process.
 */
export function createInsideNetwork(enter: (pid: number) => string[] = entered): InsideNetwork {
  return (pid) => {
    const run = (script: string) => [...enter(pid), "bash", "-c", script];

    /** Passes each connection to a socket on to a port in there. */
    function relay(path: string, { hostname, port }: { hostname: string; port: number }) {
      let isRefused = false;
      // bash gives a command in the background no input of its own accord.
      const script = `${connect(hostname, port)}; exec 4<&0; cat <&4 >&3 & cat <&3; kill $!`;
      const end = ({ pid }: Subprocess) => {
        try {
          process.kill(-pid, "SIGKILL");
        } catch {
          // All of its group have ended.
        }
      };
      const listener = Bun.listen<Subprocess<"pipe", "pipe", "ignore">>({
        unix: path,
        socket: {
          open(socket) {
            const pipes = { stdin: "pipe", stdout: "pipe", stderr: "ignore" } as const;
            const child = Bun.spawn(run(script), { ...pipes, detached: true });
            socket.data = child;
            const back = async () => {
              for await (const bytes of child.stdout) socket.write(bytes);
              isRefused = (await child.exited) === refusedCode;
              socket.end();
            };
            back().catch(() => socket.terminate());
          },
          async data({ data: child }, bytes) {
            try {
              child.stdin.write(bytes);
              await child.stdin.flush();
            } catch {
              // The port has closed: what it said is the answer.
            }
          },
          close: ({ data: child }) => end(child),
          error: (socket) => socket.terminate(),
        },
      });
      return { stop: () => listener.stop(), isRefused: () => isRefused };
    }

    return {
      async knock({ host, port }, limit) {
        const child = Bun.spawn(run(connect(host, port)), {
          ...{ stdin: "ignore", stdout: "ignore", stderr: "ignore", signal: limit, killSignal: "SIGKILL" },
        });
        const code = await child.exited;
        limit.throwIfAborted();
        if (code !== 0) throw new Error(code === refusedCode ? "connection refused" : "its network cannot be entered");
      },
      async fetch(url, init) {
        const { hostname, port, protocol } = new URL(url);
        const folder = await mkdtemp(join(tmpdir(), "berth-drill."));
        const unix = join(folder, "socket");
        const { stop, isRefused } = relay(unix, { hostname, port: Number(port || (protocol === "https:" ? 443 : 80)) });
        try {
          // The copy answers at another address than the one that its certificate names.
          return await direct(url, { ...init, redirect: "manual", unix, tls: { rejectUnauthorized: false } });
        } catch (error) {
          throw isRefused() ? new Error("connection refused", { cause: error }) : error;
        } finally {
          stop();
          await rm(folder, { recursive: true, force: true });
        }
      },
    };
  };
}
