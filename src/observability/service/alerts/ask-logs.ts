import type { TimelineEntry } from "../../api/incidents.ts";
import type { LogAsk, MetricValue } from "../../core/alerts/facts.ts";
import type { LogsRoom } from "../logs/create.ts";

/** For the operator, who may see everything. */
const everything = { apps: [] };
const linesMax = 1_000;

/** How many lines of each app hold a text; counted up to a limit in one look. */
export async function askLogs(room: LogsRoom, { pattern, level, withinMs }: LogAsk): Promise<MetricValue[]> {
  const q = `"${pattern.replaceAll(/["\\]/g, "\\$&")}"`;
  const from = `${Math.max(1, Math.round(withinMs / 1_000))}s`;
  const query = { q, from, limit: String(linesMax), ...(level === undefined ? {} : { level }) };
  const { lines } = await room.search(everything, query);
  const counts = Map.groupBy(lines, ({ scope, name }) => `${scope}/${name}`);
  return [...counts.values()].flatMap((own) => {
    const [line] = own;
    return line === undefined ? [] : [{ labels: { scope: line.scope, name: line.name }, value: own.length }];
  });
}

const linesRead = 200;
const shownMax = 30;
const lineMax = 300;

/** The last lines of an app that report errors, within a span. */
export async function errorLines(
  room: LogsRoom,
  app: string,
  { from, to }: { from: number; to: number },
): Promise<TimelineEntry[]> {
  const span = { from: new Date(from).toISOString(), until: new Date(to).toISOString() };
  const { lines } = await room.search(everything, { app, level: "error", ...span, limit: String(linesRead) });
  const entries: (TimelineEntry & { times: number })[] = [];
  for (const { at, text } of lines.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const last = entries.at(-1);
    const shown = text.slice(0, lineMax);
    // A crash loop says the same again and again.
    if (last?.text === shown) last.times += 1;
    else entries.push({ at, type: "log", text: shown, bad: true, times: 1 });
  }
  return entries.slice(-shownMax).map(({ times, ...entry }) => ({
    ...entry,
    text: times === 1 ? entry.text : `${entry.text} (${times} times)`,
  }));
}
