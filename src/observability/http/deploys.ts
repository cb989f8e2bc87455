import { readParam } from "../../base/http/request.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { applyManifests, deleteApp, diffReleases } from "../api/deploys.ts";
import { readTarget } from "./apps.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountDeploys(plane: ObservabilityPlane): void {
  const { deploys, actions } = plane.observability.apps;
  mount(plane, diffReleases, (call) =>
    deploys.diff(call, readTarget(call), { from: call.query.from, to: call.query.to }),
  );
  mount(plane, applyManifests, {
    answer: (call) => deploys.apply(call, call.body, call.query),
    status: ({ operations }) => (operations.length > 0 ? 202 : 200),
  });
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
