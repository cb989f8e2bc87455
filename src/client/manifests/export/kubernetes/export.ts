import type { Namespace } from "kubernetes-types/core/v1";
import type { CoreDraft } from "../../../../orchestration/core/draft.ts";
import { isPodKind } from "../../../facts/look.ts";
import { type Exportable, exportables, type Loss } from "../exportable.ts";
import { configMapOf, registrySecretOf } from "./data.ts";
import { label } from "./names.ts";
import { ingressOf, portsOf, serviceFor } from "./network.ts";
import { cronjobOf, deploymentOf, jobOf, statefulsetOf } from "./workloads.ts";

/** Manifests as documents of Kubernetes, in an order in which they can be applied. What does not carry over: `losses`. */
export function exportKubernetes(drafts: readonly CoreDraft[]): { documents: unknown[]; losses: Loss[] } {
  const losses: Loss[] = [];
  const all = exportables(drafts, losses);
  const ingresses = all.filter(({ kind }) => kind === "ingress");
  const ports = new Map(
    all.filter(({ kind }) => isPodKind(kind)).map((from) => [`${from.scope}/${from.name}`, portsOf(from, ingresses)]),
  );
  const documents = all.flatMap((from) => documentsOf(from, ports));
  return { documents: [...namespacesOf(all), ...once(documents)], losses };
}

function documentsOf(from: Exportable, ports: ReadonlyMap<string, ReturnType<typeof portsOf>>): unknown[] {
  const own = ports.get(`${from.scope}/${from.name}`) ?? [];
  switch (from.kind) {
    case "deployment":
      return [...deploymentOf(from), ...serviceFor(from, own, false)];
    case "statefulset":
      return [...statefulsetOf(from), ...serviceFor(from, own, true)];
    case "job":
      return jobOf(from);
    case "cronjob":
      return cronjobOf(from);
    case "ingress":
      return ingressOf(from, (service) => ports.get(`${from.scope}/${service}`)?.[0]?.port);
    case "asset":
      return configMapOf(from);
    case "registry":
      return registrySecretOf(from);
  }
}

function namespacesOf(all: readonly Exportable[]): Namespace[] {
  const scopes = new Set(all.map(({ scope }) => scope).filter((scope) => scope !== ""));
  return [...scopes].sort().map((scope) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name: label(scope) } }));
}

/** A claim that two workloads share is written once. */
function once(documents: readonly unknown[]): unknown[] {
  const seen = new Set<string>();
  return documents.filter((document) => {
    const { kind, metadata } = document as { kind: string; metadata: { namespace?: string; name: string } };
    const key = `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
