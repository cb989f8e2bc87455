import type { ConfigKey } from "../../observability/api/settings.ts";
import { lacks } from "../data/session.ts";
import type { Draft } from "../text/config.ts";
import { many } from "../text/figures.ts";
import { Button } from "./button.tsx";
import { Empty } from "./notes.tsx";
import { Table } from "./table.tsx";

interface KeysProps {
  keys: readonly ConfigKey[];
  draft: Draft;
  shown: Readonly<Record<string, string>>;
  show: (key: string) => Promise<void>;
  copy: (key: string) => Promise<void>;
  edit: (key: string) => void;
  set: (more: Draft) => void;
}

interface Row {
  key: string;
  stored?: ConfigKey;
}

/** Keys of a config, those of the draft among them. */
export function Keys({ keys, draft, shown, show, copy, edit, set }: KeysProps) {
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
              {stored === undefined ? null : (
                <Button
                  look="bare"
                  hindrance={lacks("config:reveal")}
                  title="Copy the value without showing it; this is audited"
                  onClick={() => void copy(key)}
                >
                  Copy
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
