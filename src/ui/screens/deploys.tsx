import { useState } from "preact/hooks";
import { listDeploys } from "../../observability/api/deploys.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { deploys } from "../data/model.ts";
import { Page } from "../frame/page.tsx";
import { Button } from "../parts/button.tsx";
import { DeployTable } from "../parts/deploy-table.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";

const pageRows = 50;

/** What was deployed, of all apps, the newest first. */
export function Screen() {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const loaded = useLoad(
    `deploys ${cursor ?? ""}`,
    (signal) => api.call(listDeploys, { query: { limit: pageRows, history: true, cursor }, signal }),
    // What is under way is on the first page.
    cursor === undefined ? JSON.stringify(deploys.value) : "",
  );
  return (
    <Page title="Deploys" command="berth events">
      <Shown of={loaded} label="the deploys">
        {({ deploys: rows, next }) =>
          rows.length === 0 && cursor === undefined ? (
            <Empty title="No deploys yet">
              <p>The first apply makes one:</p>
              <code>berth up</code>
            </Empty>
          ) : (
            <>
              <DeployTable rows={rows} />
              {next === undefined && cursor === undefined ? null : (
                <div class="row">
                  {cursor === undefined ? null : (
                    <Button onClick={() => setCursors(cursors.slice(0, -1))}>Newer</Button>
                  )}
                  {next === undefined ? null : <Button onClick={() => setCursors([...cursors, next])}>Older</Button>}
                </div>
              )}
            </>
          )
        }
      </Shown>
    </Page>
  );
}
