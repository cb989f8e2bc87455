import type { ConfigMap, Namespace, Secret } from "kubernetes-types/core/v1";
import type { CoreDraft } from "../../../../orchestration/core/draft.ts";
import { isPodKind } from "../../../facts/look.ts";
import { type Exportable, exportables, type Loss } from "../exportable.ts";
import { label, metadataOf } from "./names.ts";
import { ingressOf, portsOf, serviceFor } from "./network.ts";
import { cronjobOf, deploymentOf, jobOf, statefulsetOf } from "./workloads.ts";
import { base64Bytes } from "../../../../base/pure/bytes.ts";
import { fieldsOf, textOf } from "../../../../orchestration/core/spec/lenient.ts";
import { MASK } from "../../../../orchestration/core/mask.ts";

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

/** Files as a config map: text where it is text, base64 where not. */
function configMapOf(from: Exportable): ConfigMap[] {
  const data: Record<string, string> = {};
  const binaryData: Record<string, string> = {};
  for (const [key, file] of Object.entries(fieldsOf(from.spec.files))) {
    const { _source: source, content } = fieldsOf(file);
    const bytes = source === "file" && typeof content === "string" ? base64Bytes(content) : undefined;
    const text = typeof file === "string" ? file : bytes === undefined ? undefined : textIn(bytes);
    if (text !== undefined) data[key] = text;
    else if (bytes !== undefined) binaryData[key] = String(content);
    else from.lose(`spec.files.${key}`, "is fetched by berth: write its content");
  }
  for (const [key, mode] of Object.entries(fieldsOf(from.spec.modes))) {
    from.lose(`spec.modes.${key}`, `set "mode: ${String(mode)}" for it in the volumes that mount this ConfigMap`);
  }
  if (from.scope === "") from.lose("scope", "this asset is for all scopes, and a ConfigMap is of one namespace");
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: metadataOf(from),
      ...(Object.keys(data).length === 0 ? {} : { data }),
      ...(Object.keys(binaryData).length === 0 ? {} : { binaryData }),
    },
  ];
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The login of a registry, where it is not masked. */
function registrySecretOf(from: Exportable): Secret[] {
  const { url, username, helper } = from.spec;
  const token = textOf(from.spec.token) ?? textOf(from.spec.password);
  if (helper !== undefined || token === undefined || token === MASK) {
    from.lose("spec", "its password is not shown: make the Secret with kubectl create secret docker-registry");
    return [];
  }
  from.lose("spec", "name this Secret in imagePullSecrets, in every namespace that needs it");
  const auth = { username: textOf(username) ?? "", password: token };
  return [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: metadataOf(from),
      type: "kubernetes.io/dockerconfigjson",
      stringData: { ".dockerconfigjson": JSON.stringify({ auths: { [textOf(url) ?? ""]: auth } }) },
    },
  ];
}
