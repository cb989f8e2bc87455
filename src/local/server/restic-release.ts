import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import { type Machine, must } from "./machine.ts";
import { download } from "./release.ts";

/** A release of restic, with the sha256 that its archives must have. */
interface ResticRelease {
  url: string;
  version: string;
  /** By the architecture as Node calls it: the name that restic has for it, and the checksum. */
  archives: Partial<Record<string, readonly [name: string, sha256: string]>>;
  /** Where it is put; before the folders of packages on every search path. */
  program: string;
}

/** For machines whose distribution has no restic, or one that is too old. */
export const resticRelease: ResticRelease = {
  url: "https://github.com/restic/restic/releases/download",
  version: "0.17.3",
  archives: {
    x64: ["amd64", "5097faeda6aa13167aae6e36efdba636637f8741fed89bbf015678334632d4d3"],
    arm64: ["arm64", "db27b803534d301cef30577468cf61cb2e242165b8cd6d8cd6efd7001be2e557"],
  },
  program: "/usr/local/bin/restic",
};

/**
 * Fetches a release of restic and puts it in its place, once its checksum is right. Fails `conflict` where it is not, and
 * `unavailable` where the release cannot be had or unpacked.
 */
export async function fetchRestic(machine: Machine, release: ResticRelease): Promise<void> {
  const { url, version, archives, program } = release;
  const [name, wanted] = archives[process.arch] ?? [];
  if (name === undefined) throw new Failure("unavailable", `no restic ${version} is known for ${process.arch}`);
  if (!machine.has("bzip2")) throw new Failure("unavailable", "bzip2 is missing, which unpacks a release of restic");
  const address = `${url}/v${version}/restic_${version}_linux_${name}.bz2`;
  const folder = await mkdtemp(join(tmpdir(), "berth-restic."));
  try {
    machine.say(`fetching restic ${version}: ${address}`);
    const found = await download(address, join(folder, "restic.bz2"));
    if (found !== wanted) {
      const why = `${address} does not match its sha256 (wanted ${wanted}, got ${found}); restic was not installed`;
      throw new Failure("conflict", `${why}. Install restic 0.12 or newer yourself, then run this again`);
    }
    await must(machine, ["bzip2", "-d", join(folder, "restic.bz2")]);
    await must(machine, ["install", "-m", "755", join(folder, "restic"), program]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
