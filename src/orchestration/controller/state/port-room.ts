import type { ManifestKey } from "../../api/manifest.ts";
import type { Pod } from "./pod.ts";

/**
 * Asks ports that ingresses lead to, until they answer once. A container that was made while an ingress led to a port
 * counts only once that port is open. One that served before that is warned about, and stays.
 */
export interface PortRoom {
  /** Takes the pods as they are now: new runs are asked, ports that ingresses lead to since then too. */
  watch(pods: readonly Pod[]): void;
  /** Whether visitors may be sent there, as far as its ports go. */
  mayServe(pod: Pod): boolean;
  /** Whether a rollout may trust it: all ports that it has to open have answered. */
  isProven(pod: Pod): boolean;
  /** On the steady clock, when the last of them answered; undefined where none was asked. */
  openSince(pod: Pod): number | undefined;
  /** The port that keeps a running pod from counting, and where the program does listen; undefined before it was asked. */
  hindrance(pod: Pod): string | undefined;
  /** Closed ports of replicas of the resource that count all the same. */
  closed(key: ManifestKey): { port: number; warning: string }[];
  /** Runs until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}
