import type { IngressSite, IngressStatus } from "../../ingress/api/ingress.ts";
import { type Listen, siteAddress } from "./addresses.ts";
import { printable, type Style } from "../basics/style.ts";
import type { TableSetup } from "./resource-table.ts";
import { tableText } from "../basics/table-text.ts";
import { shortDuration } from "./time-text.ts";

type ProxyView = IngressStatus["proxy"];

/** The proxy in a few lines: whether it serves, where, and what is wrong. */
export function proxyText({ proxy, sites }: IngressStatus, { style }: Pick<TableSetup, "style">): string {
  const { version, image, pid, uptime_seconds: uptime, connections, problem, listen } = proxy;
  const facts = [
    stateText(proxy, style),
    version === undefined
      ? ""
      : `HAProxy ${printable(version)}${image === undefined ? "" : ` of the image ${printable(image)}`}`,
    pid === undefined ? "" : `pid ${pid}`,
    uptime === undefined ? "" : `loaded ${shortDuration(uptime * 1_000)} ago`,
    connections === undefined ? "" : plural(connections, "open connection"),
  ];
  const troubled = sites.filter(({ problems }) => problems.length > 0).length;
  return [
    `proxy    ${facts.filter((fact) => fact !== "").join(", ")}`,
    `http     ${listen.http.join(", ") || "off"}`,
    `https    ${listen.https.join(", ") || "off"}`,
    `serves   ${plural(sites.length, "ingress", "ingresses")}${byPlugins(sites)}${troubled === 0 ? "" : `, ${troubled} with a problem; see: berth ingress ls`}`,
    ...(proxy.state === "waiting"
      ? ["HAProxy is not installed: the first ingress makes the server fetch its image"]
      : []),
    ...(problem === undefined ? [] : [`${style.red("✗")} ${printable(problem)}`]),
  ].join("\n");
}

/** How many ingresses each plugin routes. */
function byPlugins(sites: readonly IngressSite[]): string {
  const counts = Map.groupBy(
    sites.flatMap(({ plugin }) => plugin ?? []),
    (plugin) => plugin,
  );
  const parts = [...counts].map(([plugin, all]) => `${all.length} by the plugin ${printable(plugin)}`);
  return parts.length === 0 ? "" : `, ${parts.join(", ")}`;
}

function stateText({ state }: ProxyView, style: Style): string {
  if (state === "running") return style.green(state);
  return state === "starting" || state === "waiting" || state === "off" ? style.yellow(state) : style.red(state);
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Ingresses as a table, with a line for each problem; empty when there are none. */
export function sitesText({ sites, proxy }: IngressStatus, { style, width }: Omit<TableSetup, "now">): string {
  if (sites.length === 0) return "";
  const rows = sites.map((site) => [
    site.ingress,
    printable(routeText(site, proxy.listen)),
    printable(site.plugin === undefined ? site.target : `${site.target} by ${site.plugin}`),
    readyText(site, style),
    ...(site.plugin === undefined ? countsText(site, style) : uncounted),
  ]);
  const head = ["INGRESS", "ROUTE", "TARGET", "REPLICAS", "REQUESTS", "5XX", "ACTIVE"];
  const problems = sites.flatMap(({ ingress, problems: texts }) =>
    texts.map((text) => `${style.red("✗")} ${ingress}: ${printable(text)}`),
  );
  return [tableText([head, ...rows], { width, head: style.dim }), ...problems].join("\n");
}

/** What a plugin routes, the server does not see. */
const uncounted = ["-", "-", "-"];

function countsText({ requests, failed, upstreams }: IngressSite, style: Style): string[] {
  const active = upstreams.reduce((sum, one) => sum + one.active, 0);
  return [String(requests), failed === 0 ? "0" : style.red(String(failed)), String(active)];
}

/** The replicas that an ingress leads to, then its problems; empty when there is nothing to say. */
export function upstreamsText(
  { upstreams, problems, plugin }: IngressSite,
  { style, width }: Omit<TableSetup, "now">,
): string {
  const byName = upstreams.toSorted((a, b) => (a.replica < b.replica ? -1 : 1));
  const rows = byName.map(({ replica, address, state, weight, active }) => [
    printable(replica),
    printable(address),
    state === "ready" ? style.green(state) : style.yellow(state),
    ...(plugin === undefined ? [String(weight), String(active)] : ["-", "-"]),
  ]);
  const head = ["REPLICA", "ADDRESS", "STATE", "WEIGHT", "ACTIVE"];
  const table = rows.length === 0 ? [] : [tableText([head, ...rows], { width, head: style.dim })];
  return [...table, ...problems.map((text) => `${style.red("✗")} ${printable(text)}`)].join("\n");
}

function routeText({ hosts, paths, tcp, tls, plugin }: IngressSite, listen: Listen): string {
  if (tcp !== undefined) return `tcp ${tcp}`;
  const isWhole = paths.length === 1 && paths[0] === "/";
  const names = hosts.map((host) => siteAddress(host, tls, plugin === undefined ? listen : undefined));
  return isWhole ? names.join(", ") : names.map((name) => paths.map((path) => name + path).join(", ")).join(", ");
}

function readyText({ upstreams, maintenance, asleep }: IngressSite, style: Style): string {
  if (maintenance) return style.yellow("maintenance");
  if (asleep === true) return style.dim("asleep");
  const ready = upstreams.filter(({ state }) => state === "ready").length;
  const leaving = upstreams.length - ready;
  const text = `${ready} ready${leaving === 0 ? "" : `, ${leaving} leaving`}`;
  return ready === 0 ? style.red(text) : text;
}

/** The ingress in one line: its proxy, how many sites it has, and how many have a problem. */
export function ingressText(
  { state, total, troubled }: { state: string; total: number; troubled: number },
  style: Style,
): string {
  const proxy = `HAProxy ${state === "running" ? state : style.red(state)}`;
  const served = `${total} ${total === 1 ? "ingress" : "ingresses"}`;
  return [proxy, served, ...(troubled === 0 ? [] : [style.red(`${troubled} with a problem`)])].join(", ");
}
