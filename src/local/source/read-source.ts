import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Failure, type FailureCode, type FailureReason } from "../../base/wire/failure.ts";
import { sourceLimits } from "../../config/source-limits.ts";
import type { Source } from "../../orchestration/api/sources.ts";
import { writeTree } from "../push/tree.ts";
import { fetchCommit } from "./fetch-commit.ts";
import type { SourceJob } from "./job.ts";
import { planSource } from "./plan-source.ts";
import { unpack } from "./unpack.ts";
import { complainNow, sayNow } from "../../client/basics/output.ts";

const readSourceUsage = `berth read-source < JOB

usage: berth read-source

The server runs this for each upload and each git repository, in a process of its own. It takes a job as JSON on
stdin. To deploy a repository, use: berth up --git URL`;

/** What the process says on stdout. */
export type SourceAnswer =
  { source: Source } | { failure: { code: FailureCode; message: string; reason?: FailureReason } };

/**
 * `berth read-source`: fetches or unpacks the source of an app, and packs what is built from. The server runs it as a
 * process of its own, so that hostile source costs that process alone. The job comes on stdin, as JSON.
 */
export async function readSourceCommand(args: readonly string[]): Promise<number> {
  const text = args.length > 0 || process.stdin.isTTY === true ? "" : await Bun.stdin.text();
  if (text === "") {
    complainNow(readSourceUsage);
    return args.includes("--help") || args.includes("-h") ? 0 : 2;
  }
  const answer = await answerTo(JSON.parse(text) as SourceJob);
  sayNow(JSON.stringify(answer));
  return 0;
}

/** What the source is, or why it cannot be read. Faults name paths of the source, not those of the server. */
export async function answerTo(job: SourceJob): Promise<SourceAnswer> {
  return readSource(job).then(
    (source) => ({ source }),
    (error: unknown) => ({ failure: failureOf(within(job.work, error)) }),
  );
}

function failureOf(error: unknown): { code: FailureCode; message: string; reason?: FailureReason } {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Failure)) return { code: "invalid", message };
  return { code: error.code, message, reason: error.reason };
}

/** The error, with paths as they are from the folder. */
function within(folder: string, error: unknown): unknown {
  if (error instanceof Error) {
    error.message = error.message.replaceAll(`${folder}/`, "").replaceAll(folder, "the source");
  }
  return error;
}

/** What the source in a folder makes. */
function planned(root: string, { scope, name, host, work }: SourceJob) {
  return planSource(root, { scope, name, host }, work).catch((error: unknown) => Promise.reject(within(root, error)));
}

function say(line: string): void {
  complainNow(line);
}

async function readSource(job: SourceJob): Promise<Source> {
  const { work } = job;
  const tree = join(work, "tree");
  if (job.type === "archive") {
    say("unpacking");
    const secrets = await unpack(job.file, tree, { ...sourceLimits, guessModes: job.isFolder });
    const wrapper = job.isFolder ? "" : wrapperOf(tree);
    const root = join(tree, wrapper);
    const own = secrets.map((path) => (path.startsWith(`${wrapper}/`) ? path.slice(wrapper.length + 1) : path));
    say("looking at the source");
    const plan = await planned(root, job);
    return { ...plan, left_out: [...new Set([...own, ...plan.left_out])].sort(), warnings: [] };
  }
  say(`fetching ${job.ref ?? "HEAD"} of ${job.url}`);
  const { git, env } = await fetchCommit(job);
  say(`commit ${git.commit.slice(0, 12)}: ${git.subject}`);
  const { submodules, usesLfs } = await writeTree(
    git.commit,
    { folder: tree, index: join(work, "index"), env },
    sourceLimits,
  );
  const plan = await planned(folderIn(tree, job.folder), job);
  const warnings = [
    ...(submodules.length === 0 ? [] : ["submodules are not fetched: their folders are empty"]),
    ...(usesLfs ? ["files of Git LFS are not fetched: there are only their pointers"] : []),
  ];
  return { ...plan, git, warnings };
}

/** An archive often holds one folder with everything in it. */
function wrapperOf(tree: string): string {
  const items = readdirSync(tree, { withFileTypes: true });
  const [only] = items;
  return items.length === 1 && only?.isDirectory() === true ? only.name : "";
}

function folderIn(tree: string, folder: string | undefined): string {
  if (folder === undefined || folder === "") return tree;
  const path = join(tree, folder);
  // No link leads out of the tree: `writeTree` has looked.
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new Failure("invalid", `folder: the repository has no folder ${JSON.stringify(folder)}`);
}
