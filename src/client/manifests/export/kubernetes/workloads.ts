import type { Deployment, StatefulSet } from "kubernetes-types/apps/v1";
import type { HorizontalPodAutoscaler } from "kubernetes-types/autoscaling/v2";
import type { CronJob, Job, JobSpec } from "kubernetes-types/batch/v1";
import { fieldsOf, integerOf, listOf, textOf } from "../../../../orchestration/core/spec/lenient.ts";
import { type Exportable, loseOthers } from "../exportable.ts";
import { secondsOf } from "./container.ts";
import { label, labelsOf, metadataOf, serviceName } from "./names.ts";
import { losePodFields, podOf } from "./pod.ts";
import { claimSize } from "./volumes.ts";

type Fields = Record<string, unknown>;

/** `service` is made beside it from the same manifest. */
export function deploymentOf(from: Exportable): unknown[] {
  const { spec, lose } = from;
  losePodFields(from, spec, {
    path: "spec",
    read: ["replicas", "ports", "rollout", "autoscale", "restart", "health_check"],
  });
  tellRestart(from);
  const rollout = fieldsOf(spec.rollout);
  loseOthers(from, rollout, {
    path: "spec.rollout",
    read: ["strategy", "max_surge", "max_unavailable", "min_ready", "progress_deadline", "drain"],
  });
  if (rollout.drain !== undefined) lose("spec.rollout.drain", "has no counterpart: stop_grace is the time to end");
  const { template, claims } = podOf(from, spec, { path: "spec", restartPolicy: "Always" });
  const scaling = spec.autoscale === undefined ? [] : [autoscalerOf(from, fieldsOf(spec.autoscale))];
  const minReady = secondsOf(rollout.min_ready, 0);
  const deadline = secondsOf(rollout.progress_deadline);
  const deployment: Deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(from),
    spec: {
      ...(scaling.length > 0 ? {} : { replicas: integerOf(spec.replicas) ?? 1 }),
      selector: { matchLabels: labelsOf(from.scope, from.name) },
      strategy: strategyOf(rollout, claims.length > 0),
      ...(minReady === undefined ? {} : { minReadySeconds: minReady }),
      ...(deadline === undefined ? {} : { progressDeadlineSeconds: deadline }),
      template,
    },
  };
  return [...claims, deployment, ...scaling];
}

/** One that mounts a claim is replaced the other way, as here. */
function strategyOf(rollout: Fields, hasClaims: boolean): NonNullable<Deployment["spec"]>["strategy"] {
  const strategy = textOf(rollout.strategy) ?? (hasClaims ? "recreate" : "rolling");
  if (strategy === "recreate") return { type: "Recreate" };
  const [surge, away] = [integerOf(rollout.max_surge) ?? 1, integerOf(rollout.max_unavailable) ?? 0];
  return { type: "RollingUpdate", rollingUpdate: { maxSurge: surge, maxUnavailable: away } };
}

function tellRestart({ spec, lose }: Exportable): void {
  const restart = textOf(spec.restart) ?? "unless-stopped";
  if (restart === "always" || restart === "unless-stopped") return;
  lose("spec.restart", `"${restart}" has no counterpart: Kubernetes always restarts the containers of this kind`);
}

function autoscalerOf(from: Exportable, autoscale: Fields): HorizontalPodAutoscaler {
  loseOthers(from, autoscale, { path: "spec.autoscale", read: ["min", "max", "cpu_target"] });
  from.lose("spec.autoscale", "counts from the CPU that is requested: add resources.requests.cpu");
  const averageUtilization = integerOf(autoscale.cpu_target) ?? 80;
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: metadataOf(from),
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: label(from.name) },
      minReplicas: integerOf(autoscale.min) ?? 1,
      maxReplicas: integerOf(autoscale.max) ?? 1,
      metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } }],
    },
  };
}

export function statefulsetOf(from: Exportable): unknown[] {
  const { spec, lose } = from;
  losePodFields(from, spec, {
    path: "spec",
    read: ["replicas", "ports", "volume_claims", "restart", "rollout", "health_check"],
  });
  tellRestart(from);
  loseOthers(from, fieldsOf(spec.rollout), { path: "spec.rollout", read: ["min_ready"] });
  const { template, claims } = podOf(from, spec, { path: "spec", restartPolicy: "Always" });
  const wanted = listOf(spec.volume_claims);
  const own = wanted.map((claim, index) => {
    const path = `spec.volume_claims[${index}]`;
    const size = textOf(claim.size);
    const isSize = size !== undefined && /^\d+(?:\.\d+)?(?:[KMGT]i|[kMGT])?$/.test(size);
    if (!isSize)
      lose(`${path}.size`, `is ${size === undefined ? "not written" : "no size there"}: it becomes ${claimSize}`);
    lose(path, "its content is not copied");
    return {
      name: label(textOf(claim.name) ?? `claim-${index}`),
      path: textOf(claim.mount_path) ?? "/",
      size: isSize ? size : claimSize,
    };
  });
  const [main] = template.spec?.containers ?? [];
  const mounts = own.map(({ name, path }) => ({ name, mountPath: path }));
  if (main !== undefined && mounts.length > 0) main.volumeMounts = [...(main.volumeMounts ?? []), ...mounts];
  lose("name", `the pod ${from.name}-0 is reached as ${label(from.name)}-0.${serviceName(from.name)} there`);
  const set: StatefulSet = {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: metadataOf(from),
    spec: {
      replicas: integerOf(spec.replicas) ?? 1,
      serviceName: serviceName(from.name),
      selector: { matchLabels: labelsOf(from.scope, from.name) },
      template,
      ...(own.length === 0
        ? {}
        : {
            volumeClaimTemplates: own.map(({ name, size }) => ({
              metadata: { name },
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: size } } },
            })),
          }),
    },
  };
  return [...claims, set];
}

export function jobOf(from: Exportable): unknown[] {
  const { job, claims } = jobSpecOf(from, from.spec, "spec");
  from.lose("spec", "runs when it is resumed: a Job runs at once, and so it is suspended");
  const document: Job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: metadataOf(from),
    spec: { suspend: true, ...job },
  };
  return [...claims, document];
}

function jobSpecOf(from: Exportable, spec: Fields, path: string) {
  const read = ["timeout", "backoff_limit", "labels", "successful_history_limit", "failed_history_limit"];
  losePodFields(from, spec, { path, read });
  const { template, claims } = podOf(from, spec, { path, restartPolicy: "Never" });
  const deadline = secondsOf(spec.timeout);
  const job: JobSpec = {
    backoffLimit: integerOf(spec.backoff_limit) ?? 0,
    ...(deadline === undefined ? {} : { activeDeadlineSeconds: deadline }),
    template,
  };
  if (spec.labels !== undefined) from.lose(`${path}.labels`, "are labels of Docker: left out");
  return { job, claims };
}

/** Times that Kubernetes has as words too. */
export function cronjobOf(from: Exportable): unknown[] {
  const { spec } = from;
  const { job, claims } = jobSpecOf(from, fieldsOf(spec.job), "spec.job");
  const deadline = secondsOf(spec.starting_deadline);
  const document: CronJob = {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: metadataOf(from, label(from.name).slice(0, 52)),
    spec: {
      schedule: textOf(spec.schedule) ?? "",
      timeZone: textOf(spec.timezone) ?? "Etc/UTC",
      suspend: spec.suspend === true,
      concurrencyPolicy: textOf(spec.concurrency_policy) ?? "Allow",
      startingDeadlineSeconds: deadline ?? 100,
      successfulJobsHistoryLimit: integerOf(spec.successful_history_limit) ?? 3,
      failedJobsHistoryLimit: integerOf(spec.failed_history_limit) ?? 1,
      jobTemplate: { spec: job },
    },
  };
  return [...claims, document];
}
