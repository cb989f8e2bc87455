import { join } from "node:path";
import type { Ground, Late } from "./ground.ts";
import type { GuardOptions } from "../base/deliver/address-guard.ts";
import { gitConnection } from "../base/deliver/git-connection.ts";
import { createFollow } from "../base/deliver/follow.ts";
import { createPinned } from "../base/deliver/pinned.ts";
import { resolveHost } from "../base/deliver/resolve-host.ts";
import { bundledPlugins } from "../../plugins/bundled.ts";
import { parsedYmls } from "./bundled.ts";
import { createOutside } from "../base/wire/outgoing.ts";
import {
  limits,
  pluginDefaultRepo,
  pluginEnvironment,
  proxyVariables,
  serverVariables,
  type ServeOptions,
} from "../config/config.ts";
import type { CallbackDoor, PluginRoom } from "../orchestration/controller/state/plugin-room.ts";
import type { RunningController } from "../orchestration/controller/running.ts";
import type { Naming } from "../orchestration/core/naming.ts";
import { moveInPlace, writeAtomic } from "../base/disk/atomic-write.ts";
import type { Layout } from "../base/disk/layout.ts";
import { createCallbackApp } from "../orchestration/http/callbacks/app.ts";
import { createDoor, type Door } from "../orchestration/http/callbacks/door.ts";
import { type RunDoor, type RunDoorOptions, startRunDoor } from "../orchestration/http/callbacks/run-door.ts";
import { systemClock } from "../base/words/clock.ts";
import { readPluginYml } from "../orchestration/core/plugins/plugin-yml.ts";
import type { Log } from "../base/words/log.ts";
import { recover } from "../orchestration/plugins/activate.ts";
import { createBlockSchemas } from "../orchestration/plugins/block-schemas.ts";
import { createCgroups } from "../orchestration/plugins/cgroups.ts";
import { createConfinement } from "../orchestration/plugins/confinement.ts";
import type { Download } from "../orchestration/plugins/fetch-release.ts";
import { foldersOf, makeFolders } from "../orchestration/plugins/folders.ts";
import { createHost } from "../orchestration/plugins/host.ts";
import { createInstaller } from "../orchestration/plugins/install.ts";
import { createOffers } from "../orchestration/plugins/offers.ts";
import { createRegistry } from "../orchestration/plugins/registry.ts";
import type { BundledPlugin } from "../orchestration/plugins/plugin.ts";
import type { InstallerOptions } from "../orchestration/plugins/work.ts";
import { readLock } from "../orchestration/plugins/state.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import { version } from "../version.ts";

interface PluginParts {
  layout: Layout;
  names: Naming;
  options: ServeOptions;
  installationId: string;
  log: Log;
  /** For the run with this token; undefined until the door for runs listens. */
  controllerUrl: (token: string) => string | undefined;
  callbacks: CallbackDoor;
  /** Environment that the operator set for a plugin. */
  configOf: InstallerOptions["configOf"];
  /** A plugin came, went, or is another. */
  onChange: () => void;
}

/**
 * Plugins of a root: the folder, the bundled ones, and the processes that they run as. What a crash broke off in an
 * install is finished or taken back first, so this is for the holder of the root's lock.
 */
export async function createPluginRoom(parts: PluginParts): Promise<PluginRoom> {
  const { layout, names, options, log, controllerUrl, callbacks } = parts;
  const folders = foldersOf(layout.plugins);
  const disk = { folders, writeFile: writeAtomic, moveInPlace, preparing: new Set<string>(), reached: () => undefined };
  await makeFolders(folders);
  const { installationId: owner } = parts;
  const { cgroups, setpriv, confinement, lacks } = holdPlugins({ layout, names, owner });
  const host = createHost({ limits, runVariable: `${names.envPrefix}_RUN_ID`, owner, cgroups, setpriv });
  for (const lack of [...lacks, ...confinement.lacksBundled])
    log.warn("plugins are not held to all that they should be", { lack });
  // They may still write into folders that go now.
  await host.endLeftovers();
  await recover(disk, (plugin, error) => log.error("plugin not recovered", { plugin, error }));
  const registry = createRegistry({
    folder: layout.plugins,
    bundled: bundled(),
    readLock: (name) => readLock(folders, name),
    onChange(plugins) {
      log.info("plugins changed", { plugins });
      parts.onChange();
    },
  });
  const environment = pluginEnvironment();
  const installer = createInstaller({
    ...installerSetup(parts, environment),
    ...{ ...disk, host, registry, confinement, lacks },
  });
  return {
    registry,
    installer,
    host,
    schemas: createBlockSchemas(),
    offers: createOffers(limits.pluginOffersKept),
    confinement,
    environment,
    serverVariables: (names) => serverVariables(names),
    dockerHost: options.dockerHost,
    controllerUrl,
    callbacks,
    lastRecord: Promise.resolve(),
    passes: new Map(),
    underWay: new Set(),
    holds: new Set(),
    pendingInstalls: new Map(),
    defaultRepo: (kind) => pluginDefaultRepo(kind, names.envPrefix),
  };
}

/** What an install needs beside the folders and processes of this root. */
function installerSetup(parts: PluginParts, environment: Readonly<Record<string, string>>) {
  const { names, options } = parts;
  const guard = { resolve: resolveHost, allowPrivate: options.allowPrivateWebhooks };
  return {
    env: hookEnvironment(parts, environment),
    envPrefix: names.envPrefix,
    releasesUrl: options.pluginReleases,
    machine: { os: process.platform, arch: process.arch },
    download: downloader(guard, options.pluginReleases),
    connection: (url: string) => gitConnection(url, guard),
    limits: {
      filesMax: limits.pluginFilesMax,
      bytesMax: limits.pluginPackageBytesMax,
      inflation: limits.pluginInflation,
      texts: limits.pluginTexts,
    },
    fetchMs: limits.pluginFetchMs,
    changesShown: limits.pluginChangesShown,
    hookMs: limits.pluginHookMs,
    installsAtOnceMax: limits.pluginInstallsAtOnceMax,
    configOf: parts.configOf,
    serverVariables: (names: readonly string[]) => serverVariables(names),
    hiddenFrom: limits.pluginHiddenFrom,
    serverVersion: version,
    now: () => Date.now(),
    // Scripts for bun are run by this executable where the machine has none.
    which: (program: string) =>
      Bun.which(program, { PATH: environment.PATH ?? "" }) ?? (program === "bun" ? process.execPath : null),
  };
}

/** What this program is run by: the executable itself; in a checkout, the platform with our entry file. */
export function ownProgram(): string[] {
  return Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, join(import.meta.dir, "../main.ts")];
}

/** What the machine has to hold runs of plugins, each in a group and as a user of its own. `doctor` asks as well. */
export function holdPlugins({ layout, names, owner }: { layout: Layout; names: Naming; owner: string }) {
  const cgroups = createCgroups({ mount: cgroupMount, name: `${names.prefix}-plugins`, limits });
  const setpriv = Bun.which("setpriv");
  const uid = process.getuid?.() ?? 0;
  const confinement = createConfinement({ setpriv, uid, owner, folder: layout.plugins, programs: ownProgram() });
  return { cgroups, setpriv, confinement, lacks: [...confinement.lacks, ...cgroups.lacks] };
}

const cgroupMount = "/sys/fs/cgroup";

function bundled(): BundledPlugin[] {
  const self = ownProgram();
  const ymls = parsedYmls(bundledPlugins);
  return bundledPlugins.map(({ name, schemas }) => {
    const { value, fault } = ymls[name] ?? { value: undefined, fault: "is missing" };
    const { yml, problems } = readPluginYml(value, name);
    const [problem] = problems;
    if (fault !== undefined || problem !== undefined) {
      throw new Error(`plugin.yml of the bundled plugin "${name}": ${fault ?? `${problem?.path} ${problem?.message}`}`);
    }
    return { yml, argv: [...self, "plugin", name], schemas };
  });
}

/** Hooks make ready what commands need later, so they see the same world. */
function hookEnvironment({ layout, names, options }: PluginParts, environment: Readonly<Record<string, string>>) {
  return {
    ...environment,
    DOCKER_HOST: options.dockerHost,
    [`${names.envPrefix}_ROOT`]: layout.root,
    [`${names.envPrefix}_PLUGINS_ROOT`]: layout.plugins,
    [`${names.envPrefix}_NODE`]: "local",
  };
}

/** The bytes as they are: a tarball that is unpacked on the way would be unpacked twice. The caller has the limits. */
function downloader(guard: GuardOptions, releases: string): Download {
  const asItIs = { decompress: false, timeout: false };
  const variables = proxyVariables();
  const [outside, pinned] = [createOutside(variables), createPinned(variables)];
  return createFollow({
    ...guard,
    origin: new URL(releases).origin,
    headers: { "Accept-Encoding": "identity" },
    ask: (url, init) => outside(url, { ...init, ...asItIs }),
    fetch: (url, init, asked) => pinned(url, { ...init, ...asItIs }, asked),
    headMs: limits.pluginFetchMs,
  });
}

/** The plugins of this server. What a crash broke off in an install is finished or taken back. */
export function recoverPlugins(ground: Ground, late: Late): Promise<PluginRoom> {
  const { options, layout, names, store, log, opened } = ground;
  return opened.step("recover the plugins", () =>
    createPluginRoom({
      ...{ layout, names, options, installationId: store.installationId, log },
      controllerUrl: (token) => late.runs?.url(token),
      configOf: (plugin) => store.pluginConfig.of(plugin),
      callbacks: { url: () => late.callbacks?.url(), open: async () => late.callbacks?.open() },
      onChange: () => late.ingress?.plugins.pluginsChanged(),
    }),
  );
}

interface DoorParts {
  options: ServeOptions;
  running: RunningController;
  engine: Engine;
  names: Naming;
  plane: RunDoorOptions["plane"];
  log: Log;
}

/** The listener for containers of plugins' blocks; undefined where it is turned off. */
export function callbackDoor({ options, running, engine, names, plane, log }: DoorParts): Door | undefined {
  const { callbackPort: port } = options;
  if (port === undefined) return undefined;
  const peerHeader = `${names.headerPrefix}-Peer`;
  const app = createCallbackApp({ callbacks: running.callbacks, plane, peerHeader, log });
  return createDoor({
    name: "callbacks",
    fetch: app.fetch,
    gateway: () => engine.networkGateway(names.network),
    makeNetwork: () => engine.ensureNetwork(names.network),
    port,
    peerHeader,
    limits,
    clock: systemClock,
    log,
  });
}

interface RunDoorParts extends Pick<DoorParts, "running" | "names" | "log"> {
  app: Pick<RunDoorOptions, "takeover"> & { behind: RunDoorOptions["plane"] };
}

/** The listener that runs of plugins reach the plane by, each as far as it was granted. */
export function runDoorOf({ running, names, app, log }: RunDoorParts): Promise<RunDoor> {
  return startRunDoor({
    calls: running.runCalls,
    plane: app.behind,
    takeover: app.takeover,
    headerPrefix: names.headerPrefix,
    limits,
    log,
  });
}
