import type { AppDetail } from "../../../observability/api/apps.ts";
import { faultText } from "../../data/api.ts";
import { lacks } from "../../data/session.ts";
import { appPath } from "../../browser/paths.ts";
import { Button } from "../../parts/button.tsx";
import type { Entry } from "../../parts/palette.tsx";
import { say } from "../../data/notices.ts";
import { many } from "../../text/figures.ts";
import { askDelete, askRestart, askRollback, askScale, askStart, askStop } from "./actions.tsx";

/** Something that can be done with an app. It says first what it will do. */
interface Offer {
  verb: string;
  look?: "main" | "danger";
  run: () => void;
}

/** Why nothing can be done with an app now. */
export const hindrance = (app: AppDetail) =>
  lacks("actions") ?? (app.locked === undefined ? undefined : `Locked: ${app.locked}`);

function offersOf(app: AppDetail): Offer[] {
  const to = app.rollback_to;
  const isBroken = app.state === "crashing" || app.state === "down";
  const halted = app.state === "stopped" || app.state === "asleep";
  const rollBack = (release: string) => () => {
    askRollback(app, release).catch((error: unknown) => say(faultText(error), "bad"));
  };
  return [
    ...(to === undefined
      ? []
      : [{ verb: "Roll back", run: rollBack(to), ...(isBroken ? { look: "main" as const } : {}) }]),
    { verb: "Restart", run: () => askRestart(app) },
    halted
      ? { verb: "Start", look: "main", run: () => askStart(app) }
      : { verb: "Stop", look: "danger", run: () => askStop(app) },
    // What a plugin's block was expanded into goes with the block.
    ...(app.block === undefined ? [{ verb: "Delete", look: "danger" as const, run: () => askDelete(app) }] : []),
  ];
}

/** What can be done with an app, as buttons. */
export function AppActions({ app }: { app: AppDetail }) {
  const missing = hindrance(app);
  return (
    <>
      <a class="button bare" href={`/new?of=${encodeURIComponent(`${app.scope}/${app.name}`)}`}>
        Change
      </a>
      <a class="button bare" href={`/new?copy=${encodeURIComponent(`${app.scope}/${app.name}`)}`}>
        Copy
      </a>
      {offersOf(app).map(({ verb, run, look }) => (
        <Button key={verb} hindrance={missing} onClick={run} {...(look === undefined ? {} : { look })}>
          {`${verb}…`}
        </Button>
      ))}
    </>
  );
}

/** Like `AppActions`, for the palette, and the pages of the app that one acts on. */
export function appEntries(app: AppDetail): Entry[] {
  const name = `${app.scope}/${app.name}`;
  const sort = "action";
  const scales = [app.desired + 1, app.desired - 1].filter((count) => count >= 0);
  const actions = [
    ...offersOf(app).map(({ verb, run }): Entry => ({ title: `${verb} ${name}…`, sort, run })),
    ...scales.map((count): Entry => ({
      title: `Scale ${name} to ${many(count, "replica")}…`,
      sort,
      run: () => askScale(app, count),
    })),
  ];
  return [
    ...(hindrance(app) === undefined ? actions : []),
    { title: `Logs of ${name}`, sort, href: appPath(app, "logs") },
    { title: `Exec: a terminal in ${name}`, sort, href: appPath(app, "terminal") },
  ];
}
