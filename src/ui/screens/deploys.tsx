import { listDeploys } from "../../observability/api/deploys.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { deploys } from "../data/model.ts";
import { Page } from "../frame/page.tsx";
import { DeployTable } from "../parts/deploy-table.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";

const shownMax = 100;

/** The newest release of each app; the page of an app has the ones before it. */
export function Screen() {
  const loaded = useLoad(
    "deploys",
    (signal) => api.call(listDeploys, { query: { limit: shownMax }, signal }),
    JSON.stringify(deploys.value),
  );
  return (
    <Page title="Deploys" command="berth events">
      <Shown of={loaded} label="the deploys">
        {({ deploys: all }) =>
          all.length === 0 ? (
            <Empty title="No deploys yet">
              <p>The first apply makes one:</p>
              <code>berth up</code>
            </Empty>
          ) : (
            <>
              <p class="small soft">The last deploy of each app. Its page has the deploys before that.</p>
              <DeployTable rows={all} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}
