import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";

/** Busybox with sh, sleep, httpd, cat …: made by test/run. */
export const fixtureImage = "berth-fixture:1";

/** A deployment that sleeps; `stop_grace` is short because sleep as the first process ignores SIGTERM. */
export function deployment(scope: string, name: string, spec: Spec = {}): Manifest {
  return { kind: "deployment", scope, name, spec: { ...sleeping, ...spec } };
}

export function statefulset(scope: string, name: string, spec: Spec = {}): Manifest {
  return { kind: "statefulset", scope, name, spec: { ...sleeping, ...spec } };
}

const sleeping: Spec = {
  image: fixtureImage,
  command: ["sleep", "100000"],
  stop_grace: "1s",
  rollout: { min_ready: "0s" },
};

/** A job whose process runs until the test ends it. */
export function job(scope: string, name: string, spec: Spec = {}): Manifest {
  return { kind: "job", scope, name, spec: { ...oneOff, ...spec } };
}

/** A cron job like `job`; `jobSpec` goes to the container inside. */
export function cronjob(scope: string, name: string, spec: Spec = {}, jobSpec: Spec = {}): Manifest {
  return { kind: "cronjob", scope, name, spec: { schedule: "* * * * *", ...spec, job: { ...oneOff, ...jobSpec } } };
}

const oneOff: Spec = { image: fixtureImage, command: ["sleep", "100000"], stop_grace: "1s" };
