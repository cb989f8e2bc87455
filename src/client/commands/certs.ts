import { listCertificates, renewCertificates } from "../../ingress/api/certificates.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { certificateNames, certificatesText } from "../text/certificate-text.ts";
import { tableSetup } from "./get.ts";
import { rowsOf, whenListing } from "../shell/listing.ts";

export const certsCommand: CommandBody = {
  usage: ["certs [list]", "certs renew NAME"],
  examples: [
    "certs  expiry, issuer, last error and next try of each certificate",
    "certs renew shop.example.com  renew now, for example after a DNS record was corrected",
  ],
  detail: [
    "Certificates are issued and renewed by themselves: at two thirds of their life, or when the CA",
    "says so. The old one serves until the new one is there. renew does not wait for the CA, and keeps",
    "to the limits of the CA.",
  ],
  flags: [],
  lists: whenListing("list", rowsOf("certificates", "names"), { byDefault: true }),
  async run(context, { words }) {
    const [verb = "list", name, ...more] = words;
    if (verb === "renew") {
      if (name === undefined || more.length > 0) throw usageFailure("say which: certs renew NAME");
      const data = await context.api.call(renewCertificates, { params: { name } });
      return answer(
        context,
        data,
        () => `renewing ${data.certificates.map(certificateNames).join(", ")}; see: berth certs`,
      );
    }
    if (verb !== "list" || name !== undefined) throw usageFailure(`unknown command "certs ${words.join(" ")}"`);
    const data = await context.api.call(listCertificates);
    return answer(context, data, () => certificatesText(data.certificates, tableSetup(context)) || none);
  },
};

const none = "no certificates: no ingress asks for one (tls)";
