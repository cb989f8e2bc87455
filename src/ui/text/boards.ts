import type { Board, BoardBody, BoardChart } from "../../observability/api/boards.ts";

/** The server process itself. */
export const serverBoard: readonly BoardChart[] = [
  {
    title: "Load, 1 and 15 minutes",
    metric: "system.load_1,system.load_15",
    unit: "count",
    names: ["1 min", "15 min"],
  },
  { title: "Memory of the server", metric: "server.rss_bytes", unit: "bytes", names: ["in use"] },
  { title: "CPU of the server; 100 % is one core", metric: "server.cpu_percent", unit: "percent", names: ["CPU"] },
  { title: "Delay of the event loop", metric: "server.loop_lag_ms", agg: "max", unit: "ms", names: ["longest"] },
  { title: "Databases of the server", metric: "server.database_bytes", group_by: "database", unit: "bytes" },
];

/** The board of one app: a line for each replica, or all of them as one. */
export function appBoard(byReplica: boolean): readonly BoardChart[] {
  const each = byReplica ? { group_by: "replica" } : {};
  const sum = byReplica ? {} : { agg: "sum" };
  return [
    {
      title: "Requests",
      metric: "ingress.req_count,ingress.req_failed",
      agg: "rate",
      unit: "rate",
      names: ["all", "failed"],
    },
    { title: "Time to answer, p50", metric: "ingress.latency_ms", agg: "p50", unit: "ms", names: ["p50"] },
    { title: "Time to answer, p99", metric: "ingress.latency_ms", agg: "p99", unit: "ms", names: ["p99"] },
    { title: "CPU; 100 % is one core", metric: "pod.cpu_percent", ...sum, ...each, unit: "percent", names: ["CPU"] },
    { title: "Memory", metric: "pod.mem_usage_bytes", ...sum, ...each, unit: "bytes", names: ["in use"] },
    {
      title: "Network",
      metric: "pod.net_rx_delta_bytes,pod.net_tx_delta_bytes",
      agg: "rate",
      unit: "bytes_per_second",
      names: ["received", "sent"],
    },
    {
      title: "Restarts and kills for want of memory",
      metric: "pod.restarts,pod.oom_kills",
      agg: "sum",
      unit: "count",
      names: ["restarts", "out of memory"],
    },
  ];
}

interface OwnMetric {
  source: string;
  name: string;
  type: string;
}

const ownMax = 24;

/** Charts of what an app sends itself. */
export function ownBoard(metrics: readonly OwnMetric[], byReplica: boolean): readonly BoardChart[] {
  const own = metrics.filter(({ source }) => source === "custom").slice(0, ownMax);
  return own.map(({ name, type }): BoardChart => {
    const each = byReplica ? { group_by: "replica" } : {};
    const metric = `custom.${name}`;
    if (type === "counter") return { title: name, metric, agg: "rate", ...each, unit: "rate" };
    if (type !== "histogram") return { title: name, metric, agg: "avg", ...each, unit: "count" };
    const unit = name.endsWith("_ms_histogram") ? "ms" : "count";
    return { title: `${name.replace(/(?:_ms)?_histogram$/, "")}, p95`, metric, agg: "p95", ...each, unit };
  });
}

interface Answer {
  metric: string;
  series: readonly { group: Record<string, string>; values: readonly (number | null)[] }[];
}

interface NamedLine {
  name: string;
  values: readonly (number | null)[];
}

/** The lines of a chart by their names: of groups where there are any, else of the metrics. */
export function linesOf(results: readonly Answer[], names: readonly string[] = []): NamedLine[] {
  return results.flatMap(({ metric, series }, index) =>
    series.map(({ group, values }) => {
      const words = Object.values(group).join(" ");
      const own = names[index] ?? metric.slice(metric.indexOf(".") + 1);
      return { name: words === "" ? own : results.length > 1 ? `${words} ${own}` : words, values };
    }),
  );
}

/** A board as text to be changed. */
export function boardText({ title, charts }: Pick<Board, "title" | "charts">): string {
  return JSON.stringify({ ...(title === "" ? {} : { title }), charts }, null, 2);
}

/** Throws a text for people; the server checks the rest. */
export function readBoard(text: string): BoardBody {
  try {
    return JSON.parse(text) as BoardBody;
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What a form shows of a text; undefined where it is not the text of a board. The server checks the rest. */
export function draftOf(text: string): Pick<Board, "title" | "charts"> | undefined {
  try {
    const { title = "", charts } = JSON.parse(text) as BoardBody;
    const isChart = (chart: BoardChart) => typeof chart.title === "string" && typeof chart.metric === "string";
    return typeof title === "string" && charts.every(isChart) ? { title, charts } : undefined;
  } catch {
    return undefined;
  }
}

/** The list with one of its members a place further on, or back. */
export function moved<T>(list: readonly T[], from: number, by: 1 | -1): T[] {
  const others = list.filter((_, at) => at !== from);
  return [...others.slice(0, from + by), ...list.slice(from, from + 1), ...others.slice(from + by)];
}

const turnsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000 };
const turnMinMs = 5_000;

interface WallTime {
  /** Names of boards, with commas; empty: all of them. */
  names: string;
  /** `20s`, `1m`. */
  every: string;
  now: number;
}

/** Which board a wall shows. The clock decides, so that several walls show the same. */
export function onWall(boards: readonly Board[], { names, every, now }: WallTime) {
  const wanted = names.split(",").filter((name) => name !== "");
  const shown =
    wanted.length === 0 ? boards : wanted.flatMap((name) => boards.find((board) => board.name === name) ?? []);
  const [, count = "20", unit = "s"] = /^(\d{1,4})([sm])$/.exec(every) ?? [];
  const turnMs = Math.max(Number(count) * (turnsMs[unit] ?? 1_000), turnMinMs);
  const at = shown.length === 0 ? 0 : Math.floor(now / turnMs) % shown.length;
  return { shown, at, board: shown[at] };
}
