import type { ManifestKey } from "./manifest.ts";

/** The container behind an address of the platform network. For the services beside this one; not on the wire. */
export interface Sender {
  key: ManifestKey;
  /** Id and name of the container. */
  id: string;
  pod: string;
  /** The replica id; of a statefulset the ordinal as text, of a one-off container that of its run. */
  replicaId: string;
  ordinal: number | undefined;
  releaseId: string | undefined;
  /** `init`, `release`, `job` or `run`; undefined for a replica. */
  role: string | undefined;
  /** Whether its manifest says `telemetry: true`. */
  wantsTelemetry: boolean;
}

export interface Senders {
  /** Undefined for an address that no container of this installation has. */
  at(address: string): Promise<Sender | undefined>;
}
