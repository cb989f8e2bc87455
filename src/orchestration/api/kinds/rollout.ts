import { type Static, Type } from "@sinclair/typebox";
import { rolloutDefaults } from "./defaults.ts";
import { Count, Duration, OneOf, Shape } from "../../../base/wire/shape.ts";

/** More steps than anybody watches. */
const canaryStepsMax = 20;

const Guard = Shape(
  {
    errors: Type.Optional(
      Type.String({
        description: 'largest share of failed requests (status 500 and above, broken answers), such as "5%"',
      }),
    ),
    p99: Type.Optional(Duration('longest time that 99 % of the requests may take, such as "800ms"')),
    over: Type.Optional(
      Duration(
        "how long the requests of each new replica are watched before the next one is replaced; 5s to 10m",
        rolloutDefaults.guardOver,
      ),
    ),
    min_requests: Type.Optional(
      Count("with fewer requests to the new replicas nothing is decided", {
        minimum: 1,
        default: rolloutDefaults.guardRequests,
      }),
    ),
  },
  "a release goes back when requests to its replicas fail, or are slow, past a limit and past the old replicas",
);

const CanaryStep = Shape(
  {
    weight: Type.String({ description: 'share of the requests that go to the new replicas, from "1%" to "100%"' }),
    pause: Type.Optional(
      Type.String({
        description:
          "how long the step lasts; forever: until berth rollout resume. Default: guard.over, without a guard no pause",
      }),
    ),
  },
  "a share of the requests, for a while",
);

export const Rollout = Shape(
  {
    strategy: Type.Optional(
      OneOf(
        ["rolling", "recreate"],
        "rolling: new replicas first; recreate: stop the old first. Default: rolling, or recreate with fixed host " +
          "ports or a writable volume",
      ),
    ),
    max_surge: Type.Optional(
      Count("replicas above the wanted count", { minimum: 0, maximum: 1_000, default: rolloutDefaults.maxSurge }),
    ),
    max_unavailable: Type.Optional(
      Count("replicas below the wanted count", { minimum: 0, maximum: 1_000, default: rolloutDefaults.maxUnavailable }),
    ),
    min_ready: Type.Optional(
      Duration("without probes: how long a replica runs before it counts as ready", rolloutDefaults.minReady),
    ),
    progress_deadline: Type.Optional(
      Duration("a rollout without progress for this long has failed", rolloutDefaults.progressDeadline),
    ),
    crash_loop_restarts: Type.Optional(
      Count("restarts in a row that make a crash loop", { minimum: 1, default: rolloutDefaults.crashRestarts }),
    ),
    crash_loop_after: Type.Optional(
      Duration(
        "a crash loop is not called before a replica has crashed for this long; at least 30s",
        rolloutDefaults.crashAfter,
      ),
    ),
    drain: Type.Optional(
      Duration(
        "longest wait for open connections before a replica is stopped; without it a statefulset does not wait",
        rolloutDefaults.drain,
      ),
    ),
    auto_rollback: Type.Optional(
      Type.Boolean({
        default: rolloutDefaults.autoRollback,
        description: "put the last good spec back when a rollout fails",
      }),
    ),
    guard: Type.Optional(Guard),
    canary: Type.Optional(
      Type.Array(
        Type.Union([Type.String({ description: 'the weight alone, such as "25%"' }), CanaryStep], {
          description: "a weight, or a weight with a pause",
        }),
        {
          minItems: 1,
          maxItems: canaryStepsMax,
          description: "the new replicas get a growing share of the requests, step by step; deployments only",
        },
      ),
    ),
    keep: Type.Optional(
      Duration(
        "with canary: how long the old replicas stay, without requests, after the new ones have taken all of them",
        rolloutDefaults.keep,
      ),
    ),
  },
  "how replicas are replaced",
);
export type Rollout = Static<typeof Rollout>;
