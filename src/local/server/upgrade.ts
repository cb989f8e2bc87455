import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { layoutOf } from "../../base/disk/layout.ts";
import { compareVersions } from "../../base/pure/versions.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { Failure } from "../../base/wire/failure.ts";
import { usageFailure } from "../../client/basics/failures.ts";
import { serverLimits } from "../../config/server-limits.ts";
import { versionOfExecutable } from "./executable.ts";
import { hasSystemd, type Machine, places, requireRoot, thisMachine } from "./machine.ts";
import { checkVersion, fetchExecutable, latestVersion } from "./release.ts";
import { releaseSource } from "./release-keys.ts";
import { swap } from "./swap.ts";
import { flagOf, installedWords } from "./systemd.ts";

export const upgradeUsage = `berth server upgrade

usage: berth server upgrade [--version VERSION | --executable FILE] [--release-url URL]
         [--release-key FILE] [--allow-older] [--wait TIME]

Replaces the executable of the server with the latest release and restarts it. Containers and
HAProxy run on. The former executable and a copy of the state are kept. If the new server is not
healthy in time, both come back by themselves and the exit code is 1. From the stop of the server
on, Ctrl-C and a terminal that closes are ignored: the upgrade, or the way back, comes to its end.
Needs root. The release must be signed with the key that is built in.

  --version VERSION   that release and not the latest
  --executable FILE   this file, without a download
  --release-url URL   where the releases are (BERTH_RELEASE_URL)
  --release-key FILE  public keys to trust instead of the built-in one (BERTH_RELEASE_PUBLIC_KEY)
  --allow-older       also a version that is older than the installed one
  --wait TIME         until the new server must be healthy (20s); more for a large database`;

/** `berth server upgrade`. */
export async function upgradeCommand(args: string[]): Promise<number> {
  const string = { type: "string" } as const;
  const options = {
    ...{ version: string, executable: string, "release-url": string, "release-key": string, wait: string },
    "allow-older": { type: "boolean" } as const,
  };
  const { values } = parseArgs({ args, options });
  const ofReleases = [values.version, values["release-url"], values["release-key"]];
  if (values.executable !== undefined && ofReleases.some((value) => value !== undefined)) {
    throw usageFailure("--executable takes a file, so it cannot stand with --version, --release-url or --release-key");
  }
  const mayBeOlder = values["allow-older"] === true;
  const waitMs = waitOf(values.wait);
  requireRoot("berth server upgrade");
  const machine = thisMachine;
  const root = installedRoot(machine);
  if (values.executable !== undefined)
    return upgradeTo(machine, { root, waitMs, mayBeOlder, executable: resolve(values.executable) });
  const source = await releaseSource({ url: values["release-url"], keyFile: values["release-key"] });
  const version = values.version === undefined ? await latestVersion(source.url) : checkVersion(values.version);
  const from = await installedVersion(machine);
  if (values.version === undefined && from.startsWith(`${version} `)) {
    machine.say(`${from} is the latest release; nothing was changed`);
    return 0;
  }
  if (!mayBeOlder) refuseOlder(version, from);
  const downloaded = `${places.executable}.download.${process.pid}`;
  try {
    machine.say(`fetching ${version} from ${source.url}`);
    await fetchExecutable(source, version, downloaded);
    return await upgradeTo(machine, { root, waitMs, mayBeOlder, executable: downloaded });
  } finally {
    await rm(downloaded, { force: true });
  }
}

interface Upgrade {
  root: string;
  executable: string;
  waitMs: number;
  mayBeOlder?: boolean;
}

/** Also what an installer does that finds a server. */
export async function upgradeTo(
  machine: Machine,
  { root, executable, waitMs, mayBeOlder = false }: Upgrade,
): Promise<number> {
  const version = await versionOfExecutable(machine, executable);
  const from = { version: await installedVersion(machine) };
  if (!mayBeOlder) refuseOlder(version, from.version);
  await swap({ machine, layout: layoutOf(root), to: { executable, version }, from, backup: undefined, waitMs });
  machine.say(`${version} runs; before: ${from.version}`);
  machine.note("to go back: berth server rollback");
  return 0;
}

/** An executable that does not run any more is replaced like an older one. */
export async function installedVersion(machine: Machine): Promise<string> {
  return versionOfExecutable(machine, places.executable).catch(() => "an executable that does not run");
}

/** Fails `conflict` for a version that is older than the installed one. */
export function refuseOlder(version: string, from: string): void {
  if (compareVersions(version, from) >= 0) return;
  throw new Failure(
    "conflict",
    `${version} is older than ${from}, and may not read its state: berth server rollback goes back to the executable and the state of before an upgrade. --allow-older installs it all the same`,
  );
}

/** The root of the installed server. Fails `not_found` without one. */
export function installedRoot(machine: Machine): string {
  const words = installedWords();
  if (words === undefined || !hasSystemd(machine) || !existsSync(places.executable)) {
    throw new Failure(
      "not_found",
      `no server that berth server install has installed: to replace another one, stop it, make a backup with berth backup, replace the executable, and start it`,
    );
  }
  return flagOf(words, "root") ?? "/opt/berth";
}

export function waitOf(text: string | undefined): number {
  const waitMs = text === undefined ? serverLimits.healthyMs : parseDuration(text);
  if (waitMs === undefined || waitMs === 0) throw usageFailure(`--wait "${text}": write it like "30s" or "5m"`);
  return waitMs;
}
