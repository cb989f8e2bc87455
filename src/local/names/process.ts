import { pidWith } from "../../base/machine/pid-file.ts";
import { networkLimits } from "../../config/network-limits.ts";

interface ProcessParts {
  /** Program and first words of this program. */
  self: readonly string[];
  zoneFile: string;
  pidFile: string;
  /** Another version is replaced. */
  version: string;
}

export interface NameProcess {
  /** Whether it runs and serves the address. An earlier server may have started it. */
  isUp(address: string): boolean;
  /** Starts it where none of this version serves this address. Resolves with what is wrong, or undefined. */
  ensure(address: string): Promise<string | undefined>;
}

const { names: limits } = networkLimits;
const verb = "name-server";

/** The process of the name server, which outlives the server. */
export function createNameProcess({ self, zoneFile, pidFile, version }: ProcessParts): NameProcess {
  const isUp = (address: string) => isServing({ pidFile, zoneFile }, address, version);
  return {
    isUp,
    async ensure(address) {
      if (isUp(address)) return undefined;
      const child = Bun.spawn([...self, verb, address, zoneFile, pidFile, version], {
        cwd: "/",
        stdin: "ignore",
        stdout: "pipe",
        stderr: "ignore",
        detached: true,
      });
      child.unref();
      const late = setTimeout(() => child.kill("SIGKILL"), limits.proofMs);
      let text = "";
      try {
        const decoder = new TextDecoder();
        for await (const part of child.stdout) {
          text += decoder.decode(part, { stream: true });
          // Its port is free for a moment only: the next one is loaded by then.
          if (text.startsWith("loaded\n")) stopNameServer(pidFile, zoneFile, child.pid);
          if (text.includes("ready\n")) return undefined;
        }
        return /^failed (.*)$/m.exec(text)?.[1] ?? "its process ended early";
      } finally {
        clearTimeout(late);
      }
    },
  };
}

/** Whether the name server of a root runs and serves the address; with a version, whether it is of that one. */
export function isServing(
  { pidFile, zoneFile }: Pick<ProcessParts, "pidFile" | "zoneFile">,
  address: string,
  version?: string,
): boolean {
  return pidWith(pidFile, [address, zoneFile, version ?? verb]) !== undefined;
}

/** Ends the name server of a root, but not the process `except`. */
function stopNameServer(pidFile: string, zoneFile: string, except?: number): void {
  const pid = pidWith(pidFile, [verb, zoneFile]);
  if (pid === undefined || pid === except) return;
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // It has just ended.
  }
}
