import { accessSync, constants } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { compareVersions } from "../base/pure/versions.ts";
import { Failure } from "../base/wire/failure.ts";
import { versionText } from "../version.ts";
import { ownExecutable, versionOfExecutable } from "./server/executable.ts";
import { places, thisMachine } from "./server/machine.ts";
import { checkVersion, fetchExecutable, latestVersion } from "./server/release.ts";
import { releaseSource } from "./server/release-keys.ts";
import { installedWords } from "./server/systemd.ts";
import { sayNow } from "../client/basics/output.ts";

export const selfUpdateUsage = `berth self-update

usage: berth self-update [--version VERSION] [--allow-older] [--release-url URL]
         [--release-key FILE]

Replaces this executable by the latest release, once its signature and its checksum are right. On a
server, use berth server upgrade.

  --version VERSION   that release and not the latest
  --allow-older       also a version that is older than this one
  --release-url URL   where the releases are (BERTH_RELEASE_URL)
  --release-key FILE  public keys to trust instead of the built-in one (BERTH_RELEASE_PUBLIC_KEY)`;

/** `berth self-update`: of a client. */
export async function selfUpdateCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      version: { type: "string" },
      "allow-older": { type: "boolean" },
      "release-url": { type: "string" },
      "release-key": { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    sayNow(selfUpdateUsage);
    return 0;
  }
  const source = await releaseSource({ url: values["release-url"], keyFile: values["release-key"] });
  const file = ownExecutable();
  if (file === places.executable && installedWords() !== undefined) {
    throw new Failure("conflict", `${file} is the executable of the server here: berth server upgrade`);
  }
  requireWritable(file);
  const version = values.version === undefined ? await latestVersion(source.url) : checkVersion(values.version);
  if (versionText().startsWith(`${version} `)) {
    thisMachine.say(`${versionText()} is the wanted release; nothing was changed`);
    return 0;
  }
  if (values["allow-older"] !== true && compareVersions(version, versionText()) < 0) {
    throw new Failure(
      "conflict",
      `${version} at ${source.url} is older than this one, ${versionText()}: to go back, add --allow-older`,
    );
  }
  const fresh = `${file}.download.${process.pid}`;
  try {
    thisMachine.say(`fetching ${version} from ${source.url}`);
    await fetchExecutable(source, version, fresh);
    const found = await versionOfExecutable(thisMachine, fresh);
    await rename(fresh, file);
    thisMachine.say(`${file} is now ${found}; before: ${versionText()}`);
  } finally {
    await rm(fresh, { force: true });
  }
  return 0;
}

/** Said before anything is fetched. */
function requireWritable(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch {
    throw new Failure("forbidden", `cannot write to ${dirname(file)}: run sudo berth self-update`);
  }
}
