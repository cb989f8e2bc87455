import { hostsOf } from "../../base/pure/hosts.ts";
import { type CertificateView, listCertificates } from "../../ingress/api/certificates.ts";
import type { ApplyResult } from "../../orchestration/api/apply.ts";
import type { Manifest } from "../../orchestration/api/manifest.ts";
import type { Context } from "../shell/command.ts";
import { printable } from "../basics/style.ts";
import { certificatesFor } from "../text/certificate-text.ts";
import { shortDuration, timeText } from "../text/time-text.ts";

/** Beyond it, the hosts are only counted. */
const hostsShown = 10;

/**
 * How the certificates of applied ingresses are doing, a line each, after a bounded wait for those that are missing.
 * Nothing of those that were valid before, nor where the server does not issue certificates.
 */
export async function certificateLines(
  { applied }: Pick<ApplyResult, "applied">,
  timeoutMs: number,
  context: Context,
): Promise<string[]> {
  const { clock, limits, signal, terminal } = context;
  const { green, red, yellow } = terminal.noteStyle;
  const hosts = [...new Set(applied.flatMap(certifiedHosts))];
  const look = async () => {
    const found = await context.api.call(listCertificates).catch(() => undefined);
    return (host: string) => best(certificatesFor(found?.certificates ?? [], [host]));
  };
  if (hosts.length === 0) return [];
  const started = clock.now();
  let seen = await look();
  const missing = hosts.filter((host) => seen(host)?.state !== "valid");
  if (missing.length > 0 && !signal.aborted) {
    terminal.note(`${yellow("…")} ${certificateOf(missing)}: waiting`);
  }
  const isOpen = (host: string) => {
    const one = seen(host);
    // The server takes a moment to know of a new host.
    if (one === undefined) return clock.now() - started < limits.certificateSeenMs;
    return one.state !== "valid" && (one.issuing || one.error === undefined);
  };
  const until = started + Math.min(timeoutMs, limits.certificateMs);
  while (missing.some(isOpen) && clock.now() < until && !signal.aborted) {
    await clock.sleep(limits.pollMs, signal);
    seen = await look();
  }
  const lineOf = (host: string): string[] => {
    const one = seen(host);
    if (one === undefined) return [];
    const head = certificateOf([host]);
    if (one.state === "valid") return [`${green("✓")} ${head}: issued by ${issuedText(one)}`];
    if (one.error === undefined || one.issuing) {
      return [`${yellow("…")} ${head}: not issued yet, the server goes on; see: berth certs`];
    }
    return [`${red("✗")} ${head}: ${printable(one.error)}`, `  ${retryText(one, clock.now())}; see: berth certs`];
  };
  const more = missing.length - hostsShown;
  const rest = more > 0 ? [`${more} more certificates; see: berth certs`] : [];
  return [...missing.slice(0, hostsShown).flatMap(lineOf), ...rest];
}

/** Hosts that get a certificate in advance. */
function certifiedHosts({ kind, spec }: Manifest): string[] {
  const { enabled, on_demand } = Object(spec.tls);
  if (kind !== "ingress" || spec.tls === undefined || enabled === false || spec.plugin !== undefined) return [];
  const redirected = Array.isArray(spec.redirects) ? spec.redirects.map((one) => String(Object(one).from)) : [];
  const hosts = [...hostsOf(spec), ...redirected.map((host) => host.toLowerCase())];
  return hosts.filter((host) => host !== "*" && (on_demand !== true || !host.startsWith("*.")));
}

/** A host may be covered by a wildcard too: the valid one counts. */
function best(found: readonly CertificateView[]): CertificateView | undefined {
  return found.find(({ state }) => state === "valid") ?? found[0];
}

function certificateOf(hosts: readonly string[]): string {
  const [first = ""] = hosts;
  return hosts.length === 1 ? `certificate of ${printable(first)}` : `certificates of ${hosts.length} hosts`;
}

function issuedText({ issued_by: by, issuer, not_after: end }: CertificateView): string {
  const until = end === undefined ? "" : `, valid until ${timeText(end).slice(0, 10)}`;
  return `${printable(by ?? issuer)}${until}`;
}

function retryText({ next_try_at: at }: CertificateView, now: number): string {
  const ms = at === undefined ? 0 : Date.parse(at) - now;
  return ms > 0 ? `the server tries again in ${shortDuration(ms)}` : "the server tries again";
}
