import { listPluginRuns, type PluginRun } from "../../orchestration/api/dispatch.ts";
import { listPlugins, type PluginInfo } from "../../orchestration/api/plugins.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { Page } from "../frame/page.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty, Note } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { durationText, many } from "../text/figures.ts";
import { grantText } from "../text/plugins.ts";
import { outcomeTone } from "../text/states.ts";
import { InstallForm } from "./plugins/install.tsx";
import { PluginButtons } from "./plugins/buttons.tsx";

/** Plugins of the server: what they may do, their commands, their last runs, and what changes them. */
export function Screen() {
  const loaded = useLoad("plugins", (signal) => api.call(listPlugins, { signal }));
  return (
    <Page title="Plugins" command="berth plugins">
      <Shown of={loaded} label="the plugins">
        {({ plugins, errors }) => (
          <>
            {errors.map((text) => (
              <Note key={text} tone="warn">{`Not usable: ${text}`}</Note>
            ))}
            <Plugins plugins={plugins} again={loaded.again} />
          </>
        )}
      </Shown>
      <InstallForm again={loaded.again} />
      <Runs version={String(loaded.at ?? "")} />
    </Page>
  );
}

function Plugins({ plugins, again }: { plugins: readonly PluginInfo[]; again: () => void }) {
  return (
    <Table
      label="Plugins"
      rows={plugins}
      keyOf={({ name }) => name}
      columns={[
        {
          title: "State",
          cell: ({ enabled }) => <State tone={enabled ? "good" : "idle"} text={enabled ? "enabled" : "disabled"} />,
        },
        {
          title: "Plugin",
          cell: ({ name, aliases, description }) => (
            <>
              <strong>{name}</strong>
              {aliases.length === 0 ? null : <span class="soft">{` ${aliases.join(", ")}`}</span>}
              <div class="small soft">{description}</div>
            </>
          ),
        },
        { title: "Version", cell: ({ version }) => version || <span class="faint">none</span> },
        { title: "From", cell: fromOf },
        { title: "May", cell: (plugin) => <span class="small">{mayText(plugin)}</span> },
        { title: "Commands", cell: (plugin) => <Commands plugin={plugin} /> },
        { title: "", right: true, cell: (plugin) => <PluginButtons plugin={plugin} again={again} /> },
      ]}
    />
  );
}

function fromOf({ origin, source, commit }: PluginInfo) {
  return (
    <span class="small" title={commit === undefined ? undefined : `commit ${commit}`}>
      {source ?? (origin === "bundled" ? "part of berth" : origin)}
    </span>
  );
}

function mayText({ permissions, full_grant: full }: PluginInfo): string {
  return full ? "everything: it names no permissions" : grantText(permissions);
}

function Commands({ plugin: { commands, name } }: { plugin: PluginInfo }) {
  return (
    <details>
      <summary>{many(commands.length, "command")}</summary>
      <ul class="small">
        {commands.map((command) => (
          <li key={command.name}>
            <code>{`${name}:${command.name}`}</code>
            {command.help === undefined ? "" : ` ${command.help}`}
            {command.destructive ? <span class="warn">{" destructive"}</span> : null}
          </li>
        ))}
      </ul>
    </details>
  );
}

const runsShown = 50;

function Runs({ version }: { version: string }) {
  const loaded = useLoad(
    "plugin runs",
    (signal) => api.call(listPluginRuns, { query: { limit: runsShown }, signal }),
    version,
  );
  return (
    <section class="section">
      <h2>Recent runs</h2>
      <Shown of={loaded} label="the runs">
        {({ runs }) => (runs.length === 0 ? <Empty title="No plugin has run yet" /> : <RunTable runs={runs} />)}
      </Shown>
    </section>
  );
}

function RunTable({ runs }: { runs: readonly PluginRun[] }) {
  return (
    <Table
      label="Recent runs"
      rows={runs}
      keyOf={({ run_id: id }) => id}
      columns={[
        { title: "Ended", cell: ({ status }) => <State tone={outcomeTone(status)} text={status} /> },
        {
          title: "Command",
          cell: ({ plugin, command, args }) => <code class="wraps">{[`${plugin}:${command}`, ...args].join(" ")}</code>,
        },
        { title: "By", cell: ({ actor }) => <span class="soft">{actor}</span> },
        { title: "Began", cell: ({ started_at: at }) => <Ago at={at} /> },
        { title: "Took", right: true, cell: tookOf },
        { title: "Output", cell: outputOf },
      ]}
    />
  );
}

function tookOf({ started_at: from, ended_at: until }: PluginRun) {
  if (until === undefined) return <span class="faint">–</span>;
  return durationText(Date.parse(until) - Date.parse(from));
}

function outputOf({ tail, error, applied }: PluginRun) {
  const lines = [...(error === undefined ? [] : [error]), ...tail, ...applied.map((what) => `did: ${what}`)];
  if (lines.length === 0) return <span class="faint">none</span>;
  return (
    <details>
      <summary>{many(lines.length, "line")}</summary>
      <pre class="small wraps">{lines.join("\n")}</pre>
    </details>
  );
}
