import type { Clock } from "../../../base/words/clock.ts";
import { keyOf, keyText } from "../../../orchestration/api/manifest-key.ts";
import type { ManifestKey } from "../../../orchestration/api/manifest.ts";
import type { AppProblem } from "../../api/app-model.ts";

/** Remembers of which apps something was not kept, and why. */
export interface TelemetryNotes {
  /** True where this reason is not told yet for the app, or a while ago. */
  add(app: ManifestKey, reason: string): boolean;
  /** What people should know: one problem for each app, as long as it lasts. */
  problems(): AppProblem[];
}

interface Note {
  app: ManifestKey;
  reason: string;
  since: number;
  lastAt: number;
  toldAt: number;
}

export function createTelemetryNotes(
  clock: Clock,
  { noteMs, appsMax }: { noteMs: number; appsMax: number },
): TelemetryNotes {
  const notes = new Map<string, Note>();
  return {
    add(app, reason) {
      const key = keyText(app);
      const now = clock.now();
      const known = notes.get(key);
      const isNew = known === undefined || now - known.lastAt > noteMs;
      const isTold = known?.reason === reason && now - known.toldAt <= noteMs;
      const toldAt = isTold ? known.toldAt : now;
      notes.delete(key);
      notes.set(key, { app: keyOf(app), reason, since: isNew ? now : known.since, lastAt: now, toldAt });
      const [oldest] = notes.size > appsMax ? notes.keys() : [];
      if (oldest !== undefined) notes.delete(oldest);
      return !isTold;
    },
    problems: () =>
      [...notes].flatMap(([key, { app, reason, since, lastAt }]): AppProblem[] => {
        if (clock.now() - lastAt > noteMs) return [];
        const title = `some telemetry of ${app.scope}/${app.name} is not kept`;
        const about = { severity: "notice", type: "telemetry", title, cause: reason } as const;
        return [{ id: `telemetry/${key}`, ...about, since: new Date(since).toISOString(), app }];
      }),
  };
}
