import type { ShownBuild } from "../../observability/api/builds.ts";

/** `main 1a2b3c4 faster search`, or the folder by the beginning of its digest. */
export function sourceText({ git, context }: Pick<ShownBuild, "git" | "context">): string {
  if (git === undefined) return `folder ${context.slice(0, 12)}`;
  return [git.ref, git.commit.slice(0, 7), git.subject].filter((part) => part !== undefined && part !== "").join(" ");
}

/** Whether the image of a build is still there, and why. */
export function imageText({ status, kept, releases }: Pick<ShownBuild, "status" | "kept" | "releases">): string {
  if (status !== "succeeded") return "–";
  if (!kept) return releases.length === 0 ? "not deployed" : "removed when space is needed";
  return releases.length === 0 ? "in use" : "kept for rollback";
}

export function isUnderWay({ status }: Pick<ShownBuild, "status">): boolean {
  return status === "queued" || status === "building";
}
