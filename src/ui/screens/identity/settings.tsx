import { signal } from "@preact/signals";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import {
  type getPlaneInstance,
  listPlaneSettings,
  type SettingForm,
  updatePlaneInstance,
} from "../../../observability/api/identity.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Table } from "../../parts/table.tsx";
import { settingText, settingValue } from "../../text/settings.ts";

type Instance = DataOf<typeof getPlaneInstance>;

/** Every setting of an instance; what differs from its default is marked. */
export function Settings({ instance, again }: { instance: Instance; again: () => void }) {
  const loaded = useLoad("settings", (signal) => api.call(listPlaneSettings, { signal }));
  return (
    <Shown of={loaded} label="the settings">
      {({ settings }) => <SettingTable forms={settings} instance={instance} again={again} />}
    </Shown>
  );
}

interface TableProps {
  forms: readonly SettingForm[];
  instance: Instance;
  again: () => void;
}

function SettingTable({ forms, instance, again }: TableProps) {
  return (
    <Table
      label="Settings"
      rows={forms}
      keyOf={({ name }) => name}
      columns={[
        { title: "Setting", cell: ({ name, help }) => <code title={help}>{name}</code> },
        { title: "Value", cell: ({ name }) => <Value instance={instance} name={name} /> },
        { title: "What it is", cell: ({ help }) => <span class="soft">{help}</span> },
        {
          title: "",
          right: true,
          cell: (form) => (
            <Button look="bare" hindrance={lacks("admin")} onClick={() => askChange(instance, form, again)}>
              Change…
            </Button>
          ),
        },
      ]}
    />
  );
}

function Value({ instance: { settings, effective }, name }: { instance: Instance; name: string }) {
  const text = settingText(storedIn(effective, name)).replaceAll("\n", ", ");
  if (!Object.hasOwn(settings, name)) return <span class="faint">{text || "none"}</span>;
  return <strong class="wrap">{text || "none"}</strong>;
}

/** The names come from the server, which may be newer than this page. */
function storedIn(effective: Instance["effective"], name: string): unknown {
  return (effective as Record<string, unknown>)[name];
}

const written = signal("");

function askChange({ id, effective }: Instance, form: SettingForm, again: () => void): void {
  const { name, help } = form;
  written.value = settingText(storedIn(effective, name));
  ask({
    title: `Change ${name}`,
    verb: "Store",
    command: `berth identity instance set ${id} ${name}=VALUE`,
    effects: [
      { text: help },
      { text: "It applies at once, to everyone who signs in here. Left empty, the default comes back" },
      ...(name === "algorithm" ? [{ text: "Every token that was issued before becomes invalid", ends: true }] : []),
    ],
    body: () => <Input form={form} />,
    run: async () => {
      const settings = { [name]: settingValue(form, written.value) };
      await api.call(updatePlaneInstance, { params: { instance: id }, body: { settings } });
      again();
    },
  });
}

function Input({ form: { name, choices, kind } }: { form: SettingForm }) {
  const isList = kind === "list";
  const set = (event: { currentTarget: { value: string } }) => {
    written.value = event.currentTarget.value;
  };
  return (
    <div class="field">
      <label for="setting">{isList ? `${name}, one per line` : name}</label>
      {choices !== undefined ? (
        <select id="setting" class="input" value={written.value} onChange={set}>
          {choices.map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
      ) : isList ? (
        <textarea id="setting" class="input mono" rows={5} value={written.value} onInput={set} />
      ) : (
        <input id="setting" class="input" autocomplete="off" value={written.value} onInput={set} />
      )}
    </div>
  );
}
