/** What HAProxy counts itself, exactly, since it last loaded its files. */
export interface ProxyFigures {
  uptimeSeconds: number;
  /** Connections of visitors now. */
  connections: number;
  /** By backend. */
  backends: Map<string, BackendFigures>;
}

export interface BackendFigures {
  /** Requests; of a TCP port, connections. */
  requests: number;
  /** Answers of 500 and above. */
  failed: number;
  bytesIn: number;
  bytesOut: number;
  /** Requests that wait for a replica with a free connection. */
  queued: number;
  /** Requests and connections under way, with those that wait for a replica. */
  active: number;
  /** Server → requests under way. */
  servers: Map<string, number>;
}

/** Reads the answers to `show info` and `show stat`. */
export function readFigures(info: string, stat: string): ProxyFigures {
  const number = (name: string) => Number(new RegExp(String.raw`^${name}: (\d+)$`, "m").exec(info)?.[1] ?? 0);
  return { uptimeSeconds: number("Uptime_sec"), connections: number("CurrConns"), backends: readBackends(stat) };
}

type Row = (column: string) => string;

function readBackends(stat: string): Map<string, BackendFigures> {
  const backends = new Map<string, BackendFigures>();
  const [head = "", ...lines] = stat.split("\n");
  const columns = head.replace(/^#\s*/, "").split(",");
  for (const line of lines) {
    const fields = line.split(",");
    const row: Row = (column) => fields[columns.indexOf(column)] ?? "";
    const [backend, server] = [row("pxname"), row("svname")];
    if (fields.length < 3 || server === "FRONTEND") continue;
    const known = backends.get(backend);
    const figures = known ?? {
      requests: 0,
      failed: 0,
      bytesIn: 0,
      bytesOut: 0,
      queued: 0,
      active: 0,
      servers: new Map(),
    };
    if (known === undefined) backends.set(backend, figures);
    if (server === "BACKEND") Object.assign(figures, sums(row));
    else figures.servers.set(server, count(row("scur")));
  }
  return backends;
}

function sums(row: Row): Omit<BackendFigures, "servers"> {
  const answers = ["1xx", "2xx", "3xx", "4xx", "5xx", "other"].map((digit) => row(`hrsp_${digit}`));
  const isHttp = answers.some((text) => text !== "");
  return {
    requests: isHttp ? answers.reduce((sum, text) => sum + count(text), 0) : count(row("stot")),
    failed: count(row("hrsp_5xx")),
    bytesIn: count(row("bin")),
    bytesOut: count(row("bout")),
    queued: count(row("qcur")),
    active: count(row("scur")),
  };
}

function count(text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}
