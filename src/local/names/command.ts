import { networkLimits } from "../../config/network-limits.ts";
import { complainNow, sayNow } from "../../client/basics/output.ts";
import { askFromOutside } from "./ask.ts";
import { serveNames } from "./serve.ts";
import { watchZone } from "./zone-file.ts";
import { writeAtomic } from "../../base/disk/atomic-write.ts";

const usage = `berth name-server ADDRESS ZONE-FILE PID-FILE VERSION

usage: berth name-server ADDRESS ZONE-FILE PID-FILE VERSION
       berth name-server ask OWN-ADDRESS ADDRESS NAME

The server runs this for the containers of its network. It answers that names of services do
not exist while no container has them, and refuses all other questions, for which Docker then
asks the name servers of the machine. It outlives the server, and ends when ZONE-FILE is gone.`;

const { names: limits } = networkLimits;

/**
 * `berth name-server`: a process of its own, so that containers resolve names while the server is stopped. A closed port
 * would not do: the kernel says so only once a second to one container, and otherwise Docker waits for seconds.
 */
export async function nameServerCommand(args: readonly string[]): Promise<number> {
  if (args[0] === "ask" && args.length === 4) return askFromOutside(args.slice(1));
  const [address = "", zoneFile = "", pidFile] = args;
  if (pidFile === undefined || args.length !== 4) {
    complainNow(usage);
    return args.includes("--help") || args.includes("-h") ? 0 : 2;
  }
  sayNow("loaded");
  const zone = watchZone(zoneFile);
  const [hostname = "", port = ""] = address.split(":");
  const server = await opened(() => serveNames({ hostname, port: Number(port), zone: zone.current, limits }));
  if (server instanceof Error) {
    sayNow(`failed ${server.message}`);
    return 1;
  }
  await writeAtomic(pidFile, `${process.pid}\n`, 0o600);
  sayNow("ready");
  while (zone.isThere()) await Bun.sleep(limits.aliveLookMs);
  server.close();
  return 0;
}

/** The name server of an earlier version may hold the port for a moment. */
async function opened<T>(open: () => Promise<T>): Promise<T | Error> {
  const until = performance.now() + limits.openMs;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error));
      if (performance.now() > until) return reason;
      await Bun.sleep(limits.openAgainMs);
    }
  }
}
