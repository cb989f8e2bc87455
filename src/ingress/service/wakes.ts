import { ingressTargetKind } from "../../orchestration/api/ingress-target.ts";
import type { ManifestKey, PodKind } from "../../orchestration/api/manifest.ts";
import type { Running } from "../core/change.ts";
import { type IngressManifest, readIngress } from "../core/ingress-spec.ts";
import { parseWakeLine } from "../core/wake-line.ts";

export interface WakesOptions {
  /** What the proxy serves now. */
  running(): Running | undefined;
  ingresses(): IngressManifest[];
  serviceKinds(scope: string, name: string): readonly PodKind[];
  /** A request to `host` waits for the resource. */
  requested(key: ManifestKey, host: string): void;
}

/** Takes the lines of the proxy about requests that wait for an app that is asleep. False for every other line. */
export function createWakes(options: WakesOptions): (line: string) => boolean {
  return (text) => {
    const line = parseWakeLine(text);
    if (line === undefined) return false;
    const { backends = {} } = options.running()?.assignment ?? {};
    const id = Object.keys(backends).find((site) => backends[site] === line.backend);
    const manifest = options.ingresses().find(({ scope, name }) => `${scope}/${name}` === id);
    const key = manifest === undefined ? undefined : targetOf(manifest, options);
    if (key !== undefined) options.requested(key, line.host);
    return true;
  };
}

/** What the requests of an ingress are for; undefined for a part of the server itself, and for what is not stored. */
export function targetOf(
  manifest: IngressManifest,
  { serviceKinds }: Pick<WakesOptions, "serviceKinds">,
): ManifestKey | undefined {
  const { scope } = manifest;
  const { spec } = readIngress(manifest);
  const name = spec.service ?? manifest.name;
  const kind = ingressTargetKind(serviceKinds(scope, name), spec.ordinal);
  return kind === undefined ? undefined : { kind, scope, name };
}
