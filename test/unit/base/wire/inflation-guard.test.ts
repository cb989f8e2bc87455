import { afterAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { readSourceArchive } from "../../../../src/base/disk/source-archive.ts";
import { contextLimits } from "../../../../src/config/context-limits.ts";
import { unpack } from "../../../../src/local/source/unpack.ts";
import { untar } from "../../../../src/orchestration/plugins/untar.ts";
import { failureText } from "../../../support/failure.ts";
import { folder } from "../../../support/files.ts";
import { zip } from "../../../support/zip.ts";

const mib = 1024 * 1024;
/** The share is that of the server; the floor is lower, so that the bombs are small. */
const limits = {
  filesMax: 100,
  bytesMax: 1024 * mib,
  guessModes: false,
  inflation: { ...contextLimits.inflation, freeBytes: mib },
};

type Files = Record<string, string>;

async function tarGz(files: Files): Promise<Buffer> {
  const tar = pack();
  for (const [name, text] of Object.entries(files)) tar.entry({ name, mode: 0o644 }, text);
  tar.finalize();
  return gzipSync(Buffer.concat((await Array.fromAsync(tar as AsyncIterable<Uint8Array>)) as Uint8Array[]));
}

const place = folder({});
afterAll(() => place[Symbol.dispose]());

async function unpackFile(bytes: Uint8Array): Promise<unknown> {
  const within = join(place.path, crypto.randomUUID());
  mkdirSync(within);
  writeFileSync(join(within, "upload"), bytes);
  return unpack(join(within, "upload"), join(within, "tree"), limits);
}

/** Every door through which compressed bytes of somebody else come in; that of telemetry has a test of its own. */
const doors: Record<string, (files: Files) => Promise<unknown>> = {
  "a folder that is uploaded for a build": async (files) => {
    const bytes = await tarGz(files);
    return readSourceArchive({ bytes: Readable.from([bytes]), size: bytes.length }, limits);
  },
  "source as a gzipped tar": async (files) => unpackFile(await tarGz(files)),
  "source as a zip": (files) => unpackFile(zip(Object.entries(files).map(([name, text]) => ({ name, text })))),
  "the package of a plugin": async (files) => {
    const within = join(place.path, crypto.randomUUID());
    mkdirSync(within);
    return untar(new Blob([new Uint8Array(await tarGz(files))]).stream(), within, limits);
  },
};

const zeros = "\0".repeat(8 * mib);
const lines = Array.from(
  { length: 60_000 },
  (_, at) => `2026-01-31 10.0.0.7 GET /items/${at} HTTP/1.1 200 level=info\n`,
);
const refusal = `too_large: the archive unpacks to more than ${limits.inflation.ratioMax} times its size`;

test.each(Object.entries(doors))("%s: a bomb is refused, and a log that packs well is taken", async (_, open) => {
  expect(await failureText(open({ "repo/zeros": zeros }))).toStartWith(refusal);
  await open({ "repo/app.log": lines.join("") });
  await open({ "repo/empty.img": zeros.slice(0, mib / 2) });
});

test("what an archive holds is counted where it is passed over, too", async () => {
  expect(await failureText(unpackFile(await tarGz({ ".git/zeros": zeros })))).toStartWith(refusal);
});

test("members of a zip that share their bytes count each", async () => {
  const text = lines.join("");
  const members = Array.from({ length: 40 }, (_, at) => ({ name: `log-${at}`, text, same: at > 0 }));
  expect(await failureText(unpackFile(zip(members)))).toStartWith(refusal);
});
