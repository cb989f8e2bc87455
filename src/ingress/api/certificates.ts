import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";

export const CertificateView = Type.Object({
  /** Name of its file without `.pem`. */
  id: Type.String(),
  names: Type.Array(Type.String()),
  issuer: Type.String({ description: "letsencrypt, internal, the host of another CA, or the file" }),
  state: Type.Union([Type.Literal("valid"), Type.Literal("expired"), Type.Literal("pending"), Type.Literal("failed")], {
    description: "pending: none was issued yet; failed: there is none, and the last try failed",
  }),
  issuing: Type.Boolean({ description: "it is being issued or renewed right now" }),
  on_demand: Type.Optional(Type.Boolean({ description: "a visitor asked for it, and tls.ask permitted it" })),
  issued_by: Type.Optional(Type.String()),
  serial: Type.Optional(Type.String()),
  not_before: Type.Optional(Type.String()),
  not_after: Type.Optional(Type.String()),
  renew_at: Type.Optional(Type.String()),
  error: Type.Optional(Type.String({ description: "why the last try failed; the certificate may still be valid" })),
  failures: Type.Integer({ description: "failed tries in a row" }),
  next_try_at: Type.Optional(Type.String()),
});
export type CertificateView = Static<typeof CertificateView>;

const Certificates = Type.Object({ certificates: Type.Array(CertificateView) });

export const listCertificates = endpoint({
  method: "GET",
  path: "/certificates",
  scope: "read",
  summary: "Certificates that the ingresses ask for, with expiry, last error and next try",
  data: Certificates,
});

export const renewCertificates = endpoint({
  method: "POST",
  path: "/certificates/:name/renew",
  scope: "actions",
  summary: "Begins to renew the certificates of a host at once and does not wait; the budget of orders still holds",
  data: Certificates,
});

export const getAuthority = endpoint({
  method: "GET",
  path: "/certificates/authority",
  summary: "Root certificate of this server's own CA, made when there is none yet",
  data: Type.Object({
    certificate: Type.String({ description: "PEM" }),
    common_name: Type.String(),
    sha256: Type.String({ description: "fingerprint, hexadecimal" }),
    not_after: Type.String(),
  }),
});
