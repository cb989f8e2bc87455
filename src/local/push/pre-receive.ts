import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import { pushLimits } from "../../config/push-limits.ts";
import { deployBranch } from "./branch.ts";
import { gitEnvironment, gitText, quietEnvironment } from "./git.ts";
import { relay, writeAll } from "./relay.ts";
import { type PushTarget, targetText, workPrefix } from "./repository.ts";
import { type PushedTree, writeTree } from "./tree.ts";

/** One line that git gives the hook: where a branch or a tag stood, and where it shall stand. */
interface RefUpdate {
  ref: string;
  /** All zeros: it did not exist. */
  before: string;
  /** All zeros: it is deleted. */
  after: string;
}

interface Branch {
  branch: string;
  commit: string;
}

/** What a push means. `stored` are the other branches, `deleted` those that go. */
type Decision =
  { type: "refuse"; why: string } | { type: "accept"; deploy: Branch | undefined; stored: Branch[]; deleted: string[] };

const usual = ["main", "master"];

/** The lines of a pre-receive hook; undefined if one is not such a line. */
export function readUpdates(text: string): RefUpdate[] | undefined {
  const updates: RefUpdate[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, before, after, ref] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (refs\/\S+)$/.exec(line) ?? [];
    if (before === undefined || after === undefined || ref === undefined) return undefined;
    updates.push({ ref, before, after });
  }
  return updates;
}

/** `head` is the branch that deploys, where one has deployed already. */
export function decide(updates: readonly RefUpdate[], head: string | undefined): Decision {
  const deploying = head === undefined ? usual : [head];
  const odd = updates.find(({ ref }) => !/^refs\/(?:heads|tags)\//.test(ref));
  if (odd !== undefined) return { type: "refuse", why: `${odd.ref} is neither a branch nor a tag` };
  const branches = updates.flatMap(({ ref, after }) => {
    return ref.startsWith("refs/heads/") ? [{ branch: ref.slice("refs/heads/".length), commit: after }] : [];
  });
  // It would be read as a flag wherever a branch is given by its name.
  const flag = branches.find(({ branch }) => branch.startsWith("-"));
  if (flag !== undefined) return { type: "refuse", why: `${flag.branch} begins with a dash: rename the branch` };
  const main = branches.filter(({ branch }) => deploying.includes(branch));
  const [first, second] = main;
  if (first !== undefined && second !== undefined) {
    return { type: "refuse", why: `${first.branch} and ${second.branch} would both be deployed: push one of them` };
  }
  if (first !== undefined && isNothing(first.commit)) {
    return { type: "refuse", why: `${first.branch} is what runs: berth delete ends the app, and the branch stays` };
  }
  const others = branches.filter(({ branch }) => branch !== first?.branch);
  return {
    type: "accept",
    deploy: first,
    stored: others.filter(({ commit }) => !isNothing(commit)),
    deleted: others.filter(({ commit }) => isNothing(commit)).map(({ branch }) => branch),
  };
}

function isNothing(commit: string): boolean {
  return /^0+$/.test(commit);
}

interface Hook {
  target: PushTarget;
  root: string;
  /** Socket of the server. */
  socket: string;
  /** Program and first words of this program. */
  self: string[];
}

/** The hook that git runs when all objects of a push are there, and before a branch moves. Not 0: the push is refused. */
export async function preReceive(hook: Hook): Promise<number> {
  try {
    await receive(hook);
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    say(`error: ${error.message}`);
    say("the push is refused, and the branch stays where it was");
    return 1;
  }
}

function say(line: string): void {
  writeAll(2, Buffer.from(`${line.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, "\u{fffd}")}\n`));
}

async function receive(hook: Hook): Promise<void> {
  const repository = process.cwd();
  const env = gitEnvironment(repository);
  const updates = await readStdin();
  const decision = decide(updates, await deployBranch(env));
  if (decision.type === "refuse") throw new Failure("invalid", decision.why);
  const { deploy, stored, deleted } = decision;
  // A branch that comes alone may be a preview; what comes along is kept for later.
  const preview = deploy === undefined && stored.length === 1 ? stored[0] : undefined;
  for (const { branch } of stored) if (branch !== preview?.branch) say(`${branch} is stored, and not deployed`);
  const chosen = deploy ?? preview;
  if (chosen !== undefined) {
    await requireUnmoved(updates, `refs/heads/${chosen.branch}`, env);
    await deployTree(hook, { ...chosen, isPreview: preview !== undefined }, { repository, env });
  }
  // Last: a push that is refused takes no volumes with it.
  for (const branch of deleted) await endPreview(hook, branch);
}

interface Chosen {
  branch: string;
  commit: string;
  isPreview: boolean;
}

async function deployTree(
  hook: Hook,
  { branch, commit, isPreview }: Chosen,
  { repository, env }: { repository: string; env: Record<string, string> },
): Promise<void> {
  const name = `${branch} ${commit.slice(0, 12)}`;
  const work = mkdtempSync(join(repository, workPrefix));
  try {
    const folder = join(work, "tree");
    const tree = await writeTree(commit, { folder, index: join(work, "index"), env }, pushLimits);
    for (const line of notes(tree)) say(`warning: ${line}`);
    if (!isPreview) say(`deploying ${name} to ${targetText(hook.target)}`);
    const subject = await gitText(["log", "-1", "--format=%s", commit], env);
    const message = oneLine(`git push ${name}: ${subject.trim()}`);
    const words = ["up", "--pushed", targetText(hook.target), "-m", message];
    await runBerth(hook, isPreview ? [...words, "--preview", branch] : words, folder);
    say(isPreview ? `stored ${name}` : `deployed ${name}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function oneLine(text: string): string {
  return [...text.replace(/[\x00-\x1f\x7f]/g, " ")].slice(0, messageCharactersMax).join("");
}

async function endPreview(hook: Hook, branch: string): Promise<void> {
  await runBerth(hook, ["preview", "delete", hook.target.scope, branch, "-y", "--if-exists"], process.cwd());
}

async function readStdin(): Promise<RefUpdate[]> {
  const updates = readUpdates(await Bun.stdin.text());
  if (updates === undefined) throw new Failure("invalid", "git gave a line that is not an update");
  if (updates.length <= pushLimits.refsMax) return updates;
  throw new Failure("invalid", `more than ${pushLimits.refsMax} branches and tags in one push: push them in parts`);
}

/** Somebody else was faster between git's greeting and now. */
async function requireUnmoved(updates: RefUpdate[], ref: string, env: Record<string, string>): Promise<void> {
  const now = (await gitText(["for-each-ref", "--format=%(objectname)", ref], env)).trim();
  const before = updates.find((update) => update.ref === ref)?.before ?? "";
  if (now === (/^0+$/.test(before) ? "" : before)) return;
  throw new Failure("conflict", "somebody else has pushed meanwhile: fetch, and push again");
}

function notes({ submodules, usesLfs }: PushedTree): string[] {
  const shown = submodules.slice(0, 5).join(", ");
  const more = submodules.length > 5 ? ` and ${submodules.length - 5} more` : "";
  return [
    ...(submodules.length === 0 ? [] : [`submodules are not part of a push, their folders are empty: ${shown}${more}`]),
    ...(usesLfs ? ["files of Git LFS are not part of a push: there are only their pointers"] : []),
  ];
}

/** A command of this program, as anybody would type it. It ends when the push is gone. Fails `conflict`. */
async function runBerth({ socket, self }: Hook, words: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...self, ...words, "--endpoint", `unix:${socket}`], {
    cwd,
    env: { ...quietEnvironment(), NO_COLOR: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const streams = [child.stdout, child.stderr];
  await relay({ streams, silenceMs: pushLimits.silenceMs, gone: () => child.kill("SIGINT") });
  const code = await child.exited;
  if (code !== 0) throw new Failure("conflict", refusals[code] ?? "it was not deployed; the reason is above");
}

const messageCharactersMax = 300;

/** By the exit code of `berth up`. */
const refusals: Record<number, string> = {
  3: "it was not ready in time, and may still become so: look with berth status, then push again",
  4: "the server did not answer; does it run?",
};
