import { type Static, Type } from "@sinclair/typebox";
import { OneOf, Shape } from "../../../base/wire/shape.ts";
import { routingDefaults } from "./routing-defaults.ts";

const AccountBinding = Shape(
  {
    kid: Type.String({ description: "key identifier from the certificate authority" }),
    hmac_key: Type.String({ description: "base64url; kept secret" }),
  },
  "external account binding, for certificate authorities that ask for it",
);

export const Tls = Shape(
  {
    enabled: Type.Optional(Type.Boolean({ default: true, description: "false: plain HTTP in spite of the block" })),
    provider: Type.Optional(
      OneOf(
        ["letsencrypt", "letsencrypt_staging", "internal", "acme", "file"],
        "who issues the certificate: Let's Encrypt, its test environment, the CA of this server, the ACME server of directory; file: certificate and key are files on the server",
        routingDefaults.provider,
      ),
    ),
    email: Type.Optional(Type.String({ description: "contact for the issuer" })),
    directory: Type.Optional(Type.String({ description: "directory URL of an ACME server; required with acme" })),
    directory_ca: Type.Optional(
      Type.String({ description: "PEM of the CA that signed the ACME server's own certificate, when it is private" }),
    ),
    eab: Type.Optional(AccountBinding),
    dns: Type.Optional(
      Type.String({
        description: "plugin that writes the DNS record of a challenge (DNS-01); wildcards need it; default: HTTP-01",
      }),
    ),
    skip_checks: Type.Optional(
      Type.Boolean({
        default: false,
        description: "ask the issuer without a look first whether the name leads to this server",
      }),
    ),
    certificate: Type.Optional(
      Type.String({ description: "with file: absolute path of the PEM file of the certificate and its chain" }),
    ),
    key: Type.Optional(Type.String({ description: "with file: absolute path of the PEM file of the private key" })),
    on_demand: Type.Optional(
      Type.Boolean({
        default: false,
        description: "issue names below a wildcard or * at their first handshake; needs ask",
      }),
    ),
    ask: Type.Optional(
      Type.String({
        description: "with on_demand: URL asked with ?domain=NAME; only status 200 permits a certificate",
      }),
    ),
  },
  "certificates; without the block plain HTTP",
);
export type Tls = Static<typeof Tls>;
