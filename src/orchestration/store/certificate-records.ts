/**
 * Kinds of documents about certificates: issued certificates, failed attempts, accounts at CAs, our own authority,
 * orders that were placed, and names with permission for a certificate on demand.
 */
type CertificateKind = "certificate" | "attempt" | "account" | "authority" | "order" | "demand";

export interface CertificateDocument {
  id: string;
  /** JSON; its fields are known to the ingress alone. */
  text: string;
  /** Epoch milliseconds. */
  updatedAt: number;
}

export interface CertificateReads {
  get(kind: CertificateKind, id: string): CertificateDocument | undefined;
  /** In the order of the ids. */
  list(kind: CertificateKind): CertificateDocument[];
}

export interface CertificateWrites {
  put(kind: CertificateKind, document: CertificateDocument): void;
  remove(kind: CertificateKind, id: string): void;
}
