import { isReady } from "./classify.ts";
import type { PlannedPod, PlanWorkload } from "./pod.ts";

/** A replica that has run this long since its last crash has got over it. */
export const calmMs = 60_000;

type Rules = PlanWorkload["rollout"];

/** Crashes in a row that are many enough, over a time that is long enough, to expect no end of them. */
export function isCrashLoop({ crashes }: PlannedPod, { crashRestarts, crashAfterMs }: Rules, now: number): boolean {
  return crashes.count >= crashRestarts && now - crashes.since >= crashAfterMs;
}

/** Ready, and for long enough that the last crash is over. */
export function isOver(pod: PlannedPod, now: number): boolean {
  return isReady(pod) && pod.runningSince !== undefined && now - pod.runningSince >= calmMs;
}

/** When time alone makes a crash loop of it, or ends one; 0 when it never does. */
export function crashDueAt(pod: PlannedPod, { crashRestarts, crashAfterMs }: Rules): number {
  const isUnwell = pod.oomKilled || pod.crashes.count >= crashRestarts;
  if (isReady(pod)) return isUnwell && pod.runningSince !== undefined ? pod.runningSince + calmMs : 0;
  return pod.crashes.count >= crashRestarts ? pod.crashes.since + crashAfterMs : 0;
}

type Crashes = Pick<PlannedPod, "crashes" | "exitCode" | "killedFor">;

/** What keeps a replica that was started from being ready, as far as it shows. */
export function hindranceOf(pod: Crashes & Pick<PlannedPod, "probe" | "port">): string | undefined {
  const found = [crashText(pod), pod.probe, pod.port].filter((text) => text !== undefined);
  return found.length === 0 ? undefined : found.join(", ");
}

/** `restarted 4 times, last exit code 3`; undefined where it never crashed. */
export function crashText({ crashes, exitCode, killedFor }: Crashes): string | undefined {
  if (crashes.count === 0) return undefined;
  const times = crashes.count === 1 ? "once" : `${crashes.count} times`;
  return `restarted ${times}, ${killedFor ?? (exitCode === undefined ? "exit code unknown" : `last exit code ${exitCode}`)}`;
}
