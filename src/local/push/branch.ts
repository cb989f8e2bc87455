import { parseArgs } from "node:util";
import { layoutOf } from "../../base/disk/layout.ts";
import { Failure } from "../../base/wire/failure.ts";
import { serveOptions } from "../../config/config.ts";
import { report, wantsJson } from "../report.ts";
import { gitEnvironment, gitText, runGit } from "./git.ts";
import { openRepository, pushTarget, targetText } from "./repository.ts";
import { sayNow } from "../../client/basics/output.ts";

/** The branches that deploy until one has. */
const usualBranches = ["main", "master"];

const gitBranchUsage = `berth git-branch shop production

usage: berth git-branch SCOPE[/NAME] [BRANCH] [--root DIR] [-o json]

Shows or sets the branch that deploys when it is pushed. Until one is set or pushed it is main or
master. Run it on the server: ssh USER@HOST berth git-branch shop production

  --root DIR   folder of all state (BERTH_ROOT, /opt/berth)`;

/** `berth git-branch`: the branch is the one that HEAD of the repository names. */
export async function gitBranchCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: {
      root: { type: "string" },
      output: { type: "string", short: "o" },
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
  });
  const [path, branch, ...more] = positionals;
  if (values.help || path === undefined || more.length > 0) {
    sayNow(gitBranchUsage);
    return values.help ? 0 : 2;
  }
  const json = wantsJson(values.output);
  const { root } = serveOptions(values.root === undefined ? {} : { root: values.root });
  const target = pushTarget(path);
  const repository = await openRepository(layoutOf(root).repositories, target);
  const env = gitEnvironment(repository);
  if (branch !== undefined) await setBranch(branch, env);
  const deploys = await deployBranch(env);
  const text = deploys ?? usualBranches.join(" or ");
  report({ json, data: { repository: targetText(target), branch: deploys ?? null } }, [
    `a push of ${text} to ${targetText(target)} is deployed`,
  ]);
  return 0;
}

async function setBranch(branch: string, env: Record<string, string>): Promise<void> {
  const known = await runGit(["check-ref-format", "--branch", branch], { env }).then(
    () => !branch.startsWith("@"),
    () => false,
  );
  if (!known) throw new Failure("invalid", `"${branch}" cannot be the name of a branch`);
  await runGit(["symbolic-ref", "HEAD", `refs/heads/${branch}`], { env });
}

/** The branch that deploys; undefined where it is the first of the usual ones that is pushed. */
export async function deployBranch(env: Record<string, string>): Promise<string | undefined> {
  const head = (await gitText(["symbolic-ref", "HEAD"], env)).trim();
  const exists = (await gitText(["for-each-ref", "--format=%(refname)", head], env)).split("\n").includes(head);
  const branch = head.replace(/^refs\/heads\//, "");
  return exists || !usualBranches.includes(branch) ? branch : undefined;
}

/** After the first push: HEAD names the one of the usual branches that was pushed. */
export async function settleBranch(env: Record<string, string>): Promise<void> {
  if ((await deployBranch(env)) !== undefined) return;
  const refs = (await gitText(["for-each-ref", "--format=%(refname:short)", "refs/heads"], env)).split("\n");
  const first = usualBranches.find((branch) => refs.includes(branch));
  if (first !== undefined) await runGit(["symbolic-ref", "HEAD", `refs/heads/${first}`], { env });
}
