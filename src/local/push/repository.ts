import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { socketGroup } from "../../client/basics/socket-group.ts";
import { layoutOf } from "../../base/disk/layout.ts";
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
    makeForGroup(dirname(path));
    const init = ["init", "--quiet", "--bare", "--shared=group", "--initial-branch=main", "--template=", path];
    await runGit(init, { env: gitEnvironment(path) });
  }
  for (const left of readdirSync(path)) {
    if (left.startsWith(workPrefix)) removeOld(join(path, left));
  }
  return path;
}

function requireWritable(folder: string): void {
  try {
    readdirSync(folder);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") throw new Failure("not_found", missingText(folder));
    throw new Failure(
      "conflict",
      `no permission for ${folder}: the user of the push must be root or a member of the server's group\n  on the server:  sudo usermod -aG ${socketGroup(folder) ?? "berth"} $USER`,
    );
  }
}

/** A server that has run has a database. */
function missingText(folder: string): string {
  const root = dirname(folder);
  if (existsSync(layoutOf(root).database)) return `${folder} does not exist: start the server of this version`;
  return `${root} is not the folder of a berth server: give --root DIR or BERTH_ROOT as for berth serve; berth git-remote writes it for a remote that was stored with --socket`;
}

/** Folders of one push: its hook, and its files while they are deployed. */
export const workPrefix = "berth-work.";

const oldMs = 24 * 3_600_000;

/** What a killed push left; that of another user stays until they push. */
function removeOld(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > oldMs) rmSync(path, { recursive: true, force: true });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!["EACCES", "EPERM", "ENOENT"].includes(code)) throw error;
  }
}

/** Others of the group make repositories in it too, whatever our umask is. */
function makeForGroup(folder: string): void {
  if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(folder, 0o2770);
}
