import type { CoreDraft } from "../../../../orchestration/core/draft.ts";
import { wordsOf } from "../../../../orchestration/core/spec/lenient.ts";
import { parseStartAfter } from "../../../../orchestration/core/spec/pod.ts";
import { isPodKind } from "../../../facts/look.ts";
import { exportables, type Loss } from "../exportable.ts";
import { type ComposeFile, lookUpTexts } from "./mounts.ts";
import { serviceOf } from "./service.ts";

type Named = Pick<CoreDraft, "scope" | "name">;

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
  // With several scopes, the same name may be there twice.
  const keyOf = ({ scope, name }: Named) => (scopes.length > 1 ? `${scope}-${name}` : name);
  const services = Object.fromEntries(pods.map((from) => [keyOf(from), serviceOf(from, file)]));
  for (const { scope, name, spec } of pods) {
    const entries = wordsOf(spec.start_after).flatMap((entry) => parseStartAfter(entry) ?? []);
    const awaited = entries.flatMap((entry) => {
      const key = keyOf({ scope, name: entry.name });
      const other = services[key];
      if (other === undefined) return [];
      const isChecked = entry.awaits === "ready" && other.healthcheck !== undefined;
      return [[key, { condition: isChecked ? "service_healthy" : "service_started" }] as const];
    });
    if (awaited.length > 0)
      Object.assign(services[keyOf({ scope, name })] ?? {}, { depends_on: Object.fromEntries(awaited) });
  }
  for (const { kind, lose } of all) if (Object.hasOwn(advice, kind)) lose("spec", String(advice[kind]));
  const more = Object.entries({ volumes: file.volumes, networks: file.networks, configs: file.configs });
  return {
    document: {
      ...(scopes.length === 1 ? { name: scopes[0] } : {}),
      services,
      ...Object.fromEntries(more.filter(([, fields]) => Object.keys(fields).length > 0)),
    },
    losses,
  };
}
