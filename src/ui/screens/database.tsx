import { type BlockView, listDatabases } from "../../observability/api/plugins.ts";
import { keyText } from "../../orchestration/api/manifest-key.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { apps, operations } from "../data/model.ts";
import { Page } from "../frame/page.tsx";
import { appPath } from "../browser/paths.ts";
import type { ScreenProps } from "../frame/screen.ts";
import { Shown } from "../parts/loaded.tsx";
import { Empty, Note } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { type DatabaseFacts, readFacts } from "../text/databases.ts";
import { bytesText, readyOf } from "../text/figures.ts";
import { appTones } from "../text/states.ts";
import { DatabaseButtons } from "./database/actions.tsx";
import { Backups, PointInTime } from "./database/backups.tsx";
import { Links } from "./database/links.tsx";
import { type BlockName, databasePath, movesOf, named, read } from "./database/of.ts";
import { Pods } from "./database/pods.tsx";
import { Query } from "./database/query.tsx";

/** One block of a plugin: its pods, sizes, backups and links, what can be done with it, and a box for reading. */
export function Screen({ params }: ScreenProps) {
  const { kind = "", scope = "", name = "" } = params;
  const of = { kind, scope, name };
  const own = apps.value.filter(({ block }) => block === keyText(of));
  const version = own.map(({ state, ready }) => `${state} ${ready}`).join();
  const loaded = useLoad("databases", (signal) => api.call(listDatabases, { signal }), version);
  const block = loaded.data?.blocks.find((each) => databasePath(each) === databasePath(of));
  const facts = useLoad(
    `info ${databasePath(of)}`,
    (signal) => read(of, "info", signal).then(readFacts),
    `${version} ${movesOf(of)}`,
  );
  return (
    <Page
      title={named(of)}
      command={`berth ${block?.plugin ?? kind}:info ${named(of)}`}
      beside={block === undefined ? undefined : <State tone={appTones[block.state]} text={block.state} />}
      actions={block === undefined ? undefined : <DatabaseButtons block={block} facts={facts.data} />}
    >
      <Shown of={loaded} label="the database">
        {() =>
          block === undefined ? (
            <Empty title="No such database">
              <p>It was deleted, or your token may not see it.</p>
              <a href="/databases">To the databases</a>
            </Empty>
          ) : (
            <>
              <Running of={of} />
              <Shown of={facts} label="what the database says">
                {(found) => (
                  <>
                    <Facts block={block} facts={found} />
                    <Pods facts={found} />
                    <Links block={block} facts={found} />
                  </>
                )}
              </Shown>
              <Backups block={block} />
              <PointInTime block={block} sends={facts.data?.pointInTime === true} />
              <Query block={block} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}

/** Commands that go on just now, and what they say. */
function Running({ of }: { of: BlockName }) {
  const running = [...operations.value.values()].filter(
    ({ app, state }) => state === "running" && app.kind === of.kind && app.scope === of.scope && app.name === of.name,
  );
  return (
    <>
      {running.map(({ id, type, text }) => (
        <Note key={id} tone="work">{`${type}: ${text}`}</Note>
      ))}
    </>
  );
}

function Facts({ block, facts }: { block: BlockView; facts: DatabaseFacts }) {
  const { connections, exposed, bytes } = facts;
  const standbys = facts.pods.filter(({ role }) => role === "standby").length;
  return (
    <dl class="card facts inset">
      <dt>Version</dt>
      <dd>
        {facts.version || "not known: no pod answers"} <span class="soft">{block.image}</span>
      </dd>
      <dt>Replicas</dt>
      <dd>
        <a href={appPath(block)}>{`${readyOf(block)} ready`}</a>
        {`, ${standbys === 1 ? "1 standby" : `${standbys} standbys`}`}
      </dd>
      <dt>Size</dt>
      <dd>{bytes === undefined ? <span class="faint">not known</span> : bytesText(bytes)}</dd>
      <dt>Connections</dt>
      <dd>
        {connections === undefined ? (
          <span class="faint">not known</span>
        ) : (
          `${connections.used}${connections.max === undefined ? "" : ` of ${connections.max}`}`
        )}
      </dd>
      <dt>Open port</dt>
      <dd>{exposed ?? <span class="soft">none: only apps of this machine reach it</span>}</dd>
    </dl>
  );
}
