import { readParam } from "../../base/http/request.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { applyManifests, deleteApp, diffReleases, listAppReleases, listStored } from "../api/deploys.ts";
import { readTarget } from "./apps.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountDeploys(plane: ObservabilityPlane): void {
  const { deploys, actions } = plane.observability.apps;
  mount(plane, listAppReleases, async (call) => ({
    releases: await deploys.releases(call.grant, readTarget(call)),
  }));
  mount(plane, diffReleases, (call) =>
    deploys.diff(call.grant, readTarget(call), { from: call.query.from, to: call.query.to }),
  );
  mount(plane, applyManifests, {
    answer: ({ grant, actor, query, body }) =>
      deploys.apply({ grant, actor }, body, {
        dryRun: readFlag(query.dry_run, false),
        prune: readFlag(query.prune, false),
        force: readFlag(query.force, false),
        atomic: readFlag(query.atomic, false),
        takeOver: readFlag(query.take_over, false),
        replacePlugin: readFlag(query.replace_plugin, false),
        drop: query.drop,
        message: query.message,
      }),
    status: ({ operations }) => (operations.length > 0 ? 202 : 200),
  });
  mount(plane, listStored, async ({ grant, query }) => ({ manifests: await deploys.stored(grant, query) }));
  mount(plane, deleteApp, (call) => {
    const target = { ...readTarget(call), kind: readParam(call.params, "kind") };
    const name = `${target.scope}/${target.name}`;
    const prune = readFlag(call.query.prune, false);
    if (call.query.confirm !== name) {
      const what = prune ? "the app with its config, files and volumes" : "the app";
      throw new Failure("invalid", `query confirm: write confirm=${name} to delete ${what}`);
    }
    return actions.remove({ grant: call.grant, actor: call.actor, target }, { prune });
  });
}
