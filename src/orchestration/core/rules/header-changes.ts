import type { RoutingFields } from "../../api/kinds/routing.ts";
import { childPath } from "../../../base/pure/path.ts";
import { hasControlCharacters, tokenOk } from "./header-name.ts";
import { eachEntry, type Report, reportRepeats, type RuleContext } from "./rule.ts";

/** What frames a message or belongs to one connection (RFC 9110, sections 7.2 and 7.6.1): changing it breaks routing. */
const framing = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What replicas learn about the client from: only the ingress may write it. */
const ofTheIngress = new Set([
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
]);

type Changes = NonNullable<NonNullable<RoutingFields["headers"]>["request"]>;

/** Rules of `headers`. Values are never repeated: they may be secrets. */
export function headerChangeRules(headers: RoutingFields["headers"], context: RuleContext): void {
  for (const direction of ["request", "response"] as const) {
    const changes = headers?.[direction];
    if (changes !== undefined) changeRules(changes, { ...context, direction });
  }
}

function changeRules(changes: Changes, context: RuleContext & { direction: "request" | "response" }): void {
  const { report, limits, direction } = context;
  const path = `spec.headers.${direction}`;
  const set = Object.entries(changes.set ?? {});
  const remove = changes.remove ?? [];
  for (const [name, value] of set) {
    const at = childPath(`${path}.set`, name);
    nameRule(name, at, { report, direction });
    if (hasControlCharacters(value)) report(at, "the value holds a control character, such as a line break");
    if (value.length > limits.ingress.headerBytesMax) {
      report(at, `the value has ${value.length} characters; at most ${limits.ingress.headerBytesMax} are allowed`);
    }
  }
  eachEntry(remove, `${path}.remove`, (name, at) => nameRule(name, at, { report, direction }));
  const named = [
    ...set.map(([name]) => ({ key: name.toLowerCase(), path: childPath(`${path}.set`, name) })),
    ...remove.map((name, index) => ({ key: name.toLowerCase(), path: `${path}.remove[${index}]` })),
  ];
  reportRepeats(named, "header", report);
  if (named.length > limits.ingress.headersMax) {
    report(path, `changes ${named.length} headers; at most ${limits.ingress.headersMax} are allowed`);
  }
}

function nameRule(name: string, path: string, at: { report: Report; direction: string }): void {
  const plain = name.toLowerCase();
  if (!tokenOk(name) || name.length > 128) {
    at.report(path, "is not a header name; use letters, digits and hyphens");
  } else if (framing.has(plain)) {
    at.report(path, `"${name}" belongs to the connection or frames the message; an ingress cannot change it`);
  } else if (at.direction === "request" && ofTheIngress.has(plain)) {
    at.report(path, `"${name}" is written by the ingress itself, so that replicas can rely on it`);
  }
}
