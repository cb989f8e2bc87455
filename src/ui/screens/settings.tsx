import { hostServer, type ServerReport } from "../../observability/api/disk.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { Page } from "../frame/page.tsx";
import { Shown } from "../parts/loaded.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { changeText, findings } from "../text/settings.ts";

/** What the server runs with, what is wrong with that, and what to type to change it. Nothing is changed here. */
export function Screen() {
  const loaded = useLoad("server", (signal) => api.call(hostServer, { signal }));
  return (
    <Page title="Settings" command="berth doctor">
      <Shown of={loaded} label="the settings" scope="host:read">
        {(report) => <Report report={report} />}
      </Shown>
    </Page>
  );
}

function Report({ report }: { report: ServerReport }) {
  return (
    <>
      <p class="soft">
        {`berth ${report.version}, installation ${report.installation}, started `}
        <Ago at={report.started_at} />
      </p>
      <section class="section">
        <h2>Checks</h2>
        <Table
          label="Checks"
          rows={findings(report)}
          keyOf={({ name }) => name}
          columns={[
            { title: "Check", cell: ({ tone, name }) => <State tone={tone} text={name} /> },
            { title: "Found", cell: ({ text }) => text },
            { title: "To fix it", cell: ({ mend }) => (mend === undefined ? null : <code>{mend}</code>) },
          ]}
        />
        <p class="small soft">
          The command below looks at the rest of the machine too: memory, disks, folders, HAProxy.
        </p>
      </section>
      <section class="section">
        <h2>Settings of the server</h2>
        <p class="small soft">
          {"They belong to the service. Type "}
          <code>systemctl edit berth</code>
          {", add a line of the last column under [Service] with another value, then "}
          <code>systemctl restart berth</code>
        </p>
        <Table
          label="Settings"
          rows={report.settings}
          keyOf={({ flag }) => flag}
          columns={[
            { title: "Flag of berth serve", cell: ({ flag }) => <code>{flag}</code> },
            { title: "Value", cell: ({ value }) => value },
            { title: "To change it", cell: (setting) => <code>{changeText(setting)}</code> },
          ]}
        />
      </section>
    </>
  );
}
