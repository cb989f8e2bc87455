import type { CertificateView } from "../../ingress/api/certificates.ts";
import { printable, type Style } from "../basics/style.ts";
import type { TableSetup } from "./resource-table.ts";
import { tableText } from "../basics/table-text.ts";
import { shortDuration, timeText } from "./time-text.ts";

export function certificateNames({ names }: CertificateView): string {
  return printable(names.join(", "));
}

/** Those that serve one of the hosts, also through a wildcard. */
export function certificatesFor(certificates: readonly CertificateView[], hosts: readonly string[]): CertificateView[] {
  const wanted = new Set(hosts.flatMap((host) => [host, host.replace(/^[^.*]+/, "*")]));
  return certificates.filter(({ names }) => names.some((name) => wanted.has(name)));
}

/** Certificates as a table, with a line for each that has a fault; empty when there are none. */
export function certificatesText(certificates: readonly CertificateView[], { style, width, now }: TableSetup): string {
  if (certificates.length === 0) return "";
  const rows = certificates.map((one) => [
    certificateNames(one),
    stateText(one, style),
    one.not_after === undefined ? "-" : `${timeText(one.not_after).slice(0, 10)} (${leftText(one.not_after, now)})`,
    `${printable(one.issued_by ?? one.issuer)}${one.on_demand === true ? ", on demand" : ""}`,
    nextText(one, now),
  ]);
  const head = ["NAME", "STATE", "EXPIRES", "ISSUER", "NEXT"];
  const table = tableText([head, ...rows], { width, head: style.dim });
  const faults = certificates.flatMap((one) =>
    one.error === undefined ? [] : [`${style.red("✗")} ${certificateNames(one)}: ${printable(one.error)}`],
  );
  return [table, ...faults].join("\n");
}

function stateText({ state, issuing }: CertificateView, style: Style): string {
  if (issuing) return style.yellow(state === "valid" ? "renewing" : "issuing");
  if (state === "valid") return style.green(state);
  return state === "pending" ? style.yellow(state) : style.red(state);
}

function leftText(iso: string, now: number): string {
  const ms = Date.parse(iso) - now;
  return ms > 0 ? shortDuration(ms) : `${shortDuration(-ms)} ago`;
}

/** What happens next by itself. */
function nextText({ error, next_try_at, renew_at }: CertificateView, now: number): string {
  if (error !== undefined && next_try_at !== undefined) return `try in ${shortDuration(Date.parse(next_try_at) - now)}`;
  return renew_at === undefined ? "-" : `renew in ${shortDuration(Date.parse(renew_at) - now)}`;
}
