import { appPath } from "../../browser/paths.ts";
import { appOf } from "../../data/model.ts";
import { ask } from "../../parts/dialog.tsx";
import { Note } from "../../parts/notes.tsx";
import { planLines } from "../../text/plan.ts";
import type { Plan } from "./send.ts";

type PlanRow = NonNullable<Plan["plan"]>[number];

/** A row of a plan about something that is there already. */
export const isChange = ({ action }: PlanRow) => action !== "create" && action !== "unchanged";

/** A new app with the name of one that runs would replace it: that is asked, with all that it changes. */
export function askUpdate(rows: readonly PlanRow[], deploy: () => Promise<void>): void {
  ask({
    title: "This changes what is there already",
    verb: "Update",
    danger: true,
    command: "berth apply -f manifest.yaml",
    effects: rows.flatMap((row) => planLines(row).map(({ text, ends }) => ({ text: `${row.ref}: ${text}`, ends }))),
    run: () => deploy(),
  });
}

/** Said while the name is typed. */
export function Existing({ app }: { app: string }) {
  const [scope = "", name = ""] = app.split("/");
  const found = appOf(scope, name);
  if (found === undefined) return null;
  return (
    <Note tone="warn">
      <a href={appPath(found)}>{app}</a>
      {" exists: deploying this updates it. The plan shows what changes. Choose another name for a new app."}
    </Note>
  );
}
