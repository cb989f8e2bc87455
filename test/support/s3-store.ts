import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testCertificate } from "./self-signed.ts";

/** What befalls a request: an error of the storage, an answer that ends or rests in its middle, or none at all. */
export type Mishap = "unavailable" | "cut" | "silence" | "slow" | undefined;

/** As much of S3 as restic uses, in memory, by TLS with a certificate of its own. It checks no signature. */
export interface S3Store {
  /** Address of a bucket, as a target has it. */
  url: string;
  /** File of the certificate, which no system trusts. */
  certificate: string;
  objects: Map<string, Buffer>;
  /** Asked for each request. */
  mishap: (method: string, key: string) => Mishap;
  /** Told of each request: the key, or where a list begins. */
  seen: (method: string, place: string) => void;
  close(): Promise<void>;
}

/** `plain`: without TLS. */
export async function s3Store({ plain = false } = {}): Promise<S3Store> {
  const folder = mkdtempSync(join(tmpdir(), "berth-s3."));
  const [pem, certificate] = [testCertificate(["localhost"]), join(folder, "certificate.pem")];
  writeFileSync(certificate, pem);
  const store: S3Store = {
    ...{ url: "", certificate, objects: new Map(), mishap: () => undefined, seen: () => undefined },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => void answer(store, request, response);
  const server = plain ? createPlainServer(onRequest) : createServer({ key: pem, cert: pem }, onRequest);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  store.url = `${plain ? "s3+http" : "s3"}://localhost:${(server.address() as AddressInfo).port}/bucket`;
  return store;
}

const restMs = 50;

async function answer(store: S3Store, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET" } = request;
  const { pathname, searchParams } = new URL(request.url ?? "/", "https://s3");
  const key = decodeURIComponent(pathname).replace(/^\/bucket\/?/, "");
  store.seen(method, key === "" ? (searchParams.get("prefix") ?? "") : key);
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const mishap = store.mishap(method, key);
  if (mishap === "silence") return;
  if (mishap === "unavailable") return fault(response, 503, "SlowDown");
  const send = (body: Buffer | string, headers: Record<string, string | number> = {}, status = 200) => {
    const bytes = Buffer.from(body);
    response.writeHead(status, { "content-length": bytes.length, ...headers });
    if (method === "HEAD" || (mishap !== "cut" && mishap !== "slow")) return void response.end(bytes);
    const half = Math.floor(bytes.length / 2);
    const then = { cut: () => response.socket?.destroy(), slow: () => void response.end(bytes.subarray(half)) }[mishap];
    response.write(bytes.subarray(0, half), () => setTimeout(then, restMs));
  };
  if (key === "") {
    if (searchParams.has("location")) return send(xml("<LocationConstraint/>"));
    return send(method === "GET" ? listing(store, searchParams) : "");
  }
  const found = store.objects.get(key);
  if (method === "PUT") store.objects.set(key, Buffer.concat(parts));
  if (method === "PUT") return send("", { etag: '"0"' });
  if (method === "DELETE") store.objects.delete(key);
  if (method === "DELETE") return send("", {}, 204);
  if (found === undefined) return fault(response, 404, "NoSuchKey");
  const facts = { etag: '"0"', "last-modified": new Date(0).toUTCString(), "accept-ranges": "bytes" };
  if (method === "HEAD") return send("", { ...facts, "content-length": found.length });
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
  if (from === undefined) return send(found, facts);
  const last = to === "" ? found.length - 1 : Math.min(Number(to), found.length - 1);
  const range = { "content-range": `bytes ${from}-${last}/${found.length}` };
  send(found.subarray(Number(from), last + 1), { ...facts, ...range }, 206);
}

const xml = (body: string) => `<?xml version="1.0" encoding="UTF-8"?>${body}`;

function fault(response: ServerResponse, status: number, code: string): void {
  const body = xml(`<Error><Code>${code}</Code><Message>not now</Message></Error>`);
  response.writeHead(status, { "content-type": "application/xml", "content-length": body.length }).end(body);
}

function listing({ objects }: S3Store, asked: URLSearchParams): string {
  const [prefix, delimiter] = [asked.get("prefix") ?? "", asked.get("delimiter") ?? ""];
  const rows = new Set<string>();
  for (const [key, { length }] of [...objects].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!key.startsWith(prefix)) continue;
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    const facts = `<LastModified>1970-01-01T00:00:00.000Z</LastModified><ETag>"0"</ETag><Size>${length}</Size>`;
    if (end === -1) rows.add(`<Contents><Key>${key}</Key>${facts}<StorageClass>STANDARD</StorageClass></Contents>`);
    else rows.add(`<CommonPrefixes><Prefix>${key.slice(0, end + 1)}</Prefix></CommonPrefixes>`);
  }
  const head = `<Name>bucket</Name><Prefix>${prefix}</Prefix><IsTruncated>false</IsTruncated>`;
  return xml(`<ListBucketResult>${head}${[...rows].join("")}</ListBucketResult>`);
}
