import type { CoreDraft } from "../../../../orchestration/core/draft.ts";
import { isPodKind } from "../../../facts/look.ts";
import { exportables, type Loss } from "../exportable.ts";
import { type ComposeFile, lookUpTexts } from "./mounts.ts";
import { serviceOf } from "./service.ts";

const advice: Record<string, string> = {
  job: "has no counterpart: docker compose run",
  cronjob: "has no counterpart: a timer of the machine can call docker compose run",
  ingress: "has no counterpart: a proxy in front of the published ports",
  registry: "has no counterpart: docker login",
};

/** Manifests as one Compose file. What does not carry over: `losses`. */
export function exportCompose(drafts: readonly CoreDraft[]): { document: Record<string, unknown>; losses: Loss[] } {
  const losses: Loss[] = [];
  const all = exportables(drafts, losses);
  const textOf = lookUpTexts(all.filter(({ kind }) => kind === "asset"));
  const file: ComposeFile = { volumes: {}, networks: {}, configs: {}, textOf };
  const pods = all.filter(({ kind }) => isPodKind(kind));
  const scopes = [...new Set(pods.map(({ scope }) => scope))];
  const services = pods.map((from) => {
    // With several scopes, the same name may be there twice.
    const key = scopes.length > 1 ? `${from.scope}-${from.name}` : from.name;
    return [key, serviceOf(from, file)] as const;
  });
  for (const { kind, lose } of all) if (Object.hasOwn(advice, kind)) lose("spec", String(advice[kind]));
  const more = Object.entries({ volumes: file.volumes, networks: file.networks, configs: file.configs });
  return {
    document: {
      ...(scopes.length === 1 ? { name: scopes[0] } : {}),
      services: Object.fromEntries(services),
      ...Object.fromEntries(more.filter(([, fields]) => Object.keys(fields).length > 0)),
    },
    losses,
  };
}
