import type { IngressTraffic, SiteTraffic } from "../../ingress/api/traffic.ts";
import type { TableSetup } from "./resource-table.ts";
import { tableText } from "../basics/table-text.ts";

const head = ["INGRESS", "REQ/S", "2XX", "3XX", "4XX", "5XX", "FAILED", "P50", "P99", "HELD", "RETRIED"];

/** Requests of the last minute, the busiest ingress first. */
export function trafficText({ sites, dropped }: IngressTraffic, { style, width }: Omit<TableSetup, "now">): string {
  if (sites.length === 0) return "no requests in the last minute";
  const red = (count: number) => (count === 0 ? "0" : style.red(String(count)));
  const rows = sites
    .toSorted(busiestFirst)
    .map(({ ingress, rate, status, failed, p50_ms, p99_ms, held, retried }) => [
      ingress,
      rate.toFixed(1),
      String(status["2xx"]),
      String(status["3xx"]),
      String(status["4xx"]),
      red(status["5xx"]),
      red(failed),
      ...[p50_ms, p99_ms].map((ms) => (ms === undefined ? "-" : `${ms} ms`)),
      String(held),
      String(retried),
    ]);
  const lost = dropped === 0 ? [] : [`${dropped} requests were too many to count; berth ingress ls has exact totals`];
  return [tableText([head, ...rows], { width, head: style.dim }), ...lost].join("\n");
}

function busiestFirst(a: SiteTraffic, b: SiteTraffic): number {
  return b.requests - a.requests || a.ingress.localeCompare(b.ingress);
}
