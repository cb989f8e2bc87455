import type { Refused } from "../core/change.ts";
import type { Table, TcpSite } from "../core/table.ts";

/**
 * The table without the TCP sites whose address the machine does not give. HAProxy starts with all of its ports or not
 * at all, and a load that fails pauses every site: so each new port is tried before HAProxy hears of it. Ports that it
 * has already (`had`; undefined: not known) cannot be tried, and need not be.
 */
export function bindable(table: Table, had: readonly TcpSite[] | undefined): { table: Table; refused: Refused[] } {
  const refused: Refused[] = [];
  const tcp = table.tcp.filter((site) => {
    const problem = had?.some(({ listen }) => listen === site.listen) === true ? undefined : bindProblem(site, had);
    if (problem !== undefined) refused.push({ site: site.id, problem: `tcp.port: ${problem}` });
    return problem === undefined;
  });
  return { table: { ...table, tcp }, refused };
}

/** HAProxy shares a port with itself, so that only another program's counts. */
function bindProblem({ listen }: TcpSite, had: readonly TcpSite[] | undefined): string | undefined {
  const { host, port } = partsOf(listen);
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const mayBeOwn = had === undefined || had.some((other) => partsOf(other.listen).port === port);
    if (code === "EADDRINUSE") return mayBeOwn ? undefined : `${listen} is in use by another program; use another port`;
    return `${listen} cannot be listened on (${code}); name an address of this machine`;
  }
}

/** `:6380` is every IPv4 address. */
function partsOf(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(":");
  const host = listen.slice(0, colon).replace(/^\[|\]$/g, "");
  return { host: host === "" ? "0.0.0.0" : host, port: Number(listen.slice(colon + 1)) };
}
