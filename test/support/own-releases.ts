import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { executable } from "./executable.ts";
import { buildLater } from "./other-version.ts";

/** Name of the executable in a release. */
export const releaseFile = `berth-linux-${process.arch}`;

/** An address of releases as `bun run release` makes them: this checkout's version, and a later one that is the latest. */
export interface OwnReleases {
  url: string;
  /** Holds `latest`, `install.sh`, and a folder for each version. */
  folder: string;
  stop(): Promise<void>;
}

/** Below `folder`, which must exist. */
export async function startOwnReleases(folder: string, later: string): Promise<OwnReleases> {
  await publish(folder, version, executable);
  await publish(folder, later, await buildLater(join(folder, "source"), later));
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
  return { url: `http://127.0.0.1:${server.port}`, folder, stop: () => server.stop(true) };
}

async function publish(folder: string, number: string, program: string): Promise<void> {
  const place = join(folder, number, releaseFile);
  mkdirSync(join(folder, number), { recursive: true });
  copyFileSync(program, place);
  const sum = new Bun.CryptoHasher("sha256").update(await Bun.file(place).bytes()).digest("hex");
  writeFileSync(join(folder, number, "SHA256SUMS"), `${sum}  ${releaseFile}\n`);
}
