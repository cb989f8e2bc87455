import type { ManifestKey } from "../../orchestration/api/manifest.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { BackendFigures } from "../core/figures/proxy-figures.ts";
import type { IngressProxy } from "../proxy/proxy.ts";
import { targetOf, type WakesOptions } from "./wakes.ts";

export interface UseOptions extends Pick<WakesOptions, "ingresses" | "serviceKinds"> {
  proxy: Pick<IngressProxy, "figures" | "running">;
}

/** How much a resource is in use over all ingresses that lead to it. */
interface Use {
  /** Changes with every request that was answered, and with a load of the proxy's files, which starts the counts again. */
  mark: string;
  /** Requests, WebSockets and connections under way, those that wait for a replica among them. */
  active: number;
}

/**
 * What HAProxy counts itself, so that no lost line makes an app look unused. Undefined for what no ingress leads to:
 * nothing could wake it. Fails `unavailable` while the proxy does not answer.
 */
export async function ingressUse(options: UseOptions): Promise<(key: ManifestKey) => Use | undefined> {
  const { backends: counted } = await options.proxy.figures();
  const backends = options.proxy.running()?.assignment.backends;
  if (backends === undefined) throw new Failure("unavailable", "the proxy serves nothing yet");
  const leading = options.ingresses().map((manifest) => ({
    target: targetOf(manifest, options),
    figures: counted.get(backends[`${manifest.scope}/${manifest.name}`] ?? ""),
  }));
  return ({ kind, scope, name }) => {
    const ours = leading.filter(
      ({ target }) => target?.kind === kind && target.scope === scope && target.name === name,
    );
    if (!ours.some(({ figures }) => figures !== undefined)) return undefined;
    const figures = ours.flatMap((one) => one.figures ?? []);
    return { mark: figures.map(markOf).join(" "), active: figures.reduce((sum, { active }) => sum + active, 0) };
  };
}

function markOf({ requests, bytesIn }: BackendFigures): string {
  return `${requests}/${bytesIn}`;
}
