import { useState } from "preact/hooks";
import type { ConfigKey, ConfigPatch } from "../../observability/api/settings.ts";
import { faultText } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { lacks } from "../data/session.ts";
import { many } from "../text/figures.ts";
import { Button } from "./button.tsx";
import { ConfigAdder, type Draft, review } from "./config-draft.tsx";
import { Shown } from "./loaded.tsx";
import { Empty } from "./notes.tsx";
import { Table } from "./table.tsx";
import { say } from "../data/notices.ts";

interface Changed {
  changed: readonly string[];
  restarting: readonly string[];
  notes: readonly string[];
}

interface ConfigEditorProps {
  /** `shop/web`, or a scope. */
  name: string;
  load: (signal: AbortSignal) => Promise<{ keys: ConfigKey[] }>;
  reveal: (keys: string[]) => Promise<{ vars: Record<string, string> }>;
  change: (patch: ConfigPatch, restart: boolean) => Promise<Changed>;
}

const revealedMs = 30_000;

/** Keys without values; what is changed is reviewed and stored in one step, so that the app restarts once. */
export function ConfigEditor({ name, load, reveal, change }: ConfigEditorProps) {
  const loaded = useLoad(name, load);
  const [draft, setDraft] = useState<Draft>({});
  const [shown, setShown] = useState<Record<string, string>>({});
  const [edited, setEdited] = useState("");
  const count = Object.keys(draft).length;
  const show = async (key: string) => {
    try {
      const { vars } = await reveal([key]);
      setShown((before) => ({ ...before, ...vars }));
      // A screen that somebody leaves open does not keep the secret on it.
      setTimeout(() => setShown(({ [key]: _, ...rest }) => rest), revealedMs);
    } catch (error) {
      say(faultText(error), "bad");
    }
  };
  const store = () =>
    review({ name, draft, known: loaded.data?.keys.map(({ key }) => key) ?? [] }, async (patch, restart) => {
      const { changed, restarting } = await change(patch, restart);
      setDraft({});
      setShown({});
      loaded.again();
      const rolled = restarting.length === 0 ? "" : `; restarting: ${restarting.join(", ")}`;
      say(`${many(changed.length, "key")} changed${rolled}`, "work");
    });
  return (
    <section class="section">
      <header>
        <h2>Config</h2>
        <span class="row">
          {count === 0 ? null : <Button onClick={() => setDraft({})}>Drop changes</Button>}
          <Button look="main" hindrance={lacks("actions")} disabled={count === 0} onClick={store}>
            {count === 0 ? "Review" : `Review ${many(count, "change")}…`}
          </Button>
        </span>
      </header>
      <Shown of={loaded} label="the keys">
        {({ keys }) => (
          <Keys
            keys={keys}
            draft={draft}
            shown={shown}
            show={show}
            edit={setEdited}
            set={(more) => setDraft({ ...draft, ...more })}
          />
        )}
      </Shown>
      <ConfigAdder key={edited} first={edited} set={(more) => setDraft({ ...draft, ...more })} />
    </section>
  );
}

interface KeysProps {
  keys: readonly ConfigKey[];
  draft: Draft;
  shown: Readonly<Record<string, string>>;
  show: (key: string) => Promise<void>;
  edit: (key: string) => void;
  set: (more: Draft) => void;
}

interface Row {
  key: string;
  stored?: ConfigKey;
}

function Keys({ keys, draft, shown, show, edit, set }: KeysProps) {
  const added = Object.keys(draft).filter((key) => !keys.some((stored) => stored.key === key));
  const rows: Row[] = [...keys.map((stored) => ({ key: stored.key, stored })), ...added.map((key) => ({ key }))];
  if (rows.length === 0) {
    return (
      <Empty title="No config yet">
        <p>Add keys below, or paste a .env file.</p>
      </Empty>
    );
  }
  return (
    <Table
      label="Config"
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        { title: "Key", cell: ({ key }) => <code>{key}</code> },
        {
          title: "Value",
          cell: ({ key, stored }) => <Value draft={draft[key]} shown={shown[key]} length={stored?.length} />,
        },
        {
          title: "From",
          cell: ({ stored }) => (
            <span class="soft">
              {stored === undefined ? "new" : stored.overrides ? "app, over the scope" : stored.origin}
            </span>
          ),
        },
        {
          title: "",
          right: true,
          cell: ({ key, stored }) => (
            <span class="row end">
              {stored === undefined || shown[key] !== undefined ? null : (
                <Button
                  look="bare"
                  hindrance={lacks("config:reveal")}
                  title="Show the value for 30 seconds; this is audited"
                  onClick={() => void show(key)}
                >
                  Reveal
                </Button>
              )}
              <Button look="bare" onClick={() => edit(key)}>
                Change
              </Button>
              {stored?.origin === "scope" ? null : (
                <Button look="bare" onClick={() => set({ [key]: null })}>
                  Unset
                </Button>
              )}
            </span>
          ),
        },
      ]}
    />
  );
}

function Value({
  draft,
  shown,
  length,
}: {
  draft: string | null | undefined;
  shown: string | undefined;
  length: number | undefined;
}) {
  if (draft === null) return <del class="bad">will be unset</del>;
  if (draft !== undefined) return <ins class="work">{`new value, ${many(draft.length, "character")}`}</ins>;
  if (shown !== undefined) return <code class="wraps">{shown}</code>;
  return (
    <span class="faint" title={`${many(length ?? 0, "character")}`}>
      ••••••••
    </span>
  );
}
