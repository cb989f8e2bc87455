import { join, resolve } from "node:path";
import { sha256Hex } from "../pure/digest.ts";

/** Databases beside the platform's own, which a backup holds as well. In the order in which it holds them. */
export const besides = ["identity", "observability"] as const;
export type Beside = (typeof besides)[number];

/** Where everything under the root is. */
export interface Layout {
  root: string;
  database: string;
  /** Database of the identity service: its writes and its size are its own. */
  identityDatabase: string;
  /** Made from it, and made again when it is lost: not part of a backup. */
  identityIndex: string;
  /** Tokens, audit trail and alerts of the observability plane. */
  observabilityDatabase: string;
  /** Figures of the past: no part of a backup, and can be deleted while no server runs. */
  metricsDatabase: string;
  /** Traces of apps: the same. */
  tracesDatabase: string;
  /** Folder of a certificate that the observability plane made for itself. */
  planeTls: string;
  key: string;
  /** Which server of its installation this root is; no part of a backup. */
  life: string;
  /** Says that the server of this root does not act, since its work moves to or from another machine; no part of a backup. */
  move: string;
  run: string;
  /** Where sockets are: `run`, or a folder with a short path where that of `run` is too long for them. */
  sockets: string;
  lock: string;
  socket: string;
  pid: string;
  apps: string;
  volumes: string;
  assets: string;
  plugins: string;
  backups: string;
  /** What copies to targets outside of the machine need while they are made, and what restic keeps to be quick. */
  copies: string;
  logs: string;
  /** Folders that images are built from, packed, and what the builds printed. */
  builds: string;
  /** Bare git repositories, of what was pushed. */
  repositories: string;
  /** Files of the ingress proxy. */
  ingress: string;
  ingressSocket: string;
  ingressMaster: string;
  ingressPid: string;
  /** Subnets of the platform's network, which stay closed while it is gone. */
  subnets: string;
  /** What the name server of the containers answers, and its process. */
  zone: string;
  namesPid: string;
}

export function besideDatabases(
  layout: Pick<Layout, "identityDatabase" | "observabilityDatabase">,
): Record<Beside, string> {
  return { identity: layout.identityDatabase, observability: layout.observabilityDatabase };
}

const [socketName, ingressSocketName, ingressMasterName] = ["berth.sock", "haproxy.sock", "haproxy-master.sock"];

/**
 * The longest path of a socket that HAProxy takes: the kernel takes 107 bytes, and HAProxy binds under a longer name
 * first. One limit for all sockets, so that they are together.
 */
export const socketPathBytesMax = 97;
const longestSocketName = Math.max(...[socketName, ingressSocketName, ingressMasterName].map(({ length }) => length));

/** Made from the whole path, so that two roots never share it. In a folder that root alone can write to. */
function socketsOf(root: string): string {
  const run = join(root, "run");
  if (Buffer.byteLength(run) + 1 + longestSocketName <= socketPathBytesMax) return run;
  return `/run/berth-${sha256Hex(resolve(root)).slice(0, 12)}`;
}

export function layoutOf(root: string): Layout {
  const run = join(root, "run");
  const sockets = socketsOf(root);
  return {
    root,
    database: join(root, "state.db"),
    identityDatabase: join(root, "identity.db"),
    identityIndex: join(root, "identity-search.db"),
    observabilityDatabase: join(root, "observability.db"),
    metricsDatabase: join(root, "metrics.db"),
    tracesDatabase: join(root, "traces.db"),
    planeTls: join(root, "observability-tls"),
    key: join(root, "key"),
    life: join(root, "life.json"),
    move: join(root, "move.json"),
    run,
    sockets,
    lock: join(run, "lock.db"),
    socket: join(sockets, socketName),
    pid: join(run, "berth.pid"),
    apps: join(root, "apps"),
    volumes: join(root, "volumes"),
    assets: join(root, "assets"),
    plugins: join(root, "plugins"),
    backups: join(root, "backups"),
    copies: join(root, "copies"),
    logs: join(root, "logs"),
    builds: join(root, "builds"),
    repositories: join(root, "repositories"),
    ingress: join(root, "ingress"),
    ingressSocket: join(sockets, ingressSocketName),
    ingressMaster: join(sockets, ingressMasterName),
    ingressPid: join(run, "haproxy.pid"),
    subnets: join(run, "subnets.json"),
    zone: join(run, "names.json"),
    namesPid: join(run, "names.pid"),
  };
}
