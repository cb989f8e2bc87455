/** Where one running replica of a deployment or a statefulset is reached. For the services beside this one; not on the wire. */
export interface PodEndpoint {
  /** `deployment` or `statefulset`. */
  kind: string;
  scope: string;
  name: string;
  /** The replica id; of a statefulset the ordinal as text. */
  replica: string;
  /** Ordinal in a statefulset. */
  ordinal?: number;
  /** The machine that it runs on. */
  node: string;
  /** The container. Another one has another id, also where it takes the name and the address of one that went. */
  id: string;
  /**
   * On the platform network; `127.0.0.1` for a pod on the network of the machine. Undefined for one that has neither, and
   * for a moment after a start.
   */
  ip: string | undefined;
  /** TCP ports of the spec that it was made from, on the container's side, in the order of the spec. */
  ports: number[];
  /** New requests may go there: its probes say so, or it has none and runs. Never true of one that leaves. */
  ready: boolean;
  /** It is being taken out of service: what it has begun it may finish. */
  leaving: boolean;
  /** Its part of the requests, 1 to 256, relative to the other replicas; undefined: as much as each of the others. */
  weight?: number;
}

/** The replicas that run, as last seen. */
export interface PodEndpoints {
  /** From memory. Undefined until the engine was asked for the first time: then nothing is known, which is not the same as none. */
  list(): PodEndpoint[] | undefined;
  /** Tells, a moment after, that the list may have changed; many changes at once are reported once. Returns the way to leave. */
  subscribe(listener: () => void): () => void;
}
