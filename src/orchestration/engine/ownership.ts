import type { Naming } from "../core/naming.ts";
import type { ContainerSpec } from "../core/workload.ts";

/** Whose objects these are: written on everything made, compared before anything is used or removed. */
export interface Owner {
  names: Naming;
  installationId: string;
}

type Labels = Record<string, string>;

/** Labels of every container, volume and network that this installation makes. */
export function ownLabels({ names, installationId }: Owner): Labels {
  return { [names.label.createdBy]: names.prefix, [names.label.installation]: installationId };
}

/** Labels of a container, weakest first: raw engine options, the spec, ours. */
export function containerLabels(owner: Owner, spec: ContainerSpec): Labels {
  return { ...spec.options.labels, ...spec.labels, ...ownLabels(owner), [owner.names.label.image]: spec.image };
}

/** What a container must carry to be of this installation and, where given, of this resource. */
export function selectorLabels(owner: Owner, filter: { kind?: string; scope?: string; name?: string }): Labels {
  const { installation, kind, scope, name } = owner.names.label;
  return {
    [installation]: owner.installationId,
    ...(filter.kind === undefined ? {} : { [kind]: filter.kind }),
    ...(filter.scope === undefined ? {} : { [scope]: filter.scope }),
    ...(filter.name === undefined ? {} : { [name]: filter.name }),
  };
}

/** The first identity label by which `existing` names another owner than `wanted`, as `key=value`. */
export function foreignLabel(owner: Owner, existing: Labels, wanted: Labels): string | undefined {
  const { createdBy, installation, kind, scope, name, claim, replicaOrdinal } = owner.names.label;
  for (const key of [createdBy, installation, kind, scope, name, claim, replicaOrdinal]) {
    const found = existing[key];
    if (found !== undefined && wanted[key] !== undefined && found !== wanted[key]) return `${key}=${found}`;
  }
  return undefined;
}
