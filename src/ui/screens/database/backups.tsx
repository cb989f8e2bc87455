import { signal } from "@preact/signals";
import type { BlockView } from "../../../observability/api/plugins.ts";
import { useLoad } from "../../data/load.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { type Backup, readBackups } from "../../text/databases.ts";
import { bytesText } from "../../text/figures.ts";
import { begin, commandOf, databasePath, has, missing, movesOf, named, read } from "./of.ts";

/** The backups that there are, newest first, and what brings one back. */
export function Backups({ block }: { block: BlockView }) {
  const loaded = useLoad(
    `backups ${databasePath(block)}`,
    (signal) => (has(block, "backups") ? read(block, "backups", signal).then(readBackups) : Promise.resolve([])),
    movesOf(block),
  );
  if (!has(block, "backups")) return null;
  return (
    <section class="section">
      <h2>Backups</h2>
      <Shown of={loaded} label="the backups">
        {(backups) =>
          backups.length === 0 ? (
            <Empty title="No backup yet">
              <p>Press Back up now, or write a schedule into the block: {'backups: { schedule: "30 3 * * *" }'}</p>
            </Empty>
          ) : (
            <Table
              label="Backups"
              rows={backups}
              keyOf={({ id }) => id}
              columns={[
                { title: "Backup", cell: ({ id }) => <code>{id}</code> },
                { title: "Age", cell: ({ at }) => <Ago at={at} /> },
                { title: "Size", right: true, cell: ({ bytes }) => bytesText(bytes) },
                { title: "Holds", cell: ({ holds }) => holds },
                { title: "Check", cell: (backup) => <Check backup={backup} /> },
                { title: "", right: true, cell: (backup) => <Buttons block={block} backup={backup} /> },
              ]}
            />
          )
        }
      </Shown>
    </section>
  );
}

/** What a restore for a check came to. */
function Check({ backup: { check, reason } }: { backup: Backup }) {
  if (check === undefined) return null;
  const text = reason === "" ? checkTexts[check] : `${checkTexts[check]}: ${reason}`;
  return <State tone={checkTones[check]} text={text} />;
}

const checkTexts = { passed: "passed", failed: "failed", unchecked: "not checked" };
const checkTones = { passed: "good", failed: "bad", unchecked: "idle" } as const;

function Buttons({ block, backup }: { block: BlockView; backup: Backup }) {
  const button = (command: string, text: string, onClick: () => void) => {
    const reason = missing(block, command);
    return (
      <Button look="bare" hindrance={reason} onClick={onClick}>
        {text}
      </Button>
    );
  };
  return (
    <span class="row end">
      {button("restore", "Restore…", () => askRestore(block, backup))}
      {button("backups:delete", "Delete…", () => askDelete(block, backup))}
    </span>
  );
}

const sqlEffects = [
  { text: "The backup is restored into a new database, and what it holds is compared" },
  { text: "Then it takes the name of the database: what was written since is not in it", ends: true },
  { text: "Connections to the database are cut", ends: true },
  { text: "The database of now stays under another name" },
];

const keyEffects = [
  { text: "The keys of now are backed up first" },
  { text: "Then the keys of the backup take their place: what was written since is not in it", ends: true },
];

/** PostgreSQL restores into a database of another name as well; Redis has no second place. */
function askRestore(block: BlockView, { id, check, reason }: Backup): void {
  const isSql = block.plugin === "postgres";
  const into = signal("");
  ask({
    title: `Restore ${named(block)} from ${id}`,
    verb: "Restore",
    danger: true,
    type: named(block),
    command: commandOf(block, `restore ${id}${isSql ? " --replace" : ""}`),
    effects: [
      ...(check === "failed" ? [{ text: `Its check failed, so this may fail too: ${reason}`, ends: true }] : []),
      ...(isSql ? sqlEffects : keyEffects),
    ],
    ...(isSql
      ? {
          body: () => (
            <div class="field">
              <label for="into">Into a new database instead, which changes nothing else (its name)</label>
              <input
                id="into"
                class="input mono"
                value={into.value}
                onInput={(event) => {
                  into.value = event.currentTarget.value;
                }}
              />
            </div>
          ),
        }
      : {}),
    run: () => {
      const where = into.value.trim() === "" ? ["--replace"] : ["--into", into.value.trim()];
      return begin(block, "restore", [id, ...(isSql ? where : [])]);
    },
  });
}

function askDelete(block: BlockView, { id, bytes }: Backup): void {
  ask({
    title: `Delete the backup ${id}`,
    verb: "Delete",
    danger: true,
    command: commandOf(block, `backups:delete ${id}`),
    effects: [{ text: `${bytesText(bytes)} are freed; nothing brings this backup back`, ends: true }],
    run: () => begin(block, "backups:delete", [id]),
  });
}
