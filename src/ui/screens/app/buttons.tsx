import type { AppDetail } from "../../../observability/api/apps.ts";
import { faultText } from "../../data/api.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { say } from "../../parts/toasts.tsx";
import { askRestart, askRollback, askStart, askStop } from "./actions.ts";

/** What can be done with an app. Each button says first what it will do. */
export function AppActions({ app }: { app: AppDetail }) {
  const missing = lacks("actions") ?? (app.locked === undefined ? undefined : `Locked: ${app.locked}`);
  const off = missing !== undefined;
  const to = app.rollback_to;
  const halted = app.state === "stopped" || app.state === "asleep";
  const rollBack = () => {
    if (to !== undefined) askRollback(app, to).catch((error: unknown) => say(faultText(error), "bad"));
  };
  return (
    <>
      <a class="button bare" href={`/new?of=${encodeURIComponent(`${app.scope}/${app.name}`)}`}>
        Change
      </a>
      {to === undefined ? null : (
        <Button
          disabled={off}
          title={missing}
          onClick={rollBack}
          {...(app.state === "crashing" || app.state === "down" ? { look: "main" as const } : {})}
        >
          Roll back…
        </Button>
      )}
      <Button disabled={off} title={missing} onClick={() => askRestart(app)}>
        Restart…
      </Button>
      {halted ? (
        <Button look="main" disabled={off} title={missing} onClick={() => askStart(app)}>
          Start…
        </Button>
      ) : (
        <Button look="danger" disabled={off} title={missing} onClick={() => askStop(app)}>
          Stop…
        </Button>
      )}
    </>
  );
}
