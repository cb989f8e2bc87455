/** The ingress, as far as the code that starts and stops replicas has to know it. Pods are named by their container ids. */
export interface IngressGate {
  /** Whether the ingress that runs leads to the pod, also where it cannot be changed at present. */
  serves(containerId: string): boolean;
  /** The same, of the proxy alone: a plugin that routes has ways of its own. */
  leadsTo(containerId: string): boolean;
  /** Whether it should lead to the pod, and has not taken that over. */
  lacks(containerId: string): boolean;
  /** Resolves with true once the ingress has taken in which replicas are ready and which leave; with false when it cannot. */
  caughtUp(signal: AbortSignal): Promise<boolean>;
  /** Why it does not take changes over; undefined where nothing is known. */
  problem(): string | undefined;
  /** Whether requests or WebSockets that it passed to a leaving pod are still under way. */
  isBusy(containerId: string): Promise<boolean>;
}

/** An ingress that a plugin routes in place of the proxy. */
export interface IngressPluginState {
  plugin: string;
  /** What it answered last. */
  data: Record<string, unknown> | undefined;
  problems: string[];
}
