import * as x509 from "@peculiar/x509";
import { type Authority, createAuthority } from "../../src/ingress/certs/authority.ts";

/** What a fake CA answers with in place of the usual; undefined: the usual. */
type Interfere = (method: string, path: string) => Response | undefined;

/**
 * A CA that speaks ACME, in process: `fetch` is its whole network. It checks signatures of nothing, and a challenge by
 * asking `answerOf`. For what a real CA does, see test/ingress.
 */
export interface FakeCa {
  fetch: (url: string, init?: RequestInit) => Promise<Response>;
  directory: string;
  /** `METHOD path` of each request, in order. */
  requests: string[];
  /** Payloads of the requests for accounts and orders. */
  accounts: Record<string, unknown>[];
  orders: Record<string, unknown>[];
  interfere: Interfere;
  /** Time in its answers. */
  now: () => number;
  lifeMs: number;
  /** Window in which certificates should be renewed; undefined: the CA gives no such advice. */
  window: { start: number; end: number } | undefined;
  issued: number;
}

export interface FakeCaOptions {
  now: () => number;
  /** Text that port 80 of a name gives for a token. */
  answerOf: (name: string, token: string) => string | undefined;
}

const host = "https://ca.test";
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

interface Order {
  name: string;
  status: string;
  token: string;
  certificate?: string;
  error?: { detail: string };
}

export async function createFakeCa({ now, answerOf }: FakeCaOptions): Promise<FakeCa> {
  const authority = await createAuthority({ commonName: "Fake CA", now: now() });
  const orders: Order[] = [];
  const ca: FakeCa = {
    directory: `${host}/directory`,
    ...{ requests: [], accounts: [], orders: [], issued: 0, now, lifeMs: 90 * 86_400_000, window: undefined },
    interfere: () => undefined,
    async fetch(url, init = {}) {
      const { pathname } = new URL(url);
      const method = init.method ?? "GET";
      ca.requests.push(`${method} ${pathname}`);
      const other = ca.interfere(method, pathname);
      if (other !== undefined) return other;
      return answer(pathname, payloadOf(init.body));
    },
  };
  const reply = (data: unknown, status = 200, location?: string) => {
    const headers = { Date: new Date(ca.now()).toUTCString(), "Replay-Nonce": crypto.randomUUID() };
    return Response.json(data, {
      status,
      headers: location === undefined ? headers : { ...headers, Location: location },
    });
  };
  const shown = (index: number) => {
    const { status, certificate, error } = orders[index] ?? { status: "invalid" };
    return {
      ...{ status, error, finalize: `${host}/finalize/${index}`, authorizations: [`${host}/authz/${index}`] },
      ...(certificate === undefined ? {} : { certificate: `${host}/cert/${index}` }),
    };
  };
  const authz = (index: number) => {
    const order = orders[index] ?? { name: "", status: "invalid", token: "" };
    const status = order.status === "pending" ? "pending" : order.status === "invalid" ? "invalid" : "valid";
    const challenge = { url: `${host}/challenge/${index}`, token: order.token, status, error: order.error };
    const kinds = order.name.startsWith("*.") ? ["dns-01"] : ["http-01", "dns-01"];
    const identifier = { type: "dns", value: order.name.replace("*.", "") };
    return { identifier, status, challenges: kinds.map((type) => ({ ...challenge, type })) };
  };
  const check = (order: Order) => {
    const found = answerOf(order.name, order.token);
    const isRight = found?.startsWith(`${order.token}.`) === true || found === "dns";
    order.status = isRight ? "ready" : "invalid";
    if (!isRight) order.error = { detail: `nothing for ${order.token.slice(0, 5)} at ${order.name}` };
  };
  async function answer(path: string, payload: Record<string, unknown>): Promise<Response> {
    const [, kind = "", number = ""] = path.split("/");
    const index = Number(number);
    const order = orders[index];
    if (kind === "directory") return reply(directoryOf(ca));
    if (kind === "nonce") return reply(null);
    if (kind === "account") return reply({ status: "valid" }, ca.accounts.push(payload) && 201, `${host}/account/1`);
    if (kind === "order" && number === "") {
      const [first] = Array.isArray(payload.identifiers) ? payload.identifiers : [];
      ca.orders.push(payload);
      orders.push({ name: String(first?.value), status: "pending", token: `token-${orders.length}` });
      return reply(shown(orders.length - 1), 201, `${host}/order/${orders.length - 1}`);
    }
    if (kind === "renewal") return reply({ suggestedWindow: windowOf(ca) });
    if (order === undefined) return reply({ type: "urn:ietf:params:acme:error:malformed", detail: `no ${path}` }, 404);
    if (kind === "challenge") check(order);
    if (kind === "authz") return reply(authz(index));
    if (kind === "cert") return new Response(order.certificate, { headers: { "Replay-Nonce": "n" } });
    if (kind === "finalize") {
      order.certificate = await sign(authority, String(payload.csr), ca);
      order.status = "valid";
      ca.issued += 1;
    }
    return reply(kind === "challenge" ? {} : shown(index));
  }
  return ca;
}

function windowOf({ window }: FakeCa) {
  return window && { start: new Date(window.start).toISOString(), end: new Date(window.end).toISOString() };
}

function directoryOf(ca: FakeCa) {
  const own = { newNonce: `${host}/nonce`, newAccount: `${host}/account`, newOrder: `${host}/order` };
  return ca.window === undefined ? own : { ...own, renewalInfo: `${host}/renewal` };
}

function payloadOf(body: unknown): Record<string, unknown> {
  if (typeof body !== "string") return {};
  const { payload } = JSON.parse(body);
  return payload === "" ? {} : JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
}

async function sign(authority: Authority, csr: string, ca: FakeCa): Promise<string> {
  const request = new x509.Pkcs10CertificateRequest(Buffer.from(csr, "base64url"));
  const root = new x509.X509Certificate(authority.certificate);
  const [der = new ArrayBuffer(0)] = x509.PemConverter.decode(authority.key);
  const names = request.getExtension("2.5.29.17");
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: `a${ca.issued}`.padEnd(8, "0"),
    subject: "CN=leaf",
    issuer: root.subject,
    notBefore: new Date(ca.now()),
    notAfter: new Date(ca.now() + ca.lifeMs),
    publicKey: await request.publicKey.export(),
    signingKey: await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]),
    signingAlgorithm: algorithm,
    extensions: [...(names === null ? [] : [names]), await x509.AuthorityKeyIdentifierExtension.create(root)],
  });
  return `${leaf.toString("pem")}\n${root.toString("pem")}\n`;
}
