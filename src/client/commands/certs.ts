import { type CertificateView, listCertificates, renewCertificates } from "../../ingress/api/certificates.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../shell/failures.ts";
import { printable, type Style } from "../shell/style.ts";
import { tableText } from "../text/table-text.ts";
import { shortDuration, timeText } from "../text/time-text.ts";

export const certsCommand: CommandBody = {
  usage: ["certs [list]", "certs renew NAME"],
  examples: [
    "certs                        expiry, issuer, last error and next try of each certificate",
    "certs renew shop.example.com  renew now, for example after a DNS record was corrected",
  ],
  detail: [
    "Certificates are issued and renewed by themselves: at two thirds of their life, or when the CA",
    "says so. The old one serves until the new one is there. renew does not wait for the CA, and keeps",
    "to the limits of the CA.",
  ],
  flags: [],
  async run(context, { words }) {
    const [verb = "list", name, ...more] = words;
    if (verb === "renew") {
      if (name === undefined || more.length > 0) throw usageFailure("say which: certs renew NAME");
      const data = await context.api.call(renewCertificates, { params: { name } });
      answer(context, data, () => `renewing ${data.certificates.map(namesOf).join(", ")}; see: berth certs`);
      return exitCodes.done;
    }
    if (verb !== "list" || name !== undefined) throw usageFailure(`unknown command "certs ${words.join(" ")}"`);
    const data = await context.api.call(listCertificates);
    answer(context, data, () => certificatesText(data.certificates, context));
    return exitCodes.done;
  },
};

function namesOf({ names }: CertificateView): string {
  return printable(names.join(", "));
}

function certificatesText(certificates: readonly CertificateView[], { terminal, clock }: Context): string {
  if (certificates.length === 0) return "no certificates: no ingress asks for one (tls)";
  const { style } = terminal;
  const now = clock.now();
  const rows = certificates.map((one) => [
    namesOf(one),
    stateText(one, style),
    one.not_after === undefined ? "-" : `${timeText(one.not_after).slice(0, 10)} (${leftText(one.not_after, now)})`,
    printable(one.issued_by ?? one.issuer),
    nextText(one, now),
  ]);
  const head = ["NAME", "STATE", "EXPIRES", "ISSUER", "NEXT"];
  const table = tableText([head, ...rows], { width: terminal.width, head: style.dim });
  const faults = certificates.flatMap((one) =>
    one.error === undefined ? [] : [`${style.red("✗")} ${namesOf(one)}: ${printable(one.error)}`],
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
