export type CertificateKind = "certificate" | "attempt" | "account" | "authority" | "order" | "demand";

/**
 * Documents of the certificates by kind and id. They hold private keys: the implementation seals them. Reads see what
 * was put before.
 */
export interface CertificateStore {
  /** The caller names the type that it has put. */
  get<T extends object>(kind: CertificateKind, id: string): T | undefined;
  list<T extends object>(kind: CertificateKind): { id: string; document: T }[];
  /** Resolves once the document is durable. */
  put<T extends object>(kind: CertificateKind, id: string, document: T): Promise<void>;
  remove(kind: CertificateKind, id: string): Promise<void>;
}
