import { closest } from "../../../base/pure/suggest.ts";
import { parseSince } from "../../../base/pure/since.ts";
import { Failure, type Problem } from "../../../base/wire/failure.ts";
import { aggregates } from "../../api/boards.ts";
import type { Aggregate } from "../../core/metrics/fold.ts";
import { catalogue, latencyNames, metricOf } from "../../core/metrics/catalogue.ts";
import { parseSpan } from "../../core/metrics/plan.ts";
import { type Series, type Source, sources } from "../../core/metrics/series.ts";
import { mayReach, reachesAll } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";

/** What belongs to an app is seen by tokens that reach the app; everything else by those without a filter. */
export function mayRead(grant: Pick<Grant, "apps">, { scope, name }: Pick<Series, "scope" | "name">): boolean {
  return name === "" ? reachesAll(grant) : mayReach(grant, { scope, name });
}

/** Fails `invalid` for what is not a source. */
export function readSource(text: string | undefined, path: string): Source {
  const found = sources.find((source) => source === text);
  if (found !== undefined) return found;
  throw new Failure(
    "invalid",
    `${path}: ${JSON.stringify(text ?? "")} is not a source, use one of ${sources.join(", ")}`,
  );
}

/** Fails `invalid` for a metric that the server does not have; an app's own can be named anything. */
export function checkMetric(source: Source, name: string, path: string): void {
  if (source === "custom" && name !== "") return;
  if (metricOf(source, name) !== undefined) return;
  if (source === "ingress" && latencyNames[name] !== undefined) return;
  const known = catalogue.filter((one) => one.source === source).map((one) => one.name);
  const near = closest(name, [...known, ...(source === "ingress" ? Object.keys(latencyNames) : [])]);
  const hint = near === undefined ? `; the metrics of ${source} are ${known.join(", ")}` : `; did you mean "${near}"`;
  throw new Failure("invalid", `${path}: "${name}" is not a metric of ${source}${hint}`);
}

/** `pod.cpu_percent,ingress.req_5xx`. */
export function readMetrics(text: string, max: number): { source: Source; metric: string }[] {
  const words = listOf(text);
  if (words.length === 0) throw new Failure("invalid", "metric: is required: name one such as pod.cpu_percent");
  if (words.length > max) throw new Failure("invalid", `metric: at most ${max} metrics in one question`);
  return words.map((word) => {
    const dot = word.indexOf(".");
    if (dot < 0)
      throw new Failure("invalid", `metric: write "${word}" with its source in front, such as pod.cpu_percent`);
    const source = readSource(word.slice(0, dot), "metric");
    const metric = word.slice(dot + 1);
    checkMetric(source, metric, "metric");
    return { source, metric };
  });
}

export function readAggregate(text: string | undefined): Aggregate | undefined {
  if (text === undefined || text === "") return undefined;
  const found = aggregates.find((one) => one === text);
  if (found !== undefined) return found;
  throw new Failure("invalid", `agg: "${text}" cannot be computed, use one of ${aggregates.join(", ")}`);
}

/** Milliseconds; undefined for `auto`. */
export function readStep(text: string | undefined, path: string): number | undefined {
  if (text === undefined || text === "" || text === "auto") return undefined;
  const ms = parseSpan(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms !== undefined && ms > 0) return ms;
  throw new Failure("invalid", `${path}: "${text}" is not a duration: write it like "15s", "5m" or "1h"`);
}

/** What the readers would refuse, below a path of the body that holds their texts. */
export function questionProblems(path: string, reads: readonly (() => unknown)[]): Problem[] {
  return reads.flatMap((read) => {
    try {
      read();
      return [];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const [, field = "", message = error.message] = /^(\w+): (.*)$/s.exec(error.message) ?? [];
      return [{ path: field === "" ? path : `${path}.${field}`, message }];
    }
  });
}

/** An instant, or how long ago. */
export function readTime(
  text: string | undefined,
  path: string,
  { now, fallback }: { now: number; fallback: number },
): number {
  if (text === undefined || text === "") return fallback;
  if (text === "now") return now;
  const back = parseSpan(text);
  if (back !== undefined) return now - back;
  const at = parseSince(text, now);
  if (at.ok) return at.value;
  throw new Failure("invalid", `${path}: ${at.error}`);
}

/** `host=shop.example,replica=0` and an app, as a test of series. */
export function readFilter({
  app,
  where,
}: {
  app?: string | undefined;
  where?: string | undefined;
}): (series: Series) => boolean {
  const [scope, name, ...rest] = (app ?? "").split("/");
  if (rest.length > 0) throw new Failure("invalid", `app: "${app}" is not SCOPE or SCOPE/NAME`);
  const wanted = listOf(where ?? "").map((pair) => {
    const [key = "", ...value] = pair.split("=");
    if (key === "" || value.length === 0) throw new Failure("invalid", `where: "${pair}" is not LABEL=VALUE`);
    return [key, value.join("=")] as const;
  });
  return (series) => {
    if (scope !== undefined && scope !== "" && series.scope !== scope) return false;
    if (name !== undefined && name !== "" && series.name !== name) return false;
    return wanted.every(([key, value]) => labelOf(series, key) === value);
  };
}

function labelOf(series: Series, key: string): string {
  if (key === "kind" || key === "scope" || key === "name" || key === "replica") return series[key];
  return series.labels[key] ?? "";
}

export function listOf(text: string): string[] {
  return text.split(",").flatMap((word) => word.trim() || []);
}
