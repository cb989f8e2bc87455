import { signal } from "@preact/signals";
import type { BlockView } from "../../../observability/api/plugins.ts";
import { apps } from "../../data/model.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/notes.tsx";
import { Table } from "../../parts/table.tsx";
import type { DatabaseFacts } from "../../text/databases.ts";
import { begin, commandOf, has, missing, named } from "./of.ts";

/** Apps that have the URL of the database in their config. */
export function Links({ block, facts: { links } }: { block: BlockView; facts: DatabaseFacts }) {
  if (!has(block, "link")) return null;
  return (
    <section class="section">
      <header>
        <h2>Linked apps</h2>
        <Button hindrance={missing(block, "link")} onClick={() => askLink(block)}>
          Link an app…
        </Button>
      </header>
      {links.length === 0 ? (
        <Empty title="No app is linked">
          <p>A linked app has the URL in its config, and a new one whenever the primary or the password changes.</p>
        </Empty>
      ) : (
        <Table
          label="Linked apps"
          rows={links}
          keyOf={({ app, key }) => `${app} ${key}`}
          columns={[
            { title: "App", cell: ({ app }) => <a href={`/apps/${app}`}>{app}</a> },
            { title: "Key", cell: ({ key }) => <code>{key}</code> },
            { title: "User", cell: ({ user }) => user },
            {
              title: "",
              right: true,
              cell: (link) => (
                <Button look="bare" hindrance={missing(block, "unlink")} onClick={() => askUnlink(block, link)}>
                  Unlink…
                </Button>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

function askLink(block: BlockView): void {
  const all = [...new Set(apps.value.filter((app) => app.block === undefined).map(textOf))].sort();
  const chosen = signal(all[0] ?? "");
  ask({
    title: `Link an app to ${named(block)}`,
    verb: "Link",
    command: commandOf(block, "link SCOPE/APP"),
    effects: [
      { text: "The app gets the URL with a password in its config, under the usual key of the database" },
      { text: "The replicas of the app are replaced, so that they see it" },
    ],
    body: () => (
      <div class="field">
        <label for="app">App</label>
        <select
          id="app"
          class="input"
          value={chosen.value}
          onChange={(event) => {
            chosen.value = event.currentTarget.value;
          }}
        >
          {all.map((app) => (
            <option key={app} value={app}>
              {app}
            </option>
          ))}
        </select>
      </div>
    ),
    run: () => begin(block, "link", [chosen.value]),
  });
}

function textOf({ scope, name }: { scope: string; name: string }): string {
  return `${scope}/${name}`;
}

function askUnlink(block: BlockView, { app, key }: { app: string; key: string }): void {
  ask({
    title: `Take ${key} from ${app}`,
    verb: "Unlink",
    danger: true,
    command: commandOf(block, `unlink ${app} --as ${key}`),
    effects: [
      { text: `${key} goes from the config of ${app}, whose replicas are replaced`, ends: true },
      { text: "The user of the database and its password stay" },
    ],
    run: () => begin(block, "unlink", [app, "--as", key]),
  });
}
