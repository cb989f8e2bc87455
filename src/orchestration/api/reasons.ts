import { type Static, Type } from "@sinclair/typebox";
import { type FailureReason, failureReasons } from "../../base/wire/failure.ts";

/** Why a release failed, beside the reasons of failures. */
const releaseOnly = [
  "CrashLoop",
  "OutOfMemory",
  "ProgressDeadline",
  "ProbeFailing",
  "CommandFailed",
  "Superseded",
] as const;

export type ReleaseReason = (typeof releaseOnly)[number] | FailureReason;

const releaseWords = [...releaseOnly, ...failureReasons];

export const ReleaseReasons = Type.Array(Type.Unsafe<ReleaseReason>({ type: "string", enum: releaseWords }), {
  description: "why it failed, as stable words, the most general first",
});

export const RunReason = Type.Unsafe<"OutOfMemory" | FailureReason>({
  type: "string",
  enum: ["OutOfMemory", ...failureReasons],
  description: "why it failed, as a stable word; left out where the exit code is the reason",
});
export type RunReason = Static<typeof RunReason>;
