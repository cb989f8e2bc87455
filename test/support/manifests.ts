import type { Manifest, Spec } from "../../src/api/manifest.ts";

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
