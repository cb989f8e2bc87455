import { Client } from "acme-client";
import { generateKeyPairSync } from "node:crypto";
import { accountKey, type AcmeIssuer } from "../../core/certificates/wanted.ts";
import type { CertificateStore } from "../store.ts";
import { attachTransport, problemTypeOf, type TransportOptions } from "./transport.ts";

interface StoredAccount {
  /** PEM. */
  key: string;
  url: string;
}

interface AccountOptions {
  issuer: AcmeIssuer;
  store: CertificateStore;
  transport: TransportOptions;
}

/** Client of a CA for a stored or new account. The terms of the CA are accepted on behalf of the operator. */
async function openAccount(options: AccountOptions): Promise<Client> {
  const id = accountKey(options.issuer);
  const stored = options.store.get<StoredAccount>("account", id);
  if (stored !== undefined) return clientOf(options, stored.key, stored.url);
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
  const client = clientOf(options, pem);
  const { email } = options.issuer;
  await client.createAccount({
    termsOfServiceAgreed: true,
    ...(email === undefined ? {} : { contact: [`mailto:${email}`] }),
  });
  await options.store.put<StoredAccount>("account", id, { key: pem, url: client.getAccountUrl() });
  return client;
}

function clientOf({ issuer, transport }: AccountOptions, accountKeyPem: string, accountUrl?: string): Client {
  const { directory, eab } = issuer;
  const client = new Client({
    directoryUrl: directory,
    accountKey: accountKeyPem,
    ...(accountUrl === undefined ? {} : { accountUrl }),
    ...(eab === undefined ? {} : { externalAccountBinding: { kid: eab.keyId, hmacKey: eab.key } }),
  });
  attachTransport(client, transport);
  return client;
}

/** Runs `use` with the account; with a new one when the CA has forgotten the stored one. */
export async function withAccount<T>(options: AccountOptions, use: (client: Client) => Promise<T>): Promise<T> {
  try {
    return await use(await openAccount(options));
  } catch (error) {
    if (problemTypeOf(error) !== "accountDoesNotExist") throw error;
    await options.store.remove("account", accountKey(options.issuer));
    return await use(await openAccount(options));
  }
}
