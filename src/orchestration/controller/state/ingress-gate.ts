/** The ingress, as far as the code that starts and stops replicas has to know it. Pods are named by their container ids. */
export interface IngressGate {
  /** Whether the ingress sends requests to the pod. */
  serves(containerId: string): boolean;
  /** Resolves with true once the ingress has taken in which replicas are ready and which leave; with false when it cannot. */
  caughtUp(signal: AbortSignal): Promise<boolean>;
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
