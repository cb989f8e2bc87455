import { type ErrorPageStatus, errorPageStatuses } from "../../api/kinds/routing-http.ts";
import type { RoutingFields } from "../../api/kinds/routing.ts";
import { hostKey, hostOk, hostsOf } from "../../../base/pure/hosts.ts";
import { isNetwork } from "../../../base/pure/ip.ts";
import { childPath } from "../../../base/pure/path.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { parseMemory } from "../../../base/pure/quantity.ts";
import { textBytes } from "../../../base/pure/bytes.ts";
import { durationRule } from "./duration.ts";
import { headerChangeRules } from "./header-changes.ts";
import { passwordRules } from "./passwords.ts";
import { type Report, reportRepeats, type RuleContext } from "./rule.ts";
import { bytesRule } from "./size.ts";

/** Rules of the fields on HTTP requests, and of those on connections. */
export function httpRoutingRules(spec: RoutingFields, context: RuleContext): void {
  const { report } = context;
  if (spec.sticky !== undefined && !/^[A-Za-z0-9._-]{1,64}$/.test(spec.sticky.cookie)) {
    report("spec.sticky.cookie", 'is not a cookie name; use up to 64 letters, digits, ".", "_" and "-"');
  }
  redirectRules(spec, report);
  headerChangeRules(spec.headers, context);
  passwordRules(spec.basic_auth, context);
  networkRules(spec, context);
  rateRules(spec.rate_limit, context);
  limitRules(spec.limits, context);
  holdRules(spec.hold, context);
  errorPageRules(spec.error_pages, context);
}

const redirectStatuses = [301, 302, 307, 308];

function redirectRules(spec: RoutingFields, report: Report): void {
  const redirects = spec.redirects ?? [];
  const own = hostsOf(spec);
  const froms = redirects.map(({ from }, index) => ({
    key: hostKey(from),
    path: `spec.redirects[${index}].from`,
  }));
  const sources = new Set(froms.map(({ key }) => key));
  redirects.forEach(({ from, to, status }, index) => {
    const path = `spec.redirects[${index}]`;
    const source = hostKey(from);
    const target = (to === undefined ? undefined : hostKey(to)) ?? own[0];
    plainHostRule(source, `${path}.from`, report);
    if (own.includes(source))
      report(`${path}.from`, `"${source}" is a host of this ingress; it is served or redirected`);
    if (to !== undefined) plainHostRule(hostKey(to), `${path}.to`, report);
    else if (target?.startsWith("*")) report(`${path}.to`, `is required, because "${target}" is a wildcard`);
    if (target !== undefined && sources.has(target)) report(`${path}.to`, `"${target}" is redirected itself`);
    if (status !== undefined && !redirectStatuses.includes(status)) {
      report(`${path}.status`, `${status} is not a status of a redirect; write ${redirectStatuses.join(", ")}`);
    }
  });
  reportRepeats(froms, "host", report);
}

function plainHostRule(host: string, path: string, report: Report): void {
  if (hostOk(host) && !host.startsWith("*.")) return;
  report(path, `"${host}" is not a host name; write "www.example.com", without scheme, port or wildcard`);
}

function networkRules(spec: RoutingFields, { report, limits }: RuleContext): void {
  for (const field of ["allow", "deny"] as const) {
    const networks = spec[field] ?? [];
    const most = limits.ingress.networksMax;
    if (networks.length > most) report(`spec.${field}`, `has ${networks.length} entries; at most ${most} are allowed`);
    networks.forEach((network, index) => {
      if (isNetwork(network)) return;
      report(
        `spec.${field}[${index}]`,
        `"${network}" is not a network; write "10.0.0.0/8", "2001:db8::/32" or an address`,
      );
    });
  }
}

function rateRules(rate: RoutingFields["rate_limit"], { report, limits }: RuleContext): void {
  if (rate === undefined) return;
  const { rateMsMin, rateMsMax, rateRequestsMax } = limits.ingress;
  if (rate.requests > rateRequestsMax) report("spec.rate_limit.requests", `must be at most ${rateRequestsMax}`);
  durationRule(rate.per, "spec.rate_limit.per", { report });
  const per = rate.per === undefined ? undefined : parseDuration(rate.per);
  if (per !== undefined && (per < rateMsMin || per > rateMsMax)) {
    report("spec.rate_limit.per", `"${rate.per}" is out of range; write "1s" to "24h"`);
  }
}

function limitRules(bounds: RoutingFields["limits"], { report, limits }: RuleContext): void {
  if (bounds === undefined) return;
  if (bounds.body !== undefined) bodyRule(bounds.body, "spec.limits.body", report);
  const head = bounds.head === undefined ? undefined : (parseMemory(bounds.head) ?? 0);
  if (head !== undefined && (head < limits.ingress.headBytesMin || head > limits.ingress.headBytesMax)) {
    report("spec.limits.head", `"${bounds.head}" is not a size in range; write "16Ki" to "128Ki"`);
  }
  durationRule(bounds.timeout, "spec.limits.timeout", { report, aboveZero: true });
  durationRule(bounds.tunnel, "spec.limits.tunnel", { report, aboveZero: true });
  durationRule(bounds.client_timeout, "spec.limits.client_timeout", { report, aboveZero: true });
  for (const name of ["timeout", "client_timeout"] as const) {
    const text = bounds[name];
    const ms = text === undefined ? undefined : parseDuration(text);
    if (ms !== undefined && ms > limits.ingress.timeoutMsMax) {
      report(`spec.limits.${name}`, `"${text}" is too long; write at most "24h"`);
    }
  }
  if (bounds.connections !== undefined && bounds.connections > limits.ingress.connectionsMax) {
    report("spec.limits.connections", `must be at most ${limits.ingress.connectionsMax}`);
  }
}

function bodyRule(text: string, path: string, report: Report): void {
  const bytes = parseMemory(text);
  if (bytes === undefined) report(path, `"${text}" is not a size above zero; write it like "512Ki", "10Mi" or "1G"`);
  else bytesRule(bytes, { text, path, report });
}

function holdRules(hold: RoutingFields["hold"], { report, limits }: RuleContext): void {
  if (hold === undefined) return;
  const { holdMsMax, holdRequestsMax } = limits.ingress;
  durationRule(hold.for, "spec.hold.for", { report });
  const ms = hold.for === undefined ? undefined : parseDuration(hold.for);
  if (ms !== undefined && ms > holdMsMax) report("spec.hold.for", `"${hold.for}" is too long; write at most "1m"`);
  if (hold.requests !== undefined && hold.requests > holdRequestsMax) {
    report("spec.hold.requests", `must be at most ${holdRequestsMax}`);
  }
}

function errorPageRules(pages: RoutingFields["error_pages"], { report, limits }: RuleContext): void {
  const most = limits.ingress.errorPageBytesMax;
  for (const [status, html] of Object.entries(pages ?? {})) {
    const path = childPath("spec.error_pages", status);
    if (!isErrorPageStatus(status)) {
      report(path, `"${status}" has no page; write ${errorPageStatuses.join(", ")}`);
      continue;
    }
    const bytes = textBytes(html).length;
    if (bytes === 0) report(path, "is empty; write HTML, or leave the page out");
    if (bytes > most) report(path, `has ${bytes} bytes; at most ${most} are allowed`);
    if (html.includes("\0")) report(path, "holds a NUL character");
  }
}

function isErrorPageStatus(text: string): text is `${ErrorPageStatus}` {
  return errorPageStatuses.some((status) => String(status) === text);
}
