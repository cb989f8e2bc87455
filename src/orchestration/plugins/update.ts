import { Failure } from "../../base/wire/failure.ts";
import { together } from "../core/plugins/conflicts.ts";
import type { Wish } from "./checks.ts";
import type { UpdateRequest } from "./plugin.ts";
import { known, type Work } from "./work.ts";

/** An update as an install from where the plugin came from. Fails `conflict` where that is not known or not ours. */
export async function updateWish(work: Work, name: string, request: UpdateRequest): Promise<Wish> {
  const { origin, lock, yml, folder, permissions } = await known(work, name);
  const source = lock?.source ?? "";
  if (origin === "bundled") throw new Failure("conflict", `"${yml.name}" is part of the server and updated with it`);
  if (origin === "linked") throw new Failure("conflict", `"${yml.name}" is linked to ${folder}: change it there`);
  if (source === "")
    throw new Failure("conflict", `"${yml.name}" was put there by hand, so its source is unknown; install it`);
  const { version, expect, grant, forBlocks } = request;
  return {
    source,
    replace: true,
    granted: grant === undefined ? permissions : together(permissions, grant),
    ...(version === undefined ? {} : { version }),
    ...(expect === undefined ? {} : { expect }),
    ...(forBlocks === undefined ? {} : { forBlocks }),
  };
}
