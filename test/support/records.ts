import type { DeathRecord, Delivery, ReleaseRecord, RunRecord } from "../../src/orchestration/store/records.ts";

export const webKey = { kind: "deployment", scope: "shop", name: "web" };
export const jobKey = { kind: "job", scope: "shop", name: "sync" };
export const cronKey = { kind: "cronjob", scope: "shop", name: "nightly" };

/** Records with every optional field set; a test overrides what it is about. */
export function releaseOf(id: string, fields: Partial<ReleaseRecord> = {}): ReleaseRecord {
  return {
    ...webKey,
    id,
    status: "succeeded",
    cause: "apply",
    good: false,
    hash: "h1",
    revision: 7,
    image: "app:1",
    imageId: "sha256:1",
    rolledBackFrom: "r0",
    takenBack: ["image"],
    startedAt: 10,
    endedAt: 20,
    preExitCode: 0,
    exitCode: 1,
    postExitCode: 2,
    error: "no",
    spec: { image: "app:1", env: { A: "1" } },
    log: "line\n",
    ...fields,
  };
}

export function runOf(id: string, fields: Partial<RunRecord> = {}): RunRecord {
  return {
    ...cronKey,
    id,
    status: "succeeded",
    trigger: "schedule",
    instant: undefined,
    attempt: 1,
    startedAt: 10,
    endedAt: 20,
    exitCode: 0,
    error: "no",
    tail: ["one", "two"],
    ...fields,
  };
}

export function deathOf(containerId: string, at: number, fields: Partial<DeathRecord> = {}): DeathRecord {
  return {
    ...webKey,
    replicaId: "abcde",
    containerId,
    at,
    exitCode: 137,
    oomKilled: true,
    reason: "out of memory",
    image: "app:1",
    hash: "h1",
    releaseId: "r1",
    logs: ["last words"],
    probes: ["200 OK"],
    ...fields,
  };
}

export function deliveryOf(id: string, fields: Partial<Delivery> = {}): Delivery {
  return {
    ...webKey,
    id,
    event: "deploy.success",
    subject: "",
    url: "https://hooks.test/x",
    method: "POST",
    headers: { Authorization: "Bearer t" },
    body: "{}",
    status: "waiting",
    attempts: 0,
    nextAt: 100,
    createdAt: 50,
    lastResult: "503",
    ...fields,
  };
}
