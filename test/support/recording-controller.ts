import { Failure } from "../../src/base/wire/failure.ts";
import { createTranscript } from "../../src/orchestration/controller/state/transcript.ts";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import type { JobRun } from "../../src/orchestration/api/jobs.ts";
import type { PluginInfo } from "../../src/orchestration/api/plugins.ts";
import type { PodDetail } from "../../src/orchestration/api/pods.ts";
import type { Controller } from "../../src/orchestration/controller/controller.ts";

/** One call as it arrived. */
export interface RecordedCall {
  method: string;
  args: unknown[];
}

export interface RecordingController {
  controller: Controller;
  calls: RecordedCall[];
}

/** A controller that notes every call and answers with small fixed data; `overrides` replace single answers. */
export function createRecordingController(overrides: Partial<Controller> = {}): RecordingController {
  const calls: RecordedCall[] = [];
  const answers: Controller = { ...fixedAnswers, ...overrides };
  const controller = new Proxy(answers, {
    get(target, method: keyof Controller) {
      const answer = target[method] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        calls.push({ method, args });
        return answer(...args);
      };
    },
  });
  return { controller, calls };
}

export const webManifest: Manifest = { kind: "deployment", scope: "s", name: "web", spec: { image: "web:1" } };

const pruned = { config_wiped: false, app_dir_removed: false, volume_removed: false, volumes_removed: [], errors: [] };
const at = "2026-01-01T00:00:00.000Z";

const run: JobRun = {
  run_id: "abcde",
  kind: "job",
  scope: "s",
  name: "report",
  container: "s-report.abcde",
  status: "failed",
  trigger: "manual",
  attempt: 1,
  started_at: at,
  ended_at: at,
  exit_code: 3,
  error: "exit code 3",
  tail: ["no rows"],
};

const plugin: PluginInfo = {
  name: "redis",
  version: "1.0",
  description: "",
  homepage: "",
  aliases: [],
  kinds: ["redis"],
  commands: [{ name: "expand" }],
  env: {},
  origin: "folder",
  enabled: true,
  permissions: { actions: [], scopes: ["*"], docker: false },
  full_grant: false,
};

/** Answers alone, nothing is noted. */
export const fixedAnswers: Controller = {
  system: async () => ({
    version: "1",
    installation: "i",
    prefix: "berth",
    root: "/r",
    started_at: at,
    engine: { up: true, since: at, host: "unix:///d" },
    store: { manifests: 0, collection_held: false },
    reconciler: { queued: 0, failing: 0 },
  }),
  apply: async () => ({ applied: [webManifest], pruned: [] }),
  listManifests: ({ kind }) => (kind === undefined || kind === webManifest.kind ? [webManifest] : []),
  deleteManifest: async () => ({ pruned }),
  deleteResource: async () => ({ scope: "s", name: "web", resources_wiped: [], errors: [] }),
  listUses: () => ({ uses: [] }),
  listLeftovers: async () => ({ leftovers: [] }),
  disk: async () => ({ measuring: false, stores: [], volumes: [] }),
  planPrune: async () => ({ images: [], build_cache_bytes: 0, bytes: 0, leftovers: [] }),
  prune: async () => ({ images: [], build_cache_bytes: 0, bytes: 0 }),
  deleteScope: async () => ({ scope: "s", resources_wiped: [], scope_config_wiped: false, errors: [] }),
  describe: async () => ({ manifest: webManifest, status: null, pods: [] }),
  listPods: async () => ({ pods: [], degraded: [] }),
  getPod: async (name) => ({ pod: podDetail(name) }),
  podReady: (name) => ({ container_name: name, ready: true, startup_passed: true }),
  stopPod: async (name, { freeze }) => ({ name, freeze }),
  startPod: async (name) => ({ name, recreated: true, unfroze: false }),
  execPod: async () => {
    throw new Failure("not_found", 'no container "s-web.gone"');
  },
  statFile: async ({ path = "/" }) => ({ path, kind: "file", size_bytes: 1, mode: "644" }),
  readFiles: async () => (async function* () {})(),
  writeFiles: async () => {
    throw new Failure("not_found", 'no container "s-web.gone"');
  },
  forwardPort: async () => {
    throw new Failure("not_found", 'no container "s-web.gone"');
  },
  runApp: async () => {
    throw new Failure("not_found", "deployment/s/gone not found");
  },
  execResult: (name, id) => ({ id, name, running: false, started_at: at, ended_at: at, exit_code: 0 }),
  podLogs: async () => (async function* () {})(),
  scopeLogs: async () => ({ names: [], bytes: (async function* () {})() }),
  stats: async () => ({ pods: [], snapshot: true, sampled_at: at }),
  contextState: async (digest) => ({ digest, complete: false, received: 0 }),
  uploadContext: async (digest, bytes) => ({ digest, complete: true, received: bytes.length }),
  build: async () => ({
    build: {
      ...{ scope: "s", name: "web", id: "b1", status: "succeeded", context: "c", dockerfile: "Dockerfile" },
      ...{ image: "berth/s/web:b1", actor: "local", started_at: at, releases: [], kept: false },
    },
    reused: false,
  }),
  listBuilds: () => ({ builds: [] }),
  buildLog: () => ({ log: "Step 1/1\n" }),
  followBuild: () =>
    (async function* () {
      yield new TextEncoder().encode("Step 1/1\n");
    })(),
  cancelBuild: async () => {
    throw new Failure("conflict", "the build has ended already: succeeded");
  },
  retryBuild: async () => {
    throw new Failure("not_found", 'no build "b1" of s/web');
  },
  runRelease: async () => {
    const transcript = createTranscript(1_000);
    transcript.write("-----> Release 0abcdef12 succeeded\n");
    transcript.end();
    return { scope: "s", name: "web", releaseId: "0abcdef12", transcript };
  },
  atomicApply: (id) => ({ id, state: "kept", started_at: at, ended_at: at, resources: [] }),
  rollout: () => ({ kind: "deployment", scope: "s", name: "web" }),
  tellRollout: async () => ({ kind: "deployment", scope: "s", name: "web" }),
  rollback: async () => ({
    scope: "s",
    name: "web",
    kind: "deployment",
    rolled_back_to: "a",
    taken_back: ["image"],
    new_release: "b",
  }),
  listReleases: () => ({ releases: [] }),
  lock: async () => ({ scope: "s", reason: "r", actor: "ana", since: at }),
  unlock: async () => ({ scope: "s", reason: "r", actor: "ana", since: at }),
  listLocks: () => ({ locks: [] }),
  putPreview: async () => ({ scope: "s-b", of: "s", branch: "b", since: at, until: at }),
  listPreviews: () => ({ previews: [] }),
  deletePreview: async () => ({ scope: "s-b", of: "s", branch: "b", since: at, until: at }),
  getConfig: () => ({ vars: { A: "1" } }),
  setConfig: async () => ({ changed: ["A"], restarting: ["deployment/s/web"] }),
  unsetConfig: async () => ({ changed: ["A"], restarting: [] }),
  restart: async () => ({ kind: "deployment", scope: "s", name: "web", unfroze: [] }),
  scale: async () => ({ kind: "deployment", scope: "s", name: "web", replicas: 3, previous: 2, revision: 7 }),
  wake: async () => ({ kind: "deployment", scope: "s", name: "web", woken: true, revision: 7 }),
  why: async () => ({
    kind: "deployment",
    scope: "s",
    name: "web",
    deleted: false,
    at,
    conditions: [],
    deaths: 0,
    events: [],
  }),
  operation: (id) => ({
    id,
    type: "restart",
    kind: "deployment",
    scope: "s",
    name: "web",
    state: "running",
    started_at: at,
  }),
  runJob: async ({ kind }, { wait }) => ({ ...run, kind, status: wait ? "failed" : "scheduled" }),
  listRuns: () => ({ runs: [run] }),
  getRun: (id) => ({ ...run, run_id: id }),
  cancelRun: async (id) => ({ ...run, run_id: id, status: "cancelled" }),
  deliveries: () => ({ deliveries: [] }),
  listPlugins: async () => ({ plugins: [plugin], errors: [] }),
  getPlugin: async () => plugin,
  pluginSchema: async ({ name }) => ({ plugin: name, kind: name, schema: {} }),
  installPlugin: async () => ({ ...plugin, warnings: [] }),
  removePlugin: async (name) => ({ name, removed: true }),
  updatePlugin: async () => ({ ...plugin, warnings: [] }),
  pluginChanges: async (name) => ({ name, version: "1", digest: "0".repeat(64), files: [], left: 0 }),
  acceptPlugin: async () => plugin,
  getPluginConfig: async (name) => ({ plugin: name, vars: { KEY: "********" } }),
  setPluginConfig: async ({ name }) => ({ plugin: name, changed: ["KEY"] }),
  rollbackPlugin: async () => plugin,
  setPluginEnabled: async ({ enabled }) => ({ ...plugin, enabled }),
  dispatchPlugin: async () => ({ message: "done", applied: [], exec_local: [], fetch_file: [], run_id: "r" }),
  execPlugin: async () => ({ status: 200, body: { status: "ok", data: { stdout: "text" } } }),
  pluginFile: async () => ({ size: 4, body: new Blob(["text"]).stream() }),
  listPluginRuns: async () => ({ runs: [] }),
  listHistory: () => ({ begins: at, changes: [] }),
  historyState: () => ({ at, begins: at, manifests: [] }),
  restoreHistory: async () => ({ applied: [], pruned: [], at, newest: 1 }),
  events: () => ({ events: [] }),
};

function podDetail(name: string): PodDetail {
  return {
    name,
    id: "c0ffee",
    kind: "deployment",
    resource_name: "web",
    image: "web:1",
    image_id: "sha256:1",
    status: "Up",
    running: true,
    ready: true,
    frozen: false,
    node: "local",
    state: { status: "running", running: true },
    command: [],
    entrypoint: [],
    working_dir: "",
    env: {},
    labels: {},
    networks: {},
    mounts: [],
    ports: [],
    restart_policy: "unless-stopped",
  };
}
