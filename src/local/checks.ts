import { isoTime } from "../base/pure/iso-time.ts";
/** One line of the doctor's answer. */
export interface Check {
  name: string;
  /** `skip`: the check was not made; `detail` says why. */
  status: "ok" | "warn" | "fail" | "skip";
  detail: string;
  /** How to fix it; absent when there is nothing to fix. */
  mend?: string;
}

/** What Docker says of itself, as far as it concerns us. */
export interface DockerFacts {
  version: string;
  apiVersion: string;
  liveRestore: boolean;
  hasInit: boolean;
  cgroupVersion: string;
  rootDir: string;
}

const apiLeast = "1.41";

export function checkDocker(host: string, facts: DockerFacts | Error): Check {
  const name = "docker";
  if (facts instanceof Error) {
    const mend = `start it (systemctl start docker), install it (apt-get install docker.io), or name another socket with --docker-host`;
    return { name, status: "fail", detail: `no answer at ${host}: ${facts.message}`, mend };
  }
  const detail = `${facts.version}, API ${facts.apiVersion}, at ${host}`;
  if (Number.isNaN(apiNumber(facts.apiVersion)) || apiNumber(facts.apiVersion) < apiNumber(apiLeast)) {
    return { name, status: "fail", detail, mend: `install Docker Engine 20.10 or newer: berth needs API ${apiLeast}` };
  }
  return { name, status: "ok", detail };
}

/** `1.41` → 1041, so that 1.9 is older than 1.41. */
function apiNumber(text: string): number {
  const [major, minor] = text.split(".").map(Number);
  return (major ?? Number.NaN) * 1000 + (minor ?? Number.NaN);
}

export function checkLiveRestore({ liveRestore }: DockerFacts): Check {
  const name = "live-restore";
  if (liveRestore) return { name, status: "ok", detail: "containers outlive a restart of the Docker daemon" };
  return {
    name,
    status: "warn",
    detail: "off: a crash or upgrade of the Docker daemon stops every container",
    mend: 'put "live-restore": true into /etc/docker/daemon.json, then: systemctl reload docker',
  };
}

export function checkInit({ hasInit }: DockerFacts): Check {
  const name = "docker-init";
  if (hasInit) return { name, status: "ok", detail: "containers can have an init as process 1" };
  return {
    name,
    status: "warn",
    detail: "missing: processes that exec probes leave behind are not collected, and init: true does not start",
    mend: "install it beside dockerd (in Debian it comes with docker.io)",
  };
}

export function checkCgroups({ cgroupVersion }: DockerFacts): Check {
  const name = "cgroups";
  if (cgroupVersion === "1" || cgroupVersion === "2") return { name, status: "ok", detail: `version ${cgroupVersion}` };
  const mend = "mount the cgroup file systems: without them limits and usage figures do not work";
  return { name, status: "warn", detail: `Docker names version "${cgroupVersion}"`, mend };
}

/** `lacks` is what the machine does not have of it. */
export function checkPlugins(lacks: readonly string[]): Check {
  const name = "plugins";
  if (lacks.length === 0)
    return { name, status: "ok", detail: "each run has a control group and, unless it may be root, a user of its own" };
  const mend = "until then install only plugins that you would run as root";
  return { name, status: "warn", detail: lacks.join("; "), mend };
}

/** Whether containers of the platform network reach each other. */
export interface ForwardingFacts {
  /** `untested`: there are no two of which one listens, or this process may not enter their networks. */
  state: "open" | "blocked" | "untested";
  detail: string;
  /** The bridge of the network, where it is blocked. */
  bridge?: string;
}

/** What opens it again. */
export function forwardingMend(bridge: string): string {
  return (
    "systemctl restart docker writes Docker's rules again; if a firewall takes them away, let it pass: " +
    `iptables -I FORWARD -i ${bridge} -o ${bridge} -j ACCEPT`
  );
}

export function checkForwarding({ state, detail, bridge }: ForwardingFacts): Check {
  const name = "forwarding";
  if (state === "blocked") return { name, status: "fail", detail, mend: forwardingMend(bridge ?? "") };
  return { name, status: state === "untested" ? "skip" : "ok", detail };
}

export interface Space {
  path: string;
  freeBytes: number;
  totalBytes: number;
  readOnly: boolean;
}

/** Below the floor nothing is pulled any more; below three times of it there is still time to act. */
export function checkSpace(name: string, space: Space, floorBytes: number): Check {
  const share = space.totalBytes === 0 ? 0 : Math.round((100 * space.freeBytes) / space.totalBytes);
  const detail = `${gibibytes(space.freeBytes)} free (${share} %) at ${space.path}`;
  const mend =
    "remove what is not needed: berth disk shows what fills it, berth prune removes what Docker keeps for nothing";
  if (space.readOnly) {
    const repair = "look at dmesg, repair the disk, mount it writable again, and restart berth";
    return { name, status: "fail", detail: `${space.path} is read-only: nothing can be stored`, mend: repair };
  }
  if (space.freeBytes < floorBytes) return { name, status: "fail", detail, mend };
  if (space.freeBytes < 3 * floorBytes) return { name, status: "warn", detail, mend };
  return { name, status: "ok", detail };
}

function gibibytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/** What stands at an address of a plane; `berth` is one of another root. */
export type AddressState = "free" | "taken" | "ours" | "berth" | "off";

export function checkAddress(plane: string, address: string, state: AddressState): Check {
  const name = `${plane} address`;
  switch (state) {
    case "off":
      return { name, status: "ok", detail: "turned off" };
    case "free":
      return { name, status: "ok", detail: `${address} is free` };
    case "ours":
      return { name, status: "ok", detail: `${address} is served by berth` };
    case "berth": {
      const mend = `look at that one with --root, or give the berth serve of this root another ${addressFlag(plane)}`;
      return { name, status: "fail", detail: `${address} is served by a berth of another root`, mend };
    }
    case "taken": {
      const mend = `end what listens there (ss -ltnp shows it), or give berth serve another ${addressFlag(plane)}`;
      return { name, status: "fail", detail: `${address} is taken by another program`, mend };
    }
  }
}

function addressFlag(plane: string): string {
  return plane === "orchestration" ? "--addr" : `--${plane}-addr`;
}

/** Mode bits, or undefined when the path is missing. */
export interface RootFacts {
  root: string;
  rootMode: number | undefined;
  rootUid: number | undefined;
  uid: number;
  keyPath: string;
  keyMode: number | undefined;
  databaseExists: boolean;
}

export function checkRoot(facts: RootFacts): Check {
  const name = "root folder";
  if (facts.rootMode === undefined) {
    return { name, status: "ok", detail: `${facts.root} does not exist yet; the first berth serve makes it` };
  }
  const mode = octal(facts.rootMode);
  if (facts.rootUid !== facts.uid && facts.uid !== 0) {
    const mend = "run this as the user that runs berth serve";
    return { name, status: "warn", detail: `${facts.root} belongs to user ${facts.rootUid}`, mend };
  }
  if ((facts.rootMode & 0o022) !== 0) {
    const detail = `${facts.root} has mode ${mode}: others may write there`;
    return { name, status: "fail", detail, mend: `chmod go-w ${facts.root}` };
  }
  return { name, status: "ok", detail: `${facts.root}, mode ${mode}` };
}

export function checkKey(facts: RootFacts): Check {
  const name = "key file";
  if (facts.keyMode === undefined) {
    if (!facts.databaseExists) return { name, status: "ok", detail: "none yet; made with the first database" };
    const mend = `put ${facts.keyPath} back from a backup: config values cannot be read without it`;
    return { name, status: "fail", detail: `${facts.keyPath} is missing, but there is a database`, mend };
  }
  if ((facts.keyMode & 0o077) !== 0) {
    const detail = `${facts.keyPath} has mode ${octal(facts.keyMode)}: others may read it`;
    return { name, status: "fail", detail, mend: `chmod 600 ${facts.keyPath}` };
  }
  return { name, status: "ok", detail: `${facts.keyPath}, mode ${octal(facts.keyMode)}` };
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

/** `newestFileAt` is when the database was last written; `synchronized` is undefined when nothing on the machine knows. */
export interface ClockFacts {
  now: number;
  newestFileAt: number | undefined;
  synchronized: boolean | undefined;
}

const clockBackMs = 60_000;

export function checkClock({ now, newestFileAt, synchronized }: ClockFacts): Check {
  const name = "clock";
  const mend = "let the machine follow a time server: timedatectl set-ntp true";
  if (newestFileAt !== undefined && newestFileAt > now + clockBackMs) {
    const detail = `the database was written at ${isoTime(newestFileAt)}, but now is ${isoTime(now)}: the clock went back`;
    return { name, status: "fail", detail, mend };
  }
  if (synchronized === false) return { name, status: "warn", detail: `${isoTime(now)}, not synchronised`, mend };
  return { name, status: "ok", detail: isoTime(now) + (synchronized === true ? ", synchronised" : "") };
}

export interface IdentityFacts {
  /** `""` is off. */
  address: string;
  baseUrl: string;
  /** `mode` is undefined where there is none. */
  database: { path: string; mode: number | undefined };
  /** The index that was made from it, where there is one. */
  index: string | undefined;
}

export function checkIdentity({ address, baseUrl, database, index }: IdentityFacts): Check {
  const name = "identity service";
  if (database.mode === undefined && index !== undefined) {
    const mend = `put it back, or restore a backup with berth restore FILE; to begin without users, move ${index} away too`;
    return { name, status: "fail", detail: `the users' database ${database.path} is missing`, mend };
  }
  if (database.mode !== undefined && (database.mode & 0o077) !== 0) {
    const detail = `${database.path} has mode ${octal(database.mode)}: others may read who the users are`;
    return { name, status: "fail", detail, mend: `chmod 600 ${database.path}` };
  }
  if (address === "") return { name, status: "ok", detail: "turned off" };
  if (baseUrl.startsWith("https://")) return { name, status: "ok", detail: `browsers reach it at ${baseUrl}` };
  return {
    name,
    status: "ok",
    detail: `browsers of this machine alone reach it, at ${baseUrl}; serve with --identity-base-url for others`,
  };
}

/** What a running server says at `GET /system`; undefined when none runs on this root. */
export interface ServerFacts {
  version: string;
  engineUp: boolean;
  engineError: string | undefined;
  collectionHeld: boolean;
  /** Why nothing acts by itself, and what to do. */
  held?: string | undefined;
  failing: number;
}

export function checkServer(facts: ServerFacts | undefined, version: string): Check {
  const name = "server";
  if (facts === undefined) {
    const mend = "start it: systemctl start berth, or berth serve";
    return { name, status: "warn", detail: "not running on this root", mend };
  }
  const running = `version ${facts.version}`;
  if (!facts.engineUp) {
    const detail = `${running}; it cannot reach Docker: ${facts.engineError ?? "no reason given"}`;
    return { name, status: "fail", detail, mend: "see the docker line above; it tries again by itself" };
  }
  if (facts.collectionHeld) {
    const mend = "look at berth get all; when it is right: berth restore --confirm";
    const waits = facts.held === undefined ? "it removes nothing" : "cron jobs, webhooks, mails and copies wait";
    return { name, status: "warn", detail: `${running}; restored, so ${waits} until you confirm`, mend };
  }
  if (facts.held !== undefined) {
    const mend = "choose the server that acts; on that one: berth backup take-over";
    return { name, status: "warn", detail: `${running}; cron jobs, webhooks and mails wait: ${facts.held}`, mend };
  }
  if (facts.failing > 0) {
    const mend = "berth get shows which; berth describe says why";
    return {
      name,
      status: "warn",
      detail: `${running}; ${facts.failing === 1 ? "1 resource does" : `${facts.failing} resources do`} not come up`,
      mend,
    };
  }
  if (facts.version !== version) {
    const mend = "restart it to run what is installed: systemctl restart berth";
    return { name, status: "warn", detail: `${running} runs, ${version} is installed`, mend };
  }
  return { name, status: "ok", detail: running };
}
