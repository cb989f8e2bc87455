import { Failure } from "../../../base/wire/failure.ts";
import { deleteManifest } from "../../../orchestration/api/apply.ts";
import { keyOf, keyText } from "../../../orchestration/api/manifest-key.ts";
import { startPod, stopPod } from "../../../orchestration/api/pods.ts";
import { rollback } from "../../../orchestration/api/releases.ts";
import { restart } from "../../../orchestration/api/restart.ts";
import { abortRollout, pauseRollout, promoteRollout, resumeRollout } from "../../../orchestration/api/rollouts.ts";
import { scale } from "../../../orchestration/api/scale.ts";
import { wake } from "../../../orchestration/api/wake.ts";
import type { Operation } from "../../api/operations.ts";
import type { Goal } from "../../core/apps/operation.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { Platform } from "../platform.ts";
import type { Apps, AppTarget } from "./apps.ts";
import type { AppModel, KnownApp } from "./model.ts";
import type { Operations } from "./operations.ts";

/** Who asks for a change, and of which app. */
export interface Ask {
  grant: Grant;
  /** `pat:<id>` or `person:<address>`. */
  actor: string;
  target: AppTarget;
}

/** Each begins a change of one app and tells how to follow it. What the platform refuses fails with `ApiError`. */
export interface Actions {
  restart(ask: Ask, options: { pull: boolean; no_backup?: string | undefined }): Promise<Operation>;
  stop(
    ask: Ask,
    options: { replica?: string | undefined; freeze: boolean; type: "stop" | "freeze" },
  ): Promise<Operation>;
  start(ask: Ask, options: { replica?: string | undefined }): Promise<Operation>;
  scale(ask: Ask, options: { replicas: string | undefined }): Promise<Operation>;
  rollback(
    ask: Ask,
    options: { release?: string | undefined; message?: string | undefined; no_backup?: string | undefined },
  ): Promise<Operation>;
  rollout(ask: Ask, command: "pause" | "resume" | "promote" | "abort"): Promise<Operation>;
  remove(ask: Ask, options: { prune: boolean }): Promise<{ deleted: string[]; warnings: string[] }>;
}

const commands = { pause: pauseRollout, resume: resumeRollout, promote: promoteRollout, abort: abortRollout };

export function createActions({
  platform,
  apps,
  model,
  operations,
}: {
  platform: Platform;
  apps: Apps;
  model: AppModel;
  operations: Operations;
}): Actions {
  async function subject({ grant, target }: Ask): Promise<KnownApp> {
    await model.fresh();
    return apps.resolve(grant, target);
  }

  /** What has to be reached, from what is stored now that the change was made. */
  function settledGoal(known: KnownApp, release?: string): Goal {
    const facts = platform.apps.of(known.facts) ?? known.facts;
    const { revision, generation } = facts;
    const under = facts.release?.endedAt === undefined ? facts.release?.id : undefined;
    return { type: "settled", revision, generation, release: release ?? under };
  }

  function begin(
    ask: Ask,
    known: KnownApp,
    what: { type: string; goal: Goal; release?: string | undefined },
  ): Operation {
    return operations.begin({ app: keyOf(known.facts), actor: ask.actor, ...what });
  }

  function podsOf({ facts }: KnownApp, replica: string | undefined): { id: string; pod: string }[] {
    const ids = new Set([...facts.pods.map(({ replicaId }) => replicaId), ...facts.frozenIds]);
    const wanted = [...ids].filter((id) => replica === undefined || id === replica);
    if (replica !== undefined && wanted.length === 0) {
      const { scope, name } = facts;
      throw new Failure(
        "not_found",
        `${scope}/${name} has no replica "${replica}"; it has ${[...ids].join(", ") || "none"}`,
      );
    }
    const nameOf = (id: string) => facts.pods.find(({ replicaId }) => replicaId === id)?.name;
    return wanted.map((id) => ({ id, pod: nameOf(id) ?? `${facts.scope}-${facts.name}.${id}` }));
  }

  return {
    async restart(ask, { pull, no_backup }) {
      const known = await subject(ask);
      const query = { ...keyOf(known.facts), wait: false, pull, no_backup };
      const { release } = await platform.as(ask.actor, ask.grant).call(restart, { query });
      return begin(ask, known, { type: "restart", goal: settledGoal(known, release), release });
    },
    async stop(ask, { replica, freeze, type }) {
      const known = await subject(ask);
      const client = platform.as(ask.actor, ask.grant);
      const there = podsOf(known, replica).filter(({ pod }) => known.facts.pods.some(({ name }) => name === pod));
      for (const { pod } of there) await client.call(stopPod, { params: { name: pod }, query: { freeze } });
      const goal: Goal = freeze ? { type: "stopped", replicaIds: there.map(({ id }) => id) } : { type: "done" };
      return begin(ask, known, { type, goal });
    },
    async start(ask, { replica }) {
      const known = await subject(ask);
      const client = platform.as(ask.actor, ask.grant);
      if (known.facts.status?.phase === "asleep") {
        const { scope, name } = known.facts;
        await client.call(wake, { query: { scope, name } });
        return begin(ask, known, { type: "wake", goal: settledGoal(known) });
      }
      const halted = podsOf(known, replica).filter(
        ({ id }) => known.facts.frozenIds.includes(id) || replica !== undefined,
      );
      for (const { pod } of halted) await client.call(startPod, { params: { name: pod } });
      return begin(ask, known, { type: "start", goal: settledGoal(known) });
    },
    async scale(ask, { replicas }) {
      const known = await subject(ask);
      await platform.as(ask.actor, ask.grant).call(scale, { query: { ...keyOf(known.facts), replicas } });
      return begin(ask, known, { type: "scale", goal: settledGoal(known) });
    },
    async rollback(ask, { release, message, no_backup }) {
      const known = await subject(ask);
      const query = { ...keyOf(known.facts), release_id: release, message, no_backup };
      const { new_release } = await platform.as(ask.actor, ask.grant).call(rollback, { query });
      return begin(ask, known, { type: "rollback", goal: settledGoal(known, new_release), release: new_release });
    },
    async rollout(ask, command) {
      const known = await subject(ask);
      await platform.as(ask.actor, ask.grant).call(commands[command], { query: keyOf(known.facts) });
      const isAtOnce = command === "pause" || command === "resume";
      return begin(ask, known, { type: command, goal: isAtOnce ? { type: "done" } : { type: "ended" } });
    },
    async remove(ask, { prune }) {
      // An app is the deployment, and the ingress in front of it goes with it.
      const isWhole = ask.target.kind === "app";
      const known = await subject(isWhole ? { ...ask, target: { ...ask.target, kind: "deployment" } } : ask);
      const ref = isWhole ? { ...keyOf(known.facts), kind: "app" } : keyOf(known.facts);
      const answer = await platform.as(ask.actor, ask.grant).call(deleteManifest, { query: { ...ref, prune } });
      begin(ask, known, { type: "delete", goal: { type: "gone" } });
      return {
        deleted: answer.deleted ?? [keyText(ref)],
        warnings: answer.warnings ?? [],
      };
    },
  };
}
