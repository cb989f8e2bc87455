import { createOutside, type Fetch } from "../../src/base/wire/outgoing.ts";
import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import { type CommandHandler, type Outcome, PluginError, usage } from "../kit.ts";
import { noMoreThan, parseArguments, referenceText } from "./arguments.ts";
import { bytesText } from "./bytes.ts";
import { type Cluster, primaryPod, tool, tryTool } from "./cluster.ts";
import { copyMs, loadServer, type ServerKind } from "./server.ts";

/** Bytes of a file that go to the pod in one call. */
const partBytes = 4 * 1024 * 1024;

/** Limit of one call. */
const partMs = 5 * 60_000;

export interface Importing {
  kind: ServerKind;
  /** What such a file begins with. Nothing is sent on before that has been seen: it may be any file of the machine. */
  magic: string;
  /** What such a file is, for texts. */
  what: string;
  /** Flags that take a value, and the words that they become for the tool `import_backup`. */
  flags: readonly string[];
  wordsOf: (values: Readonly<Record<string, string>>, cluster: Cluster) => string[];
}

/** `backups:import SCOPE/NAME FILE|URL`: makes a backup of a dump from elsewhere, which is restored once to see that it can be. */
export function importCommand({ kind, magic, what, flags, wordsOf }: Importing): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: flags });
    noMoreThan(args.words, 2);
    const [, source] = args.words;
    if (source === undefined) throw usage("say what to import: a file on the server's machine, or a URL");
    const cluster = await loadServer(call, kind, args.words[0]);
    const pod = primaryPod(cluster);
    const name = crypto.randomUUID().replaceAll("-", "");
    try {
      const bytes = await send(cluster, { pod, name, source, magic, what, outside: createOutside(call.env) });
      call.progress(`${bytesText(bytes)} are in the pod; restoring them once to see that it can be done`);
      const words = ["import_backup", name, ...wordsOf(args.values, cluster)];
      const id = await tool(cluster, { pod, args: words, timeoutMs: copyMs, loud: true });
      return {
        message: `backup ${id} of ${referenceText(cluster.of)} is ${source}; restore it with: restore ${referenceText(cluster.of)} ${id}`,
      };
    } finally {
      await tryTool(cluster, { pod, args: ["drop_import", name] }).catch(() => undefined);
    }
  };
}

interface Sending {
  pod: PodRecord;
  name: string;
  source: string;
  magic: string;
  what: string;
  /** By which a URL is asked. */
  outside: Fetch;
}

async function send(cluster: Cluster, { pod, name, source, magic, what, outside }: Sending): Promise<number> {
  let total = 0;
  let part: Uint8Array[] = [];
  let size = 0;
  const flush = async () => {
    const stdin = Buffer.concat(part);
    if (total === 0 && stdin.toString("latin1", 0, magic.length) !== magic) {
      throw new PluginError(`${source} is not ${what}`);
    }
    await tool(cluster, { pod, args: ["import_part", name], stdin, timeoutMs: partMs });
    total += size;
    part = [];
    size = 0;
  };
  for await (const chunk of await open(source, outside)) {
    part.push(chunk);
    size += chunk.byteLength;
    if (size >= partBytes) await flush();
  }
  if (size > 0 || total === 0) await flush();
  return total;
}

async function open(source: string, outside: Fetch): Promise<AsyncIterable<Uint8Array>> {
  if (/^https?:\/\//.test(source)) {
    const response = await outside(source, { redirect: "follow" }).catch((error: unknown) => {
      throw new PluginError(`${source} cannot be fetched: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (!response.ok || response.body === null) throw new PluginError(`${source} answers with ${response.status}`);
    return response.body;
  }
  if (!source.startsWith("/")) throw usage(`"${source}" is neither a URL nor an absolute path on the server's machine`);
  const file = Bun.file(source);
  const reason = await file
    .slice(0, 1)
    .bytes()
    .then(() => undefined)
    .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  if (reason !== undefined) throw new PluginError(`${source} cannot be read on the server's machine: ${reason}`);
  return file.stream();
}
