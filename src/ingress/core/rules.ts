import type { Setup } from "./change.ts";
import { argumentPath, mapPath, pagePath, pathWord } from "./layout.ts";
import { flags, redirectBackend } from "./maps.ts";
import { network } from "./quote.ts";

/** Lines of one section, without the two spaces before each. */
export type Lines = string[];

/** The parts of `txn.route`, which is what the map of routes says: `p7`, or `p7|rh`, or `p7|rs|/api`. */
export const routeBackend = "var(txn.route),field(1,|)";
const routeFlags = "var(txn.route),field(2,|)";

/** Whether the route carries one of these. */
export const hasFlag = (...some: (keyof typeof flags)[]) =>
  `{ ${routeFlags} -m sub ${some.map((flag) => flags[flag]).join(" ")} }`;

/** A request that nothing below concerns, as most, leaves the rules of its site. Only for sites without rules of their own. */
export const commonRequest = `http-request allow if { nbsrv gt 0 } !${hasFlag("maintenance", "timeouts", "strip")} { method GET HEAD OPTIONS }`;

/** Conditions of one name are alternatives; a line holds only some of the networks, as words of a line are limited. */
export function networkRule(name: string, networks: readonly string[]): Lines {
  const lines: Lines = [];
  for (let start = 0; start < networks.length; start += 20) {
    const some = networks.slice(start, start + 20).map((one) => network(one, "network"));
    lines.push(`acl ${name} src ${some.join(" ")}`);
  }
  return lines;
}

/** What every site does before its request goes to a replica, common or dedicated. */
export function openingRules({ paths }: Setup): Lines {
  const map = (name: Parameters<typeof mapPath>[1]) => argumentPath(mapPath(paths, name));
  return [
    `http-request return status 503 content-type 'text/html; charset=utf-8' lf-file ${pathWord(pagePath(paths, "maintenance"))} hdr retry-after 60 hdr cache-control no-store if ${hasFlag("maintenance")}`,
    `http-request set-timeout server be_name,map_str_int(${map("server-timeout")}) if ${hasFlag("timeouts")}`,
    `http-request set-timeout tunnel be_name,map_str_int(${map("tunnel-timeout")}) if ${hasFlag("timeouts")}`,
  ];
}

export function closingRules({ paths }: Setup, repeatable: readonly string[] = []): Lines {
  const holds = argumentPath(mapPath(paths, "hold"));
  return [
    `http-request set-var(txn.hold) be_name,map_str(${holds}) if { nbsrv eq 0 }`,
    "http-request lua.hold if { var(txn.hold) -m found }",
    "http-request set-var(txn.proto) str(http) if { var(txn.again) -m found } !{ var(txn.proto) -m found }",
    // gRPC and WebSockets follow no redirect; they are asked to try again later.
    `http-request redirect location %[var(txn.proto)]://%[req.hdr(host)]%[pathq] code 307 if { var(txn.again) -m found } !{ req.hdr(upgrade) -m found } !{ req.hdr(content-type) -m beg application/grpc }`,
    `http-request lua.strip if ${hasFlag("strip")}`,
    // Only what may be done twice is sent again once a replica may have seen it.
    `http-request disable-l7-retry unless ${["{ method GET HEAD OPTIONS }", ...repeatable].join(" or ")}`,
  ];
}

/** Seconds after which a client may try again what no replica could answer. */
export const retryAfter = (status: number | string) => (String(status) === "503" ? " hdr retry-after 5" : "");

export function redirectSection(): string {
  const rules = [301, 302, 307, 308].map(
    (status) =>
      `http-request redirect location %[var(txn.route),field(3,|)]%[pathq] code ${status} if { ${routeFlags} -m str ${status} }`,
  );
  return section(`backend ${redirectBackend} from base`, rules);
}

export function section(head: string, lines: Lines): string {
  return `${head}\n${lines.map((line) => `  ${line}\n`).join("")}`;
}
