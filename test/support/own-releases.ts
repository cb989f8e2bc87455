import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { executable } from "./executable.ts";
import { type ReleaseKey, releaseKey } from "./release-key.ts";
import { buildLater } from "./other-version.ts";

/** Name of the executable in a release. */
export const releaseFile = `berth-linux-${process.arch}`;

/** An address of releases as `bun run release` makes them: this checkout's version, and a later one that is the latest. */
export interface OwnReleases {
  url: string;
  key: ReleaseKey;
  /** Holds `latest`, `install.sh`, and a folder for each version. */
  folder: string;
  stop(): Promise<void>;
}

/** Below `folder`, which must exist. */
export async function startOwnReleases(folder: string, later: string): Promise<OwnReleases> {
  const key = releaseKey(`${folder}.keys`);
  await publish({ folder, key }, version, executable);
  await publish({ folder, key }, later, await buildLater(join(folder, "source"), later));
  writeFileSync(join(folder, "latest"), `${later}\n`);
  copyFileSync(join(import.meta.dir, "../../install.sh"), join(folder, "install.sh"));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const wanted = Bun.file(join(folder, new URL(request.url).pathname));
      return (await wanted.exists()) ? new Response(wanted) : new Response("none", { status: 404 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, key, folder, stop: () => server.stop(true) };
}

/** Signed, as `bun run release` does it. */
async function publish(
  { folder, key }: Pick<OwnReleases, "folder" | "key">,
  number: string,
  program: string,
): Promise<void> {
  const place = join(folder, number, releaseFile);
  mkdirSync(join(folder, number), { recursive: true });
  copyFileSync(program, place);
  const sum = new Bun.CryptoHasher("sha256").update(await Bun.file(place).bytes()).digest("hex");
  const sums = `# berth ${number}\n${sum}  ${releaseFile}\n`;
  writeFileSync(join(folder, number, "SHA256SUMS"), sums);
  writeFileSync(join(folder, number, "SHA256SUMS.sig"), key.sign(sums));
}
