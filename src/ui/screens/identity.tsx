import { listPlaneInstances } from "../../observability/api/identity.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { Page } from "../frame/page.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";
import { Badge } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";

/** Every instance of the identity service: whose users it signs in, and where. */
export function Screen() {
  const loaded = useLoad("instances", (signal) => api.call(listPlaneInstances, { signal }));
  return (
    <Page title="Identity" command="berth identity instance list">
      <Shown of={loaded} label="the instances">
        {({ instances, operators }) =>
          instances.length === 0 ? (
            <Empty title="No instance yet: no app signs its users in here">
              <p>On the server, this makes an app, an instance and its keys:</p>
              <code>berth identity quickstart --redirect https://shop.com/callback</code>
            </Empty>
          ) : (
            <Table
              label="Instances"
              rows={instances}
              keyOf={({ id }) => id}
              columns={[
                { title: "Instance", cell: ({ id, app, name }) => <a href={`/identity/${id}`}>{`${app}/${name}`}</a> },
                { title: "Environment", cell: ({ environment }) => environment },
                { title: "Pages", cell: ({ url }) => <span class="mono">{url}</span> },
                {
                  title: "For",
                  cell: ({ id }) => (id === operators ? <Badge text="operators of this server" /> : "users"),
                },
                { title: "Made", cell: ({ created_at: at }) => <Ago at={at} /> },
              ]}
            />
          )
        }
      </Shown>
    </Page>
  );
}
