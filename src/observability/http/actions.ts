import { readFlag } from "../../base/wire/query.ts";
import { readParam } from "../../base/http/request.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import {
  abortApp,
  freezeApp,
  getAppOperation,
  listOperations,
  type Operation,
  pauseApp,
  promoteApp,
  restartApp,
  resumeApp,
  rollbackApp,
  scaleApp,
  startApp,
  stopApp,
} from "../api/operations.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import type { Ask } from "../service/apps/actions.ts";
import { readTarget } from "./apps.ts";
import { appFilter } from "./filters.ts";
import { mount } from "../../base/http/mount.ts";
import type { PlaneCall } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** Who asks, and for which app. */
function readAsk(call: Pick<PlaneCall<PlaneEndpoint>, "grant" | "actor" | "params" | "query">): Ask {
  return { grant: call.grant, actor: call.actor, target: readTarget(call) };
}

/** 202: what was begun goes on after the answer. */
function mountAction<E extends PlaneEndpoint>(
  plane: ObservabilityPlane,
  endpoint: E,
  begin: (call: PlaneCall<E>) => Promise<Operation>,
): void {
  mount(plane, endpoint, {
    async answer(call) {
      call.keepOpen();
      return { operation: await begin(call) } as DataOf<E>;
    },
    status: () => 202,
  });
}

export function mountActions(plane: ObservabilityPlane): void {
  const { actions, operations } = plane.observability.apps;
  mountAction(plane, restartApp, (call) =>
    actions.restart(readAsk(call), { pull: readFlag(call.query.pull, false), no_backup: call.query.no_backup }),
  );
  mountAction(plane, stopApp, (call) => {
    const { replica, freeze } = call.query;
    return actions.stop(readAsk(call), { replica, freeze: readFlag(freeze, true), type: "stop" });
  });
  mountAction(plane, freezeApp, (call) =>
    actions.stop(readAsk(call), { replica: call.query.replica, freeze: true, type: "freeze" }),
  );
  mountAction(plane, startApp, (call) => actions.start(readAsk(call), { replica: call.query.replica }));
  mountAction(plane, scaleApp, (call) => actions.scale(readAsk(call), { replicas: call.query.replicas }));
  mountAction(plane, rollbackApp, (call) => {
    const { release_id: release, message, no_backup } = call.query;
    return actions.rollback(readAsk(call), { release, message, no_backup });
  });
  mountAction(plane, pauseApp, (call) => actions.rollout(readAsk(call), "pause"));
  mountAction(plane, resumeApp, (call) => actions.rollout(readAsk(call), "resume"));
  mountAction(plane, promoteApp, (call) => actions.rollout(readAsk(call), "promote"));
  mountAction(plane, abortApp, (call) => actions.rollout(readAsk(call), "abort"));
  mount(plane, listOperations, ({ grant, query }) => ({
    operations: operations.list(grant, appFilter(query.app)),
  }));
  mount(plane, getAppOperation, ({ grant, params }) => operations.get(grant, readParam(params, "id")));
}
