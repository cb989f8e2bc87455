import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { GuardOptions } from "../../src/base/deliver/address-guard.ts";
import { gitConnection } from "../../src/base/deliver/git-connection.ts";
import { resolveHost } from "../../src/base/deliver/resolve-host.ts";
import { limits } from "../../src/config/config.ts";
import { moveInPlace, writeAtomic } from "../../src/base/disk/atomic-write.ts";
import { recover } from "../../src/orchestration/plugins/activate.ts";
import { foldersOf, makeFolders } from "../../src/orchestration/plugins/folders.ts";
import { createHost } from "../../src/orchestration/plugins/host.ts";
import { type Confinement, unconfined } from "../../src/orchestration/plugins/confinement.ts";
import { createInstaller } from "../../src/orchestration/plugins/install.ts";
import type { BundledPlugin, Installer, Plugin, Registry } from "../../src/orchestration/plugins/plugin.ts";
import { createRegistry } from "../../src/orchestration/plugins/registry.ts";
import type { StageOptions } from "../../src/orchestration/plugins/stage.ts";
import { readLock } from "../../src/orchestration/plugins/state.ts";
import type { InstallerOptions } from "../../src/orchestration/plugins/work.ts";

/** A root with nothing but plugins in it, and everything that works on them. */
export interface PluginYard {
  root: string;
  /** `<root>/plugins`. */
  plugins: string;
  installer: Installer;
  registry: Registry;
  /** Runs a command of a plugin as it is now; its standard output. */
  say(name: string, ...words: string[]): Promise<string>;
  /** As a server that starts; fails where a plugin cannot be recovered, unless `onError` takes that. */
  recover(onError?: (name: string, error: unknown) => void): Promise<void>;
  close(): Promise<void>;
}

export interface YardOptions extends Partial<
  Pick<InstallerOptions, "reached" | "releasesUrl" | "hookMs" | "env" | "configOf" | "serverVariables">
> {
  bundled?: readonly BundledPlugin[];
  limits?: StageOptions["limits"];
  /** Where repositories may be; as a server without flags where it is left out. */
  guard?: GuardOptions;
  /** Nobody has a user of its own where it is left out. */
  confinement?: Confinement;
  /** An existing one, which stays at `close`. */
  root?: string;
}

export async function pluginYard(options: YardOptions = {}): Promise<PluginYard> {
  const root = options.root ?? mkdtempSync(join(tmpdir(), "berth-plugins-"));
  const folders = foldersOf(join(root, "plugins"));
  await makeFolders(folders);
  const host = createHost({
    limits, // Test files run beside each other, and what has a run's variable ends with the run.
    runVariable: `BERTH_TEST_${process.pid}_RUN`,
  });
  const registry = createRegistry({
    folder: folders.plugins,
    bundled: options.bundled ?? [],
    readLock: (name) => readLock(folders, name),
  });
  const env: Record<string, string> = { PATH: process.env.PATH ?? "", ...options.env };
  const work = {
    folders,
    host,
    registry,
    env,
    envPrefix: "BERTH",
    releasesUrl: options.releasesUrl ?? "http://127.0.0.1:1",
    machine: { os: "linux", arch: "x64" },
    download: (url: string, init: RequestInit) => fetch(url, init),
    connection: (url: string) => gitConnection(url, options.guard ?? { resolve: resolveHost, allowPrivate: false }),
    limits: {
      filesMax: limits.pluginFilesMax,
      bytesMax: limits.pluginPackageBytesMax,
      inflation: limits.pluginInflation,
      texts: limits.pluginTexts,
      ...options.limits,
    },
    fetchMs: limits.pluginFetchMs,
    changesShown: limits.pluginChangesShown,
    hookMs: options.hookMs ?? limits.pluginHookMs,
    installsAtOnceMax: limits.pluginInstallsAtOnceMax,
    writeFile: writeAtomic,
    moveInPlace,
    preparing: new Set<string>(),
    reached: options.reached ?? (() => undefined),
    serverVersion: "0.1.0",
    now: () => Date.now(),
    which: (program: string) => Bun.which(program),
    confinement: options.confinement ?? unconfined,
    configOf: options.configOf ?? (() => ({})),
    serverVariables: options.serverVariables ?? (() => ({})),
    hiddenFrom: limits.pluginHiddenFrom,
    lacks: [],
  };
  const installer = createInstaller(work);
  return {
    root,
    plugins: folders.plugins,
    installer,
    registry,
    async say(name, ...words) {
      await registry.refresh();
      const plugin = found(registry, name);
      await installer.verify(plugin);
      const argv = plugin.argv.get(words[0] ?? "") ?? [];
      const run = { id: crypto.randomUUID(), argv: [...argv, ...words.slice(1)], folder: plugin.folder, env };
      const { stdout } = await host.run({ ...run, stdin: "{}", timeoutMs: 20_000 });
      return new TextDecoder().decode(stdout).trimEnd();
    },
    recover: (onError = cannotRecover) => recover(work, onError),
    async close() {
      await host.close();
      if (options.root === undefined) rmSync(root, { recursive: true, force: true });
    },
  };
}

function cannotRecover(name: string, error: unknown): never {
  throw new Error(`cannot recover ${name}`, { cause: error });
}

function found(registry: Registry, name: string): Plugin {
  const plugin = registry.find(name);
  if (plugin === undefined) throw new Error(`no plugin "${name}": ${registry.list().errors.join(", ")}`);
  return plugin;
}

/** Writes files below `folder`; those that start with `#!` can be run. */
export function writeTree(folder: string, files: Record<string, string>): string {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, text.startsWith("#!") ? 0o755 : 0o644);
  }
  return folder;
}

/** A plugin whose command `hello` prints its version. */
export function helloPlugin(version: string, more: { yml?: string; files?: Record<string, string> } = {}) {
  return {
    "plugin.yml": `name: hello\nversion: ${version}\naliases: [hi]\ncommands: [{name: hello, help: says hello}]\n${more.yml ?? ""}`,
    "bin/hello": `#!/bin/sh\necho hello ${version} "$@"\n`,
    ...more.files,
  };
}
