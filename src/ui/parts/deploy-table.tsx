import type { Deploy } from "../../observability/api/apps.ts";
import { keyText } from "../../orchestration/api/manifest-key.ts";
import { appPath } from "../browser/paths.ts";
import { durationText } from "../text/figures.ts";
import { byText, causeText, outcomeTone, releaseStateText } from "../text/states.ts";
import { localTimes } from "../text/times.ts";
import { State } from "./state.tsx";
import { Table } from "./table.tsx";
import { Ago } from "./time.tsx";

/** Releases of any apps, one per row. */
export function DeployTable({ rows }: { rows: readonly Deploy[] }) {
  return (
    <Table
      label="Deploys"
      rows={rows}
      keyOf={({ app, id }) => `${keyText(app)}/${id}`}
      columns={[
        { title: "State", cell: ({ status }) => <State tone={outcomeTone(status)} text={releaseStateText(status)} /> },
        {
          title: "App",
          cell: ({ app, id }) => (
            <a href={`${appPath(app, "deploys")}?to=${encodeURIComponent(id)}`}>{`${app.scope}/${app.name}`}</a>
          ),
        },
        { title: "What", cell: whatOf },
        { title: "By", cell: (deploy) => <span class="soft">{byText(deploy)}</span> },
        { title: "Took", right: true, cell: tookOf },
        { title: "Began", right: true, cell: ({ started_at: at }) => <Ago at={at} /> },
      ]}
    />
  );
}

function whatOf({ message, cause, error, image }: Deploy) {
  return (
    <span class="what" title={image}>
      {message ?? causeText(cause)}
      {error === undefined ? null : <span class="bad small">{` ${localTimes(error)}`}</span>}
    </span>
  );
}

function tookOf({ started_at: from, ended_at: until }: Deploy) {
  return until === undefined ? <span class="soft">–</span> : durationText(Date.parse(until) - Date.parse(from));
}
