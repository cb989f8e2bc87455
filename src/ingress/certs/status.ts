import type { Issuer, Target } from "../core/certificates/wanted.ts";
import { letsencrypt, letsencryptStaging } from "../core/certificates/wanted.ts";
import type { Holdings } from "./holdings.ts";

/** How a certificate is doing, for people. Times are epoch milliseconds. */
export interface CertificateStatus {
  id: string;
  names: readonly string[];
  /** `letsencrypt`, `internal`, the host of another CA, or the file. */
  issuer: string;
  /** A visitor asked for it. */
  isOnDemand: boolean;
  /** `pending`: none was issued yet, and no try has failed. `failed`: none is there. Both say nothing about renewals. */
  state: "valid" | "expired" | "pending" | "failed";
  /** It is being issued or renewed right now. */
  isUnderWay: boolean;
  issuedBy: string | undefined;
  serial: string | undefined;
  notBefore: number | undefined;
  notAfter: number | undefined;
  renewAt: number | undefined;
  /** Why the last try failed; a valid certificate may have one when its renewal failed. */
  error: string | undefined;
  failures: number;
  nextTryAt: number | undefined;
}

interface StatusInput {
  target: Target;
  holdings: Holdings;
  isUnderWay: boolean;
  now: number;
}

export function statusOf({ target, holdings, isUnderWay, now }: StatusInput): CertificateStatus {
  const { id, names, issuer } = target;
  const held = holdings.held(id);
  const attempt = holdings.attempt(id);
  const missing = attempt === undefined ? "pending" : "failed";
  return {
    id,
    names,
    issuer: issuerLabel(issuer),
    isOnDemand: target.ask !== undefined,
    state: held === undefined ? missing : held.notAfter > now ? "valid" : "expired",
    isUnderWay,
    issuedBy: held?.issuedBy,
    serial: held?.serial,
    notBefore: held?.notBefore,
    notAfter: held?.notAfter,
    renewAt: issuer.kind === "file" ? undefined : held?.renewAt,
    error: attempt?.error,
    failures: attempt?.failures ?? 0,
    nextTryAt: attempt?.nextTryAt,
  };
}

export function issuerLabel(issuer: Issuer): string {
  if (issuer.kind === "internal") return "internal";
  if (issuer.kind === "file") return issuer.certificate;
  if (issuer.directory === letsencrypt) return "letsencrypt";
  if (issuer.directory === letsencryptStaging) return "letsencrypt staging";
  return URL.canParse(issuer.directory) ? new URL(issuer.directory).host : issuer.directory;
}
