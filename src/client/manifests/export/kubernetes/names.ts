import type { ObjectMeta } from "kubernetes-types/meta/v1";

/** A name as Kubernetes takes it: a DNS label. */
export function label(name: string): string {
  const plain = name.replaceAll(/[^a-z0-9-]/g, "-").replaceAll(/^-+|-+$/g, "");
  return (plain === "" ? "app" : plain).slice(0, 63).replace(/-+$/, "");
}

/** A label that begins with a letter, as the name of a Service must. */
export function serviceName(name: string): string {
  const plain = label(name);
  return /^[a-z]/.test(plain) ? plain : label(`app-${plain}`);
}

/** What selects the pods of a workload. */
export function labelsOf(scope: string, name: string): Record<string, string> {
  const own = { "app.kubernetes.io/name": label(name) };
  return scope === "" ? own : { ...own, "app.kubernetes.io/part-of": label(scope) };
}

export function metadataOf({ scope, name }: { scope: string; name: string }, own: string = label(name)): ObjectMeta {
  return { name: own, ...(scope === "" ? {} : { namespace: label(scope) }), labels: labelsOf(scope, name) };
}
