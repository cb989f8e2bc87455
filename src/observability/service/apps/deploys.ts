import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf, QueryOf } from "../../../base/wire/endpoint.ts";
import { readFlag } from "../../../base/wire/query.ts";
import { apply } from "../../../orchestration/api/apply.ts";
import { keyOf } from "../../../orchestration/api/manifest-key.ts";
import { podKinds } from "../../../orchestration/api/manifest.ts";
import { listReleases, type Release } from "../../../orchestration/api/releases.ts";
import type { applyManifests, diffReleases } from "../../api/deploys.ts";
import { applyFault } from "../../../access/app-fields.ts";
import { specDiff } from "../../core/apps/spec-diff.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { Platform } from "../platform.ts";
import type { AppTarget } from "./apps.ts";
import type { Operations } from "./operations.ts";

/** Releases of apps, and what brings new ones. */
export interface Deploys {
  diff(
    who: { grant: Grant; actor: string },
    target: AppTarget,
    ids: { from?: string | undefined; to?: string | undefined },
  ): Promise<DataOf<typeof diffReleases>>;
  /** `query`: as the request has it. */
  apply(
    who: { grant: Grant; actor: string },
    body: unknown,
    query: Partial<QueryOf<typeof applyManifests>>,
  ): Promise<DataOf<typeof applyManifests>>;
}

export function createDeploys({ platform, operations }: { platform: Platform; operations: Operations }): Deploys {
  /** One operation for each app that is another than before. */
  function follow(actor: string, applied: readonly { kind: string; scope?: string; name: string }[]) {
    return applied.flatMap(({ kind, scope = "", name }) => {
      const facts = podKinds.some((known) => known === kind) ? platform.apps.of({ kind, scope, name }) : undefined;
      if (facts === undefined) return [];
      const { revision, generation, release, status } = facts;
      const under = release?.endedAt === undefined ? release?.id : undefined;
      if (under === undefined && (status?.observedRevision ?? 0) >= revision) return [];
      const goal = { type: "settled" as const, revision, generation, release: under };
      return [operations.begin({ type: "apply", app: keyOf(facts), actor, goal, release: under })];
    });
  }

  return {
    async diff({ grant, actor }, target, ids) {
      const { releases: list } = await platform.as(actor, grant).call(listReleases, { query: { ...target } });
      const to = find(list, ids.to) ?? list[0];
      if (to === undefined) throw new Failure("not_found", `${target.scope}/${target.name} has no release yet`);
      const from = find(list, ids.from) ?? list[list.indexOf(to) + 1];
      return {
        ...(from === undefined ? {} : { from: from.id }),
        to: to.id,
        changes: specDiff(from?.spec_snapshot ?? {}, to.spec_snapshot),
      };
    },
    async apply({ grant, actor }, body, query) {
      const fault = applyFault(grant, body, readFlag(query.prune, false));
      if (fault !== undefined) throw new Failure("forbidden", fault);
      const result = await platform.as(actor, grant).call(apply, { query, body });
      return { ...result, operations: readFlag(query.dry_run, false) ? [] : follow(actor, result.applied) };
    },
  };
}

function find(list: readonly Release[], id: string | undefined): Release | undefined {
  if (id === undefined) return undefined;
  const found = list.find((release) => release.id === id);
  if (found !== undefined) return found;
  throw new Failure(
    "not_found",
    `no release "${id}"; the kept ones are ${list.map((one) => one.id).join(", ") || "none"}`,
  );
}
