/**
 * Kinds of documents about certificates: issued certificates, failed attempts, accounts at CAs, our own authority,
 * orders that were placed, and names with permission for a certificate on demand.
 */
type CertificateKind = "certificate" | "attempt" | "account" | "authority" | "order" | "demand";

/**
 * Kinds of documents about copies outside of the machine: the recovery key, targets, the newest runs of each, restores,
 * containers that are paused for a copy, the list of copies at each target, and drills.
 */
type BackupKind = "key" | "target" | "runs" | "restore" | "paused" | "copies" | "drill";

interface StoredDocument {
  id: string;
  /** JSON; its fields are known alone to the service whose document it is. */
  text: string;
  /** Epoch milliseconds. */
  updatedAt: number;
}

export interface DocumentReads<Kind extends string> {
  get(kind: Kind, id: string): StoredDocument | undefined;
  /** In the order of the ids. */
  list(kind: Kind): StoredDocument[];
}

export interface DocumentWrites<Kind extends string> {
  put(kind: Kind, document: StoredDocument): void;
  remove(kind: Kind, id: string): void;
}

/** The tables of documents, as every reader sees them. */
export interface DocumentTables {
  readonly certificates: DocumentReads<CertificateKind>;
  readonly backups: DocumentReads<BackupKind>;
}

/** The same inside of a write. */
export interface WrittenDocuments {
  certificates: DocumentReads<CertificateKind> & DocumentWrites<CertificateKind>;
  backups: DocumentReads<BackupKind> & DocumentWrites<BackupKind>;
}
