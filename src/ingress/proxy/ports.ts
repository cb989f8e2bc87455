import { holderOf, holdersOf, listeningOn, type PortHolder, portTaken } from "../../base/machine/port-holder.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { Log } from "../../base/words/log.ts";
import type { Refused } from "../core/change.ts";
import type { Table, TcpSite } from "../core/table.ts";

/**
 * The table without the TCP sites whose address the machine does not give. HAProxy starts with all of its ports or not
 * at all, and a load that fails pauses every site: so each new port is tried before HAProxy hears of it. Ports that it
 * has already (`had`; undefined: not known) cannot be tried, and need not be.
 */
export async function bindable(
  table: Table,
  had: readonly TcpSite[] | undefined,
): Promise<{ table: Table; refused: Refused[] }> {
  const refused: Refused[] = [];
  const tcp: TcpSite[] = [];
  for (const site of table.tcp) {
    const isHad = had?.some(({ listen }) => listen === site.listen) === true;
    const problem = isHad ? undefined : await bindProblem(site, had);
    if (problem === undefined) tcp.push(site);
    else refused.push({ site: site.id, problem: `tcp.port: ${problem}` });
  }
  return { table: { ...table, tcp }, refused };
}

/** HAProxy shares a port with itself, so that only another program's counts. */
async function bindProblem({ listen }: TcpSite, had: readonly TcpSite[] | undefined): Promise<string | undefined> {
  const { host, port } = partsOf(listen);
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const mayBeOwn = had === undefined || had.some((other) => partsOf(other.listen).port === port);
    if (code === "EADDRINUSE") {
      return mayBeOwn ? undefined : portTaken(listen, await holderOf(await listeningOn(listen)));
    }
    return `${listen} cannot be listened on (${code}); name an address of this machine`;
  }
}

/** `:6380` is every IPv4 address. */
function partsOf(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(":");
  const host = listen.slice(0, colon).replace(/^\[|\]$/g, "");
  return { host: host === "" ? "0.0.0.0" : host, port: Number(listen.slice(colon + 1)) };
}

interface PortGuard {
  /** Fails `conflict` where HAProxy must not be started, because another program has one of its ports. */
  mustBeFree(table: Table): Promise<void>;
  /** Writes to the log where another program shares a port of the HAProxy that runs. */
  tellShared(table: Table | undefined): Promise<void>;
}

/**
 * HAProxy shares its ports with every other HAProxy, such as one that a server left whose root was moved. Visitors would
 * get the one or the other by turns, so the kernel is asked who has a port. `config` is the path of our configuration,
 * `master` answers with the pid of our master.
 */
export function createPortGuard(
  { config, master }: { config: string; master: () => Promise<number | undefined> },
  log: Log,
): PortGuard {
  /** A worker whose master was killed ends by itself. */
  const isOrphan = ({ command, program, startedBy }: PortHolder) =>
    command.includes(config) && startedBy.program !== program;
  return {
    async mustBeFree(table) {
      const problem = await taken(table, isOrphan);
      if (problem !== undefined) throw new Failure("conflict", problem);
    },
    async tellShared(table) {
      const own = await master();
      if (table === undefined || own === undefined) return;
      const isOwn = (holder: PortHolder) => [holder.pid, holder.startedBy.pid].includes(own) || isOrphan(holder);
      const problem = await taken(table, isOwn);
      if (problem !== undefined) log.warn("visitors get another program by turns: it shares a port", { problem });
    },
  };
}

async function taken({ listen, tcp }: Table, isOwn: (holder: PortHolder) => boolean): Promise<string | undefined> {
  for (const address of [...listen.http, ...listen.https, ...tcp.map((site) => site.listen)]) {
    const sockets = await listeningOn(address);
    const holders = await Array.fromAsync(holdersOf(sockets));
    const other = holders.find((holder) => !isOwn(holder));
    if (other !== undefined || (sockets.length > 0 && holders.length === 0)) return portTaken(address, other);
  }
  return undefined;
}
