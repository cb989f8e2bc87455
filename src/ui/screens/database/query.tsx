import { useState } from "preact/hooks";
import { type BlockView, revealDatabase } from "../../../observability/api/plugins.ts";
import { api, faultText } from "../../data/api.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { Note } from "../../parts/notes.tsx";
import { Table } from "../../parts/table.tsx";
import { cellText, type QueryRows, readRows, splitWords } from "../../text/databases.ts";
import { many } from "../../text/figures.ts";
import { commandOf, has } from "./of.ts";

type Answer = { rows: QueryRows } | { text: string } | { fault: string };

/** A box for reading. The server refuses everything that would write; nothing keeps what comes back. */
export function Query({ block }: { block: BlockView }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Answer>();
  if (!has(block, "query")) return null;
  const missing = lacks("config:reveal");
  const isSql = block.plugin === "postgres";
  const run = async () => {
    setBusy(true);
    setAnswer(await answered(block, text, isSql));
    setBusy(false);
  };
  return (
    <section class="section">
      <h2>Read</h2>
      <form
        class="card inset"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <div class="field">
          <label for="query">
            {isSql ? "One statement that returns rows" : "One command that reads, such as get KEY or scan 0"}
          </label>
          <textarea
            id="query"
            class="input mono"
            rows={isSql ? 4 : 1}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <div class="row wrap">
          <Button submits look="main" hindrance={missing} disabled={busy || text.trim() === ""}>
            {busy ? "Reading…" : "Run"}
          </Button>
          <span class="small soft">
            {isSql
              ? "In a read-only transaction, as a role that cannot write; at most 10 s, 200 rows and 1 MiB. "
              : "Only commands that the server itself calls read-only; at most 15 s and 1 MiB. "}
            That you asked is in the audit trail, the statement and its rows are not.
          </span>
        </div>
        <p class="small soft">
          {"The same in a terminal: "}
          <code>{commandOf(block, isSql ? 'query -c "select 1"' : "query -- get KEY")}</code>
        </p>
      </form>
      {answer === undefined ? null : <Shown answer={answer} />}
    </section>
  );
}

async function answered({ kind, scope, name }: BlockView, text: string, isSql: boolean): Promise<Answer> {
  const words = isSql ? ["-c", text, "-o", "json"] : splitWords(text);
  if (words === undefined) return { fault: "A quote is not closed." };
  const args = isSql ? words : ["--", ...words];
  try {
    const params = { kind, scope, name, command: "query" };
    const { message } = await api.call(revealDatabase, { params, body: { args } });
    return isSql ? { rows: readRows(message) } : { text: message };
  } catch (error) {
    return { fault: faultText(error) };
  }
}

interface Row {
  cells: unknown[];
  index: number;
}

function Shown({ answer }: { answer: Answer }) {
  if ("fault" in answer) return <Note tone="bad">{answer.fault}</Note>;
  if ("text" in answer) {
    return (
      <pre class="card inset scroll" tabIndex={0} aria-label="Answer">
        {answer.text === "" ? "(empty)" : answer.text}
      </pre>
    );
  }
  const { columns, rows, more } = answer.rows;
  return (
    <>
      <p class="small soft" role="status">
        {`${many(rows.length, "row")}${more ? ", and there are more" : ""}`}
      </p>
      {rows.length === 0 ? null : (
        <Table
          label="Rows"
          rows={rows.map((cells, index) => ({ cells, index }))}
          keyOf={({ index }) => String(index)}
          columns={columns.map((title, at) => ({ title, cell: ({ cells }: Row) => cellOf(cells[at]) }))}
        />
      )}
    </>
  );
}

function cellOf(value: unknown) {
  return value === null ? <span class="faint">NULL</span> : <code class="wraps">{cellText(value)}</code>;
}
