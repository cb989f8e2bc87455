import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { writeAtomic } from "../base/disk/atomic-write.ts";
import { Failure } from "../base/wire/failure.ts";
import { readBounded } from "../client/basics/read-bounded.ts";
import { certificateLimits } from "../config/certificate-limits.ts";
import type { PlaneTls } from "../config/observability-options.ts";
import { readPair } from "../ingress/certs/pem.ts";

/** What a listener serves TLS with. */
interface ReadyTls {
  cert: string;
  key: string;
  /** SHA-256 of the certificate, as clients that pin it want it: `AB:CD:…`. */
  fingerprint: string;
  selfSigned: boolean;
  /** Epoch milliseconds. */
  expiresAt: number;
}

interface Place {
  /** Folder of a certificate of the plane's own. */
  folder: string;
  /** Epoch milliseconds. */
  now: number;
}

const renewMs = 30 * 24 * 3_600_000;

/**
 * The certificate of the observability plane; undefined where it serves none. One of its own is made when there is
 * none, and again before it expires. Fails `invalid` for files that are not a certificate and its key, or have expired.
 */
export async function readyPlaneTls(tls: PlaneTls, { folder, now }: Place): Promise<ReadyTls | undefined> {
  if (tls.kind === "off") return undefined;
  if (tls.kind === "self-signed") return ownTls(folder, now);
  const ready = readFiles(tls.certificate, tls.key);
  if (ready.expiresAt > now) return ready;
  const at = new Date(ready.expiresAt).toISOString();
  throw new Failure("invalid", `observability tls: the certificate ${tls.certificate} expired at ${at}: renew it`);
}

async function ownTls(folder: string, now: number): Promise<ReadyTls> {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const present = existsSync(certificate) && existsSync(key) ? readFiles(certificate, key) : undefined;
  if (present !== undefined && present.expiresAt > now + renewMs) return { ...present, selfSigned: true };
  // Loaded when it is used: its packages take megabytes of memory, and most servers have a certificate already.
  const { selfSigned } = await import("../ingress/certs/authority.ts");
  const made = await selfSigned({ names: ["localhost", hostname()], addresses: ownAddresses(), now });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // The key first: a certificate without its key would be taken for damage.
  await writeAtomic(key, made.key, 0o600);
  await writeAtomic(certificate, made.certificate, 0o600);
  return { ...readFiles(certificate, key), selfSigned: true };
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [...new Set(all.map(({ address }) => address.split("%")[0] ?? address))];
}

function readFiles(certificatePath: string, keyPath: string): ReadyTls {
  const { chain, key, notAfter } = named(certificatePath, keyPath, () =>
    readPair({ certificate: textOf(certificatePath), key: textOf(keyPath) }),
  );
  const fingerprint = new X509Certificate(chain).fingerprint256;
  return { cert: chain, key, fingerprint, selfSigned: false, expiresAt: notAfter };
}

function textOf(path: string): string {
  try {
    return new TextDecoder().decode(readBounded(path, path, { bytesMax: certificateLimits.fileBytesMax }));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("invalid", `observability tls: ${why}`, { cause });
  }
}

/** A problem with a pair is reported with its files. */
function named<T>(certificate: string, key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Failure) || error.message.startsWith("observability tls")) throw error;
    throw new Failure("invalid", `observability tls: ${certificate} and ${key}: ${error.message}`, { cause: error });
  }
}
