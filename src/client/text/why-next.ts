import type { Why } from "../../orchestration/api/why.ts";
import { causeOf, isWell } from "../facts/look.ts";

/** A rule: the first that fits gives what to type. */
interface Advice {
  when: (facts: Facts) => boolean;
  steps: (why: Why) => string[];
}

interface Facts {
  why: Why;
  /** Words for what is wrong now, and for what went wrong last. */
  reasons: readonly string[];
}

/** Most telling first. */
const advices: Advice[] = [
  {
    when: ({ why }) => why.kind === "ingress",
    steps: ingressSteps,
  },
  {
    when: ({ why }) => why.deleted,
    steps: (why) => [`berth events ${ref(why)}`],
  },
  {
    when: ({ why }) => why.canary?.state === "paused",
    steps: (why) => [`berth rollout resume ${ref(why)}`, `berth rollout abort ${ref(why)}`],
  },
  {
    when: ({ why }) => (why.unready ?? []).length > 0,
    steps: probeSteps,
  },
  {
    when: ({ why, reasons }) => reasons.includes("OutOfMemory") || why.death?.oom_killed === true,
    steps: (why) => [
      "raise resources.limits.memory in the manifest, then: berth apply -f FILE",
      `berth stats ${ref(why)}`,
    ],
  },
  {
    when: ({ reasons }) => reasons.includes("RegistryAuth"),
    steps: () => [
      "check username and token of the registry manifest, then: berth apply -f FILE",
      "berth get registries",
    ],
  },
  {
    when: ({ why, reasons }) =>
      why.built === true && ["ImagePull", "ImageMissing"].some((one) => reasons.includes(one)),
    steps: (why) => ["build it again, in the folder of the app: berth up", `berth build list ${ref(why)}`],
  },
  {
    when: ({ reasons }) => reasons.includes("ImageMissing"),
    steps: () => [
      "load the image again (docker load), or release what its tag means now: berth apply -f FILE --pull",
      "check spec.image and that the registry has it, then: berth apply -f FILE",
    ],
  },
  {
    when: ({ reasons }) => reasons.includes("ImagePull"),
    steps: () => ["check spec.image and that the registry has it, then: berth apply -f FILE"],
  },
  {
    when: ({ reasons }) => reasons.includes("PortTaken"),
    steps: (why) => ["free the host port, or write another one in ports", `berth describe ${why.kind} ${ref(why)}`],
  },
  {
    when: ({ reasons }) => reasons.includes("DiskLow"),
    steps: () => ["free some space: docker image prune", "berth doctor"],
  },
  {
    when: ({ reasons }) => reasons[0] === "Frozen",
    steps: (why) => [`berth start ${ref(why)}`],
  },
  {
    when: ({ reasons }) => reasons.includes("EngineUnavailable"),
    steps: () => ["berth doctor"],
  },
  {
    when: ({ reasons }) => reasons.includes("ProbeFailing"),
    steps: probeSteps,
  },
  {
    when: ({ reasons }) => reasons.includes("PortClosed"),
    steps: () => [
      "let the program listen on 0.0.0.0 and the port that is named above, or set port of the ingress",
      "then: berth apply -f FILE",
    ],
  },
  {
    when: ({ reasons }) => reasons.includes("StartFailed"),
    steps: (why) => [
      "check command, entrypoint, user and image in the manifest, then: berth apply -f FILE",
      `berth describe ${why.kind} ${ref(why)}`,
    ],
  },
  {
    when: ({ why }) => why.failed_run?.status === "missed",
    steps: (why) => [
      "raise starting_deadline in the manifest when late runs are welcome",
      `berth cron history ${ref(why)}`,
    ],
  },
  {
    when: ({ why }) => why.failed_run?.status === "timed_out",
    steps: () => ["raise timeout in the manifest, or make it faster, then: berth apply -f FILE"],
  },
  {
    when: ({ why: { death, failed_run: run } }) => [126, 127].includes(death?.exit_code ?? run?.exit_code ?? 0),
    steps: (why) => [
      "check command in the manifest against what the image has",
      `berth describe ${why.kind} ${ref(why)}`,
    ],
  },
  {
    when: ({ reasons }) => reasons.includes("CrashLoop"),
    steps: (why) => [
      "fix what the last lines show, then: berth apply -f FILE",
      "an app that needs longer to come up: raise rollout.crash_loop_after in the manifest",
      `berth logs ${ref(why)}`,
    ],
  },
  {
    when: ({ reasons }) => reasons.includes("GuardTripped"),
    steps: (why) => [
      "fix the requests that failed or were slow, then: berth apply -f FILE",
      "berth ingress logs --status 5xx shows failed requests, where the ingress has access_log: sampled",
      `berth logs ${ref(why)}`,
    ],
  },
  {
    when: ({ reasons }) => reasons[0] === "Aborted",
    steps: () => ["somebody ended the release; apply it again to try once more: berth apply -f FILE"],
  },
  {
    when: ({ why }) => why.failed_release !== undefined,
    steps: () => ["fix what the error and the last lines show, then: berth apply -f FILE"],
  },
  {
    when: ({ why }) => why.failed_run !== undefined,
    steps: (why) => ["fix what the last lines show, then: berth apply -f FILE", runAgain(why)],
  },
  {
    when: ({ why }) => why.death !== undefined,
    steps: (why) => [`berth logs ${ref(why)}`],
  },
];

/** What to type next, most useful first. */
export function nextSteps(why: Why): string[] {
  const { failed_release: release, failed_run: run } = why;
  const now = isWell(why.phase) ? undefined : causeOf({ ...why }).reason;
  const last = release?.reasons ?? (run?.reason === undefined ? [] : [run.reason]);
  const reasons = [...(now === undefined ? [] : [now]), ...last];
  const steps = advices.find(({ when }) => when({ why, reasons }))?.steps(why) ?? [];
  const isKnown = why.phase !== undefined && why.phase !== "unknown";
  const isDown = !isJob(why) && !why.deleted && !isWell(why.phase) && isKnown;
  const isStepping = why.canary !== undefined && why.canary.state !== "kept";
  const back = isDown && !isStepping && why.rollback_to !== undefined ? [`berth rollback ${ref(why)}`] : [];
  const more = why.deleted ? [] : [`berth events ${ref(why)}`];
  const stepping = isStepping ? [`berth rollout status ${ref(why)}`] : [];
  // What is built from source is deployed from its folder.
  const own = steps.map((step) => (why.built === true ? step.replace(/berth apply -f FILE$/, "berth up") : step));
  return [...new Set([...own, ...stepping, ...back, ...more])];
}

/** For an ingress that is not served, the resource behind it is asked next; a part of the server has no such answer. */
function ingressSteps(why: Why): string[] {
  const { scope, service = "" } = why;
  if (isWell(why.phase)) return [`berth ingress logs ${ref(why)}`];
  const behind = service === "" || service.startsWith("@") ? [] : [`berth why ${scope}/${service}`];
  const own = [`berth ingress ls ${ref(why)}`, "berth ingress status"];
  // One that waits lacks a replica; one that fails may lack it too.
  return why.phase === "progressing" ? [...behind, ...own] : [...own, ...behind];
}

function runAgain(why: Why): string {
  return why.kind === "cronjob" ? `berth cron run ${ref(why)}` : `berth run ${ref(why)}`;
}

function isJob({ kind }: Why): boolean {
  return kind === "job" || kind === "cronjob";
}

function ref({ scope, name }: Why): string {
  return scope === "" ? name : `${scope}/${name}`;
}

function probeSteps(why: Why): string[] {
  return [
    "make the app answer its probe, or correct probes in the manifest, then: berth apply -f FILE",
    `berth logs ${ref(why)}`,
  ];
}
