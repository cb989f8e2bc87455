import { accessSync, constants } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { releaseUrlOf } from "../config/release-url.ts";
import { compareVersions } from "../base/pure/versions.ts";
import { Failure } from "../base/wire/failure.ts";
import { versionText } from "../version.ts";
import { ownExecutable, versionOfExecutable } from "./server/executable.ts";
import { places, thisMachine } from "./server/machine.ts";
import { checkVersion, fetchExecutable, latestVersion } from "./server/release.ts";
import { installedWords } from "./server/systemd.ts";

export const selfUpdateUsage = `berth self-update

usage: berth self-update [--version VERSION] [--release-url URL]

Replaces this executable by the latest release, once its checksum is right. On a server, use berth
server upgrade.

  --version VERSION  that release and not the latest; also an older one
  --release-url URL  where the releases are (BERTH_RELEASE_URL)`;

/** `berth self-update`: of a client. */
export async function selfUpdateCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { version: { type: "string" }, "release-url": { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help === true) {
    process.stdout.write(`${selfUpdateUsage}\n`);
    return 0;
  }
  const url = releaseUrlOf(values["release-url"]);
  const file = ownExecutable();
  if (file === places.executable && installedWords() !== undefined) {
    throw new Failure("conflict", `${file} is the executable of the server here: berth server upgrade`);
  }
  requireWritable(file);
  const version = values.version === undefined ? await latestVersion(url) : checkVersion(values.version);
  if (versionText().startsWith(`${version} `)) {
    thisMachine.say(`${versionText()} is the wanted release; nothing was changed`);
    return 0;
  }
  if (values.version === undefined && compareVersions(version, versionText()) < 0) {
    throw new Failure(
      "conflict",
      `the latest release at ${url} is ${version}, and this is ${versionText()}: to go back, add --version ${version}`,
    );
  }
  const fresh = `${file}.download.${process.pid}`;
  try {
    thisMachine.say(`fetching ${version} from ${url}`);
    await fetchExecutable(url, version, fresh);
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
