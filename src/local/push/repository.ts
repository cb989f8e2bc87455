import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import { identityProblems } from "../../orchestration/core/identity.ts";
import { gitEnvironment, runGit } from "./git.ts";

/** What a repository deploys: all of a scope, or one app of it. */
export interface PushTarget {
  scope: string;
  name: string | undefined;
}

/**
 * The target that a git URL names: `shop`, `shop/web`, with or without a slash before it and `.git` behind it. Fails
 * `invalid`.
 */
export function pushTarget(path: string): PushTarget {
  const [scope = "", name, ...more] = path
    .replace(/^\/?(?:~\/)?/, "")
    .replace(/\/?(?:\.git)?\/?$/, "")
    .split("/");
  const [problem] =
    more.length > 0 ? [{ message: "has too many parts" }] : identityProblems("app", scope, name ?? "web");
  if (problem === undefined) return { scope, name };
  throw new Failure("invalid", `"${path}" is not a repository: write USER@HOST:SCOPE or USER@HOST:SCOPE/NAME`);
}

/** `shop` or `shop/web`. */
export function targetText({ scope, name }: PushTarget): string {
  return name === undefined ? scope : `${scope}/${name}`;
}

/** The bare repository of a target, made where it is missing. Fails `forbidden` where the user may not write there. */
export async function openRepository(folder: string, target: PushTarget): Promise<string> {
  const path = join(folder, `${targetText(target)}.git`);
  requireWritable(folder);
  if (!existsSync(join(path, "HEAD"))) {
    mkdirSync(dirname(path), { recursive: true });
    const init = ["init", "--quiet", "--bare", "--shared=group", "--initial-branch=main", "--template=", path];
    await runGit(init, { env: gitEnvironment(path) });
  }
  for (const left of readdirSync(path)) {
    if (isWorkFolder(left) && isOld(join(path, left))) rmSync(join(path, left), { recursive: true, force: true });
  }
  return path;
}

function requireWritable(folder: string): void {
  try {
    readdirSync(folder);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") throw new Failure("not_found", `${folder} does not exist: start the server of this version`);
    throw new Failure(
      "conflict",
      `no permission for ${folder}: the user of the push must be root or a member of the group berth`,
    );
  }
}

/** Where the pushed files are while they are deployed. */
export const workPrefix = "berth-work.";

function isWorkFolder(name: string): boolean {
  return name.startsWith(workPrefix);
}

const oldMs = 24 * 3_600_000;

function isOld(path: string): boolean {
  return Date.now() - statSync(path).mtimeMs > oldMs;
}
