import { readyOf } from "../text/figures.ts";
import { type BlockView, listDatabases } from "../../observability/api/plugins.ts";
import { keyText } from "../../orchestration/api/manifest-key.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { apps } from "../data/model.ts";
import { Page } from "../frame/page.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { appTones } from "../text/states.ts";
import { databasePath } from "./database/of.ts";

/** Every block of a plugin, such as a database, with how it is. */
export function Screen() {
  const version = apps.value.map(({ block, state, ready }) =>
    block === undefined ? "" : `${block} ${state} ${ready}`,
  );
  const loaded = useLoad("databases", (signal) => api.call(listDatabases, { signal }), version.join());
  return (
    <Page title="Databases" command="berth get">
      <Shown of={loaded} label="the databases">
        {({ blocks }) =>
          blocks.length === 0 ? (
            <Empty title="No databases yet">
              <p>Apply a block of a plugin, such as PostgreSQL or Redis:</p>
              <code>{"{ kind: postgres, scope: data, name: main, spec: { image: postgres:17 } }"}</code>
              <a href="/new">New app</a>
            </Empty>
          ) : (
            <Blocks blocks={blocks} />
          )
        }
      </Shown>
    </Page>
  );
}

function Blocks({ blocks }: { blocks: readonly BlockView[] }) {
  return (
    <Table
      label="Databases"
      rows={blocks}
      keyOf={keyText}
      columns={[
        { title: "State", cell: ({ state, summary }) => <State tone={appTones[state]} text={state} title={summary} /> },
        {
          title: "Database",
          cell: (block) => <a href={databasePath(block)}>{`${block.scope}/${block.name}`}</a>,
        },
        { title: "Kind", cell: ({ kind }) => kind },
        { title: "Image", cell: ({ image }) => <code>{image}</code> },
        { title: "Ready", right: true, cell: (one) => readyOf(one) },
        { title: "Plugin", cell: ({ plugin, version }) => <span class="soft">{`${plugin} ${version}`}</span> },
      ]}
    />
  );
}
