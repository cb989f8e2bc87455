import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { wordsOf } from "../../src/base/machine/pid-file.ts";
import { closedIn, routeCommand } from "../../src/local/stray-routes.ts";
import type { ListedManifest } from "../../src/orchestration/api/apply.ts";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import { docker } from "./dockerd.ts";
import { berth, type Finished, type Server, serve } from "./executable.ts";
import { patienceMs, waitFor } from "./wait.ts";

/** A berth server of the test's own: the real executable, a real Docker daemon, a root and a prefix nobody else has. */
export interface Rig {
  root: string;
  /** Of `berth serve`: root, addresses, prefix, Docker. */
  flags: readonly string[];
  prefix: string;
  dockerHost: string;
  /** `unix:/path` for `--endpoint`. */
  endpoint: string;
  readonly server: Server;
  /** `program` is another copy of the executable. */
  start(program?: string): Promise<void>;
  /** Ends the server; containers stay. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Runs the CLI against it. */
  cli(args: string[], options?: { stdin?: string; cwd?: string; env?: Record<string, string> }): Promise<Finished>;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  apply(...manifests: Manifest[]): Promise<Answer>;
  pods(scope: string, name?: string): Promise<PodRecord[]>;
  /** A manifest with its status, from the store alone: `status` asks the engine each time, which is dear in a poll. */
  stored(kind: string, scope: string, name: string): Promise<ListedManifest | undefined>;
  /** Status blob of one resource; fields as `PodKindStatus`. */
  status(kind: string, scope: string, name: string): Promise<Record<string, unknown>>;
  ready(kind: string, scope: string, name: string, timeoutMs?: number): Promise<void>;
  /** Waits until `describe` as an operator reads it holds all of these; returns the text. */
  tells(reference: string, ...texts: string[]): Promise<string>;
  docker(args: string[]): string;
  /** Removes server, containers, networks, volumes and files. */
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** The envelope, or the text where the body is not JSON. */
  body: { status?: string; data?: never; error?: string } & Record<string, unknown>;
}

export interface RigOptions {
  /** Further flags of `berth serve`. */
  flags?: readonly string[];
  /** Defaults to the daemon of the test run. */
  dockerHost?: string;
  /** An existing folder; removed by `close` like one of the rig's own. */
  root?: string;
  /** Orchestration address; without it only the unix socket listens. */
  addr?: string;
  /** Beside the environment of the test, for the server and the CLI. */
  env?: Readonly<Record<string, string>>;
  /** Another copy of the executable, for the first start. */
  program?: string;
}

/** A folder for state whose path is too long for sockets: 150 bytes. */
export function longRoot(): string {
  const short = mkdtempSync(join(tmpdir(), "berth-rig."));
  const root = join(short, "r".repeat(Math.max(1, 150 - short.length - 1)));
  mkdirSync(root);
  return root;
}

/** Makes and starts a rig. */
export async function rig(options: RigOptions = {}): Promise<Rig> {
  const dockerHost = options.dockerHost ?? process.env.BERTH_TEST_DOCKER_HOST;
  if (dockerHost === undefined) throw new Error("BERTH_TEST_DOCKER_HOST is not set; run this through test/run");
  const root = options.root ?? mkdtempSync(join(tmpdir(), "berth-rig."));
  const prefix = `bt${Math.random().toString(36).slice(2, 8)}`;
  const { socket, sockets, subnets } = layoutOf(root);
  const endpoint = `unix:${socket}`;
  const planes = ["--addr", options.addr ?? "", "--observability-addr", "", "--identity-addr", ""];
  const flags = ["--root", root, ...planes, "--prefix", prefix, "--docker-host", dockerHost, ...(options.flags ?? [])];
  const { env = {} } = options;
  let server: Server | undefined;

  const self: Rig = {
    root,
    flags,
    prefix,
    dockerHost,
    endpoint,
    get server() {
      if (server === undefined) throw new Error("the rig's server is not running");
      return server;
    },
    async start(program) {
      server = await serve([...flags], { env, ...(program === undefined ? {} : { program }) });
    },
    async stop(signal) {
      await server?.stop(signal);
      server = undefined;
    },
    cli: (args, options) => berth(args, { ...options, env: { ...env, ...options?.env, BERTH_ENDPOINT: endpoint } }),
    call: (method, path, body) => call(socket, { method, path, body }),
    apply: (...manifests) => self.call("POST", "/apply", manifests),
    async pods(scope, name) {
      const answer = await self.call("GET", `/pods?scope=${scope}${name === undefined ? "" : `&name=${name}`}`);
      return (answer.body.data as { pods: PodRecord[] } | undefined)?.pods ?? [];
    },
    async stored(kind, scope, name) {
      const answer = await self.call("GET", `/apply?kind=${kind}&scope=${scope}&name=${name}&status=true`);
      return (answer.body.data as ListedManifest[] | undefined)?.[0];
    },
    async status(kind, scope, name) {
      const answer = await self.call("GET", `/describe?kind=${kind}&scope=${scope}&name=${name}`);
      return (answer.body.data as { status: Record<string, unknown> } | undefined)?.status ?? {};
    },
    async ready(kind, scope, name, timeoutMs = patienceMs) {
      const revision = await revisionOf(self, kind, scope, name);
      await waitFor(
        `${kind}/${scope}/${name} to be ready`,
        async () => {
          const isReady = (status: Record<string, unknown>) =>
            status.phase === "ready" && Number(status.observed_revision) >= revision;
          // An earlier version may not list the status.
          const { status: known } = (await self.stored(kind, scope, name)) ?? {};
          return (!known || isReady(known)) && isReady(await self.status(kind, scope, name));
        },
        timeoutMs,
      );
    },
    async tells(reference, ...texts) {
      return waitFor(`describe ${reference} to say "${texts.join('" and "')}"`, async () => {
        const { stdout, stderr } = await self.cli(["describe", ...reference.split(" ")]);
        const missing = texts.filter((text) => !stdout.includes(text));
        if (missing.length > 0) throw new Error(`"${missing.join('", "')}" is not in:\n${stdout}${stderr}`);
        return stdout;
      });
    },
    docker: (args) => docker(dockerHost, args),
    async close() {
      await self.stop();
      endProcessesOf(root);
      await sweep(dockerHost, prefix);
      // Docker makes no network where there is a route, and has about thirty subnets.
      for (const { subnet } of closedIn(subnets)) Bun.spawnSync(routeCommand("del", subnet), { stderr: "ignore" });
      for (const folder of [root, sockets]) rmSync(folder, { recursive: true, force: true });
    },
  };
  await self.start(options.program);
  return self;
}

async function revisionOf(self: Rig, kind: string, scope: string, name: string): Promise<number> {
  const answer = await self.call("GET", `/describe?kind=${kind}&scope=${scope}&name=${name}`);
  return (answer.body.data as { manifest: Manifest } | undefined)?.manifest.metadata?.revision ?? 0;
}

async function call(socket: string, request: { method: string; path: string; body: unknown }): Promise<Answer> {
  const { method, path, body } = request;
  const init = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
  const response = await fetch(`http://localhost${path}`, { method, unix: socket, ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parsed(text) };
}

function parsed(text: string): Answer["body"] {
  try {
    return JSON.parse(text);
  } catch {
    return { text } as unknown as Answer["body"];
  }
}

/** What outlives its server: HAProxy, which would keep ports that the next test needs, and servers of names. */
function endProcessesOf(root: string): void {
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const pid = Number(entry);
    if (pid !== process.pid && wordsOf(pid)?.some((word) => word.startsWith(`${root}/`)) === true) killed(pid);
  }
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

/** Everything in Docker that carries the prefix. By its API: each start of its client takes as much CPU as ten such requests. */
async function sweep(host: string, prefix: string): Promise<void> {
  const unix = host.slice("unix://".length);
  const labelled = encodeURIComponent(JSON.stringify({ label: [`createdby=${prefix}`] }));
  const ask = (path: string, method = "GET") =>
    fetch(`http://localhost${path}`, { unix, method, keepalive: false }).catch(() => undefined);
  const listed = async <T>(path: string) => {
    const answer = await ask(`${path}filters=${labelled}`);
    return answer?.ok === true ? ((await answer.json()) as T) : undefined;
  };
  const remove = (paths: string[] = []) => Promise.all(paths.map((path) => ask(path, "DELETE")));
  const containers = await listed<{ Id: string }[]>("/containers/json?all=true&");
  await remove(containers?.map(({ Id }) => `/containers/${Id}?force=true&v=true`));
  const volumes = await listed<{ Volumes?: { Name: string }[] }>("/volumes?");
  await remove(volumes?.Volumes?.map(({ Name }) => `/volumes/${Name}?force=true`));
  const networks = await listed<{ Id: string }[]>("/networks?");
  await remove(networks?.map(({ Id }) => `/networks/${Id}`));
}
