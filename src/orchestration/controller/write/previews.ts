import { durationForm, parseDuration } from "../../../base/pure/duration.ts";
import { hostOk } from "../../../base/pure/hosts.ts";
import { isoTime } from "../../../base/pure/iso-time.ts";
import { createBelievedTime } from "../../../base/words/believed-time.ts";
import { Failure, problemsFailure } from "../../../base/wire/failure.ts";
import type { Preview } from "../../api/previews.ts";
import { identityProblems } from "../../core/identity.ts";
import { previewScope } from "../../core/preview-scope.ts";
import type { PreviewRecord } from "../../store/preview-records.ts";
import type { Context } from "../state/context.ts";
import { required } from "../state/target.ts";
import { deleteScope } from "./delete.ts";
import { listLeftovers } from "./leftovers.ts";

/** A branch of an app, as a caller names it. */
interface BranchOf {
  of?: string | undefined;
  branch?: string | undefined;
}

interface PreviewOperations {
  /** Fails `conflict` where the scope holds something else, `too_many` beyond the limit. */
  putPreview(
    target: BranchOf & { host?: string | undefined; for?: string | undefined },
    options: { actor: string },
  ): Promise<Preview>;
  listPreviews(filter: Pick<BranchOf, "of">): { previews: Preview[] };
  /** Fails `not_found` where the branch has none. */
  deletePreview(target: BranchOf, options: { actor: string }): Promise<Preview>;
}

export interface PreviewRoom {
  operations: PreviewOperations;
  /** Deletes each at its end, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Scopes that belong to branches, and end by themselves. */
export function createPreviewRoom(context: Context): PreviewRoom {
  const { store, clock, limits, log } = context;

  async function end(preview: PreviewRecord, actor: string, why: string): Promise<void> {
    await deleteScope(context, preview.scope, { prune: true, actor });
    await store.write((tx) => {
      tx.previews.remove(preview.scope);
      const detail = { of: preview.of, branch: preview.branch, why };
      tx.events.append({ actor, action: "preview.delete", scope: preview.scope, detail }, clock.now());
    });
  }

  const operations: PreviewOperations = {
    putPreview(target, { actor }) {
      const { of, branch, scope } = placeOf(target, limits.previews.branchCharactersMax);
      const lifeMs = lifeOf(target.for);
      const host = target.host || undefined;
      if (host !== undefined && !hostOk(host)) throw new Failure("invalid", `query host: "${host}" is not a host name`);
      return requireNothingLeft(context, scope).then(() =>
        store.write((tx) => {
          const now = clock.now();
          const all = tx.previews.list();
          const known = all.find((one) => one.scope === scope);
          if (known === undefined) requireFree(tx.manifests.list({ scope }).length, scope);
          else if (!isOf(known, { of, branch })) throw taken(known);
          if (known === undefined && all.length >= limits.previews.countMax) {
            throw new Failure(
              "too_many",
              `there are ${all.length} previews already: delete one with berth preview delete`,
            );
          }
          const preview = { scope, of, branch, host, at: known?.at ?? now, until: now + lifeMs };
          tx.previews.put(preview);
          const detail = { of, branch, until: isoTime(preview.until) };
          tx.events.append({ actor, action: "preview", scope, detail }, now);
          return wire(preview);
        }),
      );
    },
    listPreviews({ of }) {
      const found = store.previews.list().filter((one) => of === undefined || of === "" || one.of === of);
      return { previews: found.map(wire) };
    },
    async deletePreview(target, { actor }) {
      const { of, branch, scope } = placeOf(target, limits.previews.branchCharactersMax);
      const preview = store.previews.list().find((one) => one.scope === scope);
      if (preview === undefined || !isOf(preview, { of, branch }))
        throw new Failure("not_found", `${of} has no preview of the branch "${branch}"`);
      await end(preview, actor, "deleted");
      return wire(preview);
    },
  };
  return {
    operations,
    async run(signal) {
      const { clockJumpMs: jumpMs, clockHoldMs: holdMs } = limits.previews;
      const believed = createBelievedTime(clock, { jumpMs, holdMs });
      while (!signal.aborted) {
        const now = believed();
        for (const preview of store.previews.list().filter(({ until }) => until <= now)) {
          await end(preview, "berth", "its time is over").catch((error) =>
            log.error("preview not deleted", { scope: preview.scope, error }),
          );
        }
        await clock.sleep(limits.previews.lookMs, signal);
      }
    },
  };
}

/** `shop-b` of `c` and `shop` of `b-c` would both run in `shop-b-c`. */
function isOf(preview: PreviewRecord, { of, branch }: { of: string; branch: string }): boolean {
  return preview.of === of && preview.branch === branch;
}

function taken({ scope, of, branch }: PreviewRecord): Failure {
  return new Failure(
    "conflict",
    `the scope "${scope}" is the preview of the branch "${branch}" of ${of}: rename the branch`,
  );
}

/** Volumes that a delete has kept would be used by the branch, and go with it. */
async function requireNothingLeft(context: Context, scope: string): Promise<void> {
  if (context.store.previews.list().some((one) => one.scope === scope)) return;
  const { leftovers } = await listLeftovers(context, { scope });
  const left = leftovers.find(({ volumes, folders }) => volumes.length + folders.length > 0);
  if (left === undefined) return;
  throw new Failure(
    "conflict",
    `the scope "${scope}" has volumes or files of "${left.name}", which was deleted without them: rename the branch`,
  );
}

function requireFree(manifests: number, scope: string): void {
  if (manifests === 0) return;
  throw new Failure("conflict", `the scope "${scope}" exists, and is not a preview: rename the branch`);
}

interface Place {
  of: string;
  branch: string;
  scope: string;
}

function placeOf(target: { of?: string | undefined; branch?: string | undefined }, branchMax: number): Place {
  const of = required(target.of, "of");
  const branch = required(target.branch, "branch");
  const problems = identityProblems("deployment", of, "any");
  if (problems.length > 0) throw problemsFailure(problems);
  if (branch.length > branchMax) throw new Failure("invalid", `query branch: longer than ${branchMax} characters`);
  const scope = previewScope(of, branch)?.scope;
  if (scope !== undefined) return { of, branch, scope };
  throw new Failure("invalid", `the name of the scope "${of}" is too long for previews: at most 31 characters`);
}

function lifeOf(text: string | undefined): number {
  const ms = parseDuration(required(text, "for"));
  if (ms === undefined || ms <= 0) {
    throw new Failure("invalid", `query for: "${text}" is not a length of time; ${durationForm}`);
  }
  return ms;
}

function wire({ scope, of, branch, host, at, until }: PreviewRecord): Preview {
  return { scope, of, branch, host, since: isoTime(at), until: isoTime(until) };
}
