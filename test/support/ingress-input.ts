import type { PodEndpoint } from "../../src/orchestration/api/pod-endpoint.ts";
import type { SitesInput } from "../../src/ingress/core/sites.ts";

/** A ready replica of the deployment shop/web with one port. */
export function endpoint(fields: Partial<PodEndpoint> = {}): PodEndpoint {
  return {
    kind: "deployment",
    scope: "shop",
    name: "web",
    replica: "abc",
    node: "local",
    id: "c1",
    ip: "10.1.0.2",
    ports: [8080],
    ready: true,
    leaving: false,
    ...fields,
  };
}

export const ingress = (name: string, spec: Record<string, unknown>) => ({ scope: "shop", name, spec });

/** One deployment, shop/web, is stored. */
export function sitesInput(fields: Partial<SitesInput> = {}): SitesInput {
  return {
    ingresses: [],
    endpoints: [],
    serviceKinds: (scope, name) => (scope === "shop" && name === "web" ? ["deployment"] : []),
    planes: { "@identity": { address: "127.0.0.1", port: 8688 } },
    ownPorts: new Map([[443, "the ingress itself"]]),
    ...fields,
  };
}
