import type { Why } from "../../../orchestration/api/why.ts";
import { exitMeaning } from "../../../base/pure/exit-code.ts";
import type { Cause } from "../../api/incidents.ts";
import { changeText, isChange } from "../alerts/brief.ts";

/** A change this long before a trouble may be its cause. */
const suspectMs = 15 * 60_000;
const causesMax = 5;

/**
 * What may have begun the trouble at a time, the likeliest first: the change whose release failed, other deploys and
 * config, the newest first, then whatever else was done, then how it died.
 */
export function causesOf(why: Why, at: number): Cause[] {
  const changes = why.events
    .filter((event) => isChange(event) && isNear(Date.parse(event.at), at))
    .toReversed()
    .map((event): Cause => {
      const ref = releaseOf(why, event.at);
      return {
        kind: kindOf(event.action),
        text: changeText(event),
        at: event.at,
        ref,
      };
    });
  const likeliest = changes.toSorted((one, other) => rankOf(one) - rankOf(other));
  return [...likeliest, ...deathCause(why, at)].slice(0, causesMax);
}

function rankOf({ ref, kind }: Cause): number {
  if (kind === "change") return 2;
  return ref === undefined ? 1 : 0;
}

function isNear(changedAt: number, at: number): boolean {
  return changedAt <= at && changedAt >= at - suspectMs;
}

function kindOf(action: string): string {
  if (/^(?:manifest|block|release|build|image)\b|^(?:preview)/.test(action)) return "deploy";
  return action.startsWith("config.") ? "config" : "change";
}

/** The failed release that a change began. */
function releaseOf({ failed_release: release }: Why, changedAt: string): string | undefined {
  if (release === undefined) return undefined;
  const distanceMs = Math.abs(Date.parse(release.started_at) - Date.parse(changedAt));
  return distanceMs <= 60_000 ? release.id : undefined;
}

function deathCause({ death }: Why, at: number): Cause[] {
  if (death === undefined || Math.abs(Date.parse(death.at) - at) > suspectMs) return [];
  return [{ kind: "death", text: deathText(death), at: death.at }];
}

export function deathText({
  replica_id: id,
  exit_code: code,
  signal,
  oom_killed,
  reason,
}: NonNullable<Why["death"]>): string {
  if (oom_killed) return `replica ${id} ran out of memory`;
  // A reason of ours tells the exit code itself.
  if (code === undefined || reason.includes(`exit code ${code}`)) return `replica ${id} died: ${reason}`;
  const meaning = signal ?? exitMeaning(code);
  return `replica ${id} died: ${reason}, exit code ${code}${meaning === undefined ? "" : ` (${meaning})`}`;
}
