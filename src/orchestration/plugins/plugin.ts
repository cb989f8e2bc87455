import { Failure } from "../../base/wire/failure.ts";
import type { PluginPermissions, PluginYml } from "../api/plugins/plugin-yml.ts";

/** A plugin that can be run. */
export interface Plugin {
  yml: PluginYml;
  /** `folder`: dropped in by hand. `linked`: a symbolic link to a folder elsewhere, never verified. */
  origin: "folder" | "installed" | "linked" | "bundled";
  /** Absolute, links resolved: where its commands run. */
  folder: string;
  /** What was written down when it was installed; also there for a folder that was enabled or disabled. */
  lock: LockRecord | undefined;
  enabled: boolean;
  permissions: PluginPermissions;
  /** Command → the first words of its argv, the program absolute; the operator's words follow. */
  argv: ReadonlyMap<string, readonly string[]>;
  /** For a bundled plugin: JSON Schemas by kind. Others have theirs in files that `yml.schema` names. */
  schemas?: Readonly<Record<string, unknown>>;
}

/** What was written down about a plugin; `readLock` of state.ts reads it from `<plugins>/.state/<name>.json`. */
export interface LockRecord {
  source: string;
  /** The version that was asked for; empty for the newest. */
  requested: string;
  version: string;
  commit?: string;
  /** ISO 8601. */
  installed_at: string;
  /** By path inside the folder, with `/`. Empty where nothing is verified. */
  files: Record<string, FileRecord>;
  /** Granted at the install; absent where nothing was installed, only enabled or disabled. */
  permissions?: PluginPermissions;
  /** Changes that the operator took after it was installed. */
  accepted?: {
    /** ISO 8601. */
    at: string;
    /** Paths that differ from the release. */
    files: string[];
  };
  enabled: boolean;
  /** Folder below `.versions/<name>/` that `rollback` returns to, and its version. */
  previous?: { id: string; version: string };
  /** A folder elsewhere, for development: not verified. */
  linked?: boolean;
}

export interface FileRecord {
  sha256: string;
  size: number;
  mtimeMs: number;
  inode: number;
}

/** A plugin that is part of the executable. */
export interface BundledPlugin {
  yml: PluginYml;
  /** Program and first words: `[execPath, "plugin", "postgres"]`; the command and the operator's words follow. */
  argv: readonly string[];
  /** JSON Schemas of its blocks, by kind. */
  schemas?: Readonly<Record<string, unknown>>;
}

/** The plugins of a root: what lies in `<root>/plugins`, and the bundled ones that nothing takes the place of. */
export interface Registry {
  /** Looks at the folder again where something moved; cheap otherwise. */
  refresh(): Promise<void>;
  /** As of the last `refresh`, by name. */
  list(): { plugins: readonly Plugin[]; errors: readonly string[] };
  /** By name, else by alias. */
  find(nameOrAlias: string): Plugin | undefined;
  /** The plugin that expands blocks of this kind: it serves the kind and has the command `expand`. */
  ofKind(kind: string): Plugin | undefined;
}

/** Everything there is, as plugins had it before there were permissions. */
export const fullGrant: PluginPermissions = {
  actions: ["config_set", "config_unset", "apply_manifest", "delete_manifest", "run_job", "exec_local", "fetch_file"],
  scopes: ["*"],
  docker: true,
  root: true,
};

/** What an install grants: root only where it is asked for, in so many words or by no words at all. */
export function grantedBy(yml: PluginYml): PluginPermissions {
  const asked = askedBy(yml);
  return yml.permissions === undefined ? asked : { ...asked, root: asked.root ?? false };
}

/** What a plugin asks for, as it says it; a folder that is used as it is has that. */
export function askedBy({ permissions = fullGrant, server_env }: PluginYml): PluginPermissions {
  return server_env === undefined ? permissions : { ...permissions, server_env };
}

export function isFullGrant({ actions, scopes, docker, root }: PluginPermissions): boolean {
  return (
    docker && root !== false && scopes.includes("*") && fullGrant.actions.every((action) => actions.includes(action))
  );
}

/** Whether the server runs its backup commands in the pods of its blocks. */
export const mayBackUp = (permissions: PluginPermissions) => permissions.backup === true || isFullGrant(permissions);

export interface InstallRequest {
  /** `owner/repo`, a git URL, or a local path. */
  source: string;
  version?: string;
  link?: boolean;
  replace?: boolean;
  /** Digest of a preview: a package that has another one is refused with `ChangedPackage`. */
  expect?: string;
  forBlocks?: ForBlocks;
}

/** What blocks need a package for: one that is something else is refused before anything of it is run. */
export interface ForBlocks {
  kind: string;
  /** As the blocks pin it; undefined for any. */
  version: string | undefined;
  /** The installed plugin that it may take the place of; undefined for none. */
  updates: string | undefined;
}

export interface UpdateRequest {
  /** The newest without it. */
  version?: string;
  expect?: string;
  /** What the operator grants beside what was granted before. */
  grant?: PluginPermissions;
  forBlocks?: ForBlocks;
}

/** What an install or an update would bring in; nothing of it has been run. */
export interface Preview {
  yml: PluginYml;
  source: string;
  /** The version that was asked for; empty for the newest. */
  requested: string;
  version: string;
  commit?: string;
  /** Digest of the whole package as it would be before its hook; hex. */
  digest: string;
  /** What the install would run. */
  hooks: string[];
  /** For the operator: what could not be made sure of. */
  warnings: string[];
  grant: PluginPermissions;
  /** What it wants beyond what is granted now; undefined where nothing is. */
  more?: string[];
  /** What is there of its name. */
  replaces?: Plugin;
}

/** What was changed in an installed plugin since it was locked. */
export interface PluginChanges {
  yml: PluginYml;
  /** Digest of the files that accepting would lock; hex. */
  digest: string;
  files: FileChange[];
  /** Changed files beyond those that are shown. */
  left: number;
  /** What accepting would grant; undefined where plugin.yml is as it was. */
  grant?: PluginPermissions;
  /** What it wants beyond what is granted now. */
  more?: string[];
}

export interface FileChange {
  path: string;
  change: "added" | "changed" | "removed";
  /** Left out for a file that was removed. */
  size?: number;
  sha256?: string;
  /** Left out where one of the two is not a short text, or the old one was not kept. */
  diff?: string[];
  /** Lines of the difference that are left out. */
  left?: number;
}

export interface InstalledPlugin extends Plugin {
  /** As of its preview. */
  warnings: readonly string[];
}

/** What was fetched is not what was shown before: answered as it is, while other faults of packages are `invalid`. */
export class ChangedPackage extends Failure {
  constructor(message: string) {
    super("conflict", message);
  }
}

/** Changes what is installed; each fails with a `Failure` and leaves what worked before. */
export interface Installer {
  /** The installed plugin; what it says while it works goes to `progress`, a line each. */
  install(request: InstallRequest, options?: InstallOptions): Promise<InstalledPlugin>;
  /** Fetches and checks as `install` does, runs nothing of the package and leaves nothing behind. */
  preview(request: InstallRequest, options?: InstallOptions): Promise<Preview>;
  /** False when it was not there. */
  remove(name: string, options?: InstallOptions): Promise<boolean>;
  /** Fails `forbidden` for a version that wants more than is granted. */
  update(name: string, request?: UpdateRequest, options?: InstallOptions): Promise<InstalledPlugin>;
  previewUpdate(name: string, request?: UpdateRequest, options?: InstallOptions): Promise<Preview>;
  rollback(name: string): Promise<Plugin>;
  /** Undoes an update: the version before is active, and the one that came at `installedAt` never was. */
  withdraw(name: string, installedAt: string): Promise<void>;
  setEnabled(name: string, enabled: boolean): Promise<Plugin>;
  /** What differs from the lock. */
  changes(name: string): Promise<PluginChanges>;
  /** Locks a plugin as it is now; `expect` is the digest of its changes. */
  accept(name: string, expect: string): Promise<Plugin>;
  /** Compares the files with the lock; fails `conflict` naming the file that is not what was installed. */
  verify(plugin: Plugin): Promise<void>;
}

export interface InstallOptions {
  progress?: (line: string) => void;
  signal?: AbortSignal;
}
