import type { Rehearsal } from "../../backups/api/rehearsals.ts";
import { useRehearsals } from "../data/copies.ts";
import { type RehearsedRow, rehearsalRows } from "../text/rehearsals.ts";
import { byText } from "../text/states.ts";
import { Shown } from "./loaded.tsx";
import { Empty } from "./notes.tsx";
import { State } from "./state.tsx";
import { Table } from "./table.tsx";
import { Ago } from "./time.tsx";

/** Changes that were tried on copies. `id`: only this one, where it was begun. */
export function Rehearsals({ id }: { id?: string }) {
  const loaded = useRehearsals();
  return (
    <section class="section" aria-live={id === undefined ? undefined : "polite"}>
      <h2>{id === undefined ? "Rehearsals" : "Rehearsal"}</h2>
      <Shown of={loaded} label="the rehearsals" scope="admin">
        {(list) => (
          <Rows list={id === undefined ? list : list.filter((one) => one.id === id)} isOne={id !== undefined} />
        )}
      </Shown>
    </section>
  );
}

function Rows({ list, isOne }: { list: readonly Rehearsal[]; isOne: boolean }) {
  if (list.length === 0)
    return isOne ? (
      <p class="soft">It was cut off: the server was stopped. Begin it again.</p>
    ) : (
      <Empty title="No rehearsal since the server started">
        <p>Change an app and choose Rehearse: the change is tried on copies of the apps and of their data first.</p>
      </Empty>
    );
  const rows = rehearsalRows(list);
  return isOne ? <Steps rows={rows} /> : <All rows={rows} />;
}

/** Where there is less room, and what was said matters most. */
function Steps({ rows }: { rows: readonly RehearsedRow[] }) {
  return (
    <ul class="card steps" aria-label="Rehearsals">
      {rows.map(({ key, state, tone, app, time, age, notes }) => {
        const figures = [time === "–" ? [] : `ready in ${time}`, age === "–" ? [] : `on data that was ${age} old`];
        return (
          <li key={key}>
            <State tone={tone} text={state} />
            <p>
              <strong>{app}</strong> <span class="soft small">{figures.flat().join(", ")}</span>
            </p>
            {notes.map((note) => (
              <p key={note} class={tone === "bad" ? "bad wraps" : "soft small wraps"}>
                {note}
              </p>
            ))}
          </li>
        );
      })}
    </ul>
  );
}

function All({ rows }: { rows: readonly RehearsedRow[] }) {
  return (
    <Table
      label="Rehearsals"
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        { title: "State", cell: ({ state, tone }) => <State tone={tone} text={state} /> },
        { title: "App", cell: ({ app }) => app },
        { title: "Began", cell: ({ at }) => <Ago at={at} /> },
        { title: "By", cell: (row) => <span class="soft small">{byText(row)}</span> },
        { title: "Ready in", right: true, cell: ({ time }) => time },
        { title: "Data was", right: true, cell: ({ age }) => age },
        { title: "Notes", cell: notesOf },
      ]}
    />
  );
}

const notesOf = ({ notes, tone }: RehearsedRow) => (
  <span class={tone === "bad" ? "bad wraps" : "soft small wraps"}>{notes.join("; ")}</span>
);
