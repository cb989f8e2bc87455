import { Type } from "@sinclair/typebox";
import { type FailureReason, failureReasons } from "../../base/wire/failure.ts";

/** Why a release failed, beside the reasons of failures. */
const releaseOnly = [
  "CrashLoop",
  "OutOfMemory",
  "ProgressDeadline",
  "ProbeFailing",
  "PortClosed",
  "GuardTripped",
  "CommandFailed",
  "Superseded",
  "Aborted",
] as const;

export type ReleaseReason = (typeof releaseOnly)[number] | FailureReason;

// Strings to the type checker: a newer server may send a word that an older client does not know.
export const ReleaseReasons = Type.Array(Type.String({ enum: [...releaseOnly, ...failureReasons] }), {
  description: "why it failed, as stable words, the most general first",
});

export type RunReason = "OutOfMemory" | FailureReason;

export const RunReason = Type.String({
  enum: ["OutOfMemory", ...failureReasons],
  description: "why it failed, as a stable word; left out where the exit code is the reason",
});
