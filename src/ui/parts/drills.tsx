import { beginDrill } from "../../backups/api/drills.ts";
import type { App } from "../../observability/api/app-model.ts";
import { appPath } from "../browser/paths.ts";
import { api } from "../data/api.ts";
import { say } from "../data/notices.ts";
import { lacks } from "../data/session.ts";
import { type DrilledApp, drillFigures, drillRows, drillStates } from "../text/drills.ts";
import { Button } from "./button.tsx";
import { ask } from "./dialog.tsx";
import { State } from "./state.tsx";
import { Table } from "./table.tsx";
import { Ago } from "./time.tsx";

/** How the newest copies of each protected app did when they were tried, the failed ones first. */
export function Drills({ list }: { list: readonly App[] }) {
  const rows = drillRows(list);
  if (rows.length === 0) return null;
  return (
    <section class="section">
      <h2>Drills</h2>
      <p class="soft small">
        Each week, the newest copies are restored on a closed network and started there, out of reach of what is live.
      </p>
      <Table
        label="Drills"
        rows={rows}
        keyOf={({ app: { kind, scope, name } }) => `${kind} ${scope}/${name}`}
        columns={[
          { title: "State", cell: ({ state, tone }) => <State tone={tone} text={state} /> },
          { title: "App", cell: ({ app }) => <a href={appPath(app)}>{`${app.scope}/${app.name}`}</a> },
          { title: "Last drill", cell: ({ drill }) => <Ago at={drill.ended_at} /> },
          { title: "Ready in", right: true, cell: ({ drill }) => drillFigures(drill).time },
          { title: "Copy was", right: true, cell: ({ drill }) => drillFigures(drill).point },
          { title: "Next", cell: ({ drill }) => <Ago at={drill.next_at} /> },
          { title: "Notes", cell: noteOf },
          { title: "", right: true, cell: ({ app }) => <DrillNow app={app} /> },
        ]}
      />
    </section>
  );
}

function noteOf({ drill: { why, result } }: DrilledApp) {
  if (why === undefined) return null;
  return <span class={result === "failed" ? "bad wraps" : "soft small wraps"}>{why}</span>;
}

function DrillNow({ app: { scope, name } }: { app: App }) {
  const drill = async () => {
    await api.call(beginDrill, { body: { scope, name } });
    say(`The drill of ${scope}/${name} has begun`, "work");
  };
  const effects = [
    { text: "The newest copy of each volume is restored into new volumes, and the app is started from them" },
    { text: "It runs on a closed network: it reaches neither the live app nor the machine nor the internet" },
    { text: "All of it is removed afterwards" },
  ];
  const open = () =>
    ask({
      title: `Try the copies of ${scope}/${name}`,
      verb: "Drill now",
      command: `berth backup drill ${scope}/${name}`,
      effects,
      run: drill,
    });
  return (
    <Button look="bare" hindrance={lacks("admin")} onClick={open}>
      Drill now…
    </Button>
  );
}

/** The last drill of one app, on its own page. */
export function DrillFact({ app: { backup } }: { app: App }) {
  const drill = backup?.drill;
  if (backup?.every === undefined || drill?.result === undefined) return null;
  const { state, tone } = drillStates[drill.result];
  const { time, point } = drillFigures(drill);
  return (
    <>
      <dt>Last drill</dt>
      <dd>
        <State tone={tone} text={state} /> <Ago at={drill.ended_at} />
        {drill.recovery_seconds === undefined ? null : ` ready in ${time}, from a copy that was ${point} old`}
        {drill.why === undefined ? null : <p class={drill.result === "failed" ? "bad" : "soft"}>{drill.why}</p>}
      </dd>
    </>
  );
}
