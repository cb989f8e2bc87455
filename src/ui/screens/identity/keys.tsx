import { useState } from "preact/hooks";
import type { IdentityInstance } from "../../../identity/api/manage/instances.ts";
import type { IdentityKey } from "../../../identity/api/manage/keys.ts";
import { createPlaneKey, deletePlaneKey, listPlaneKeys } from "../../../observability/api/identity.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Note } from "../../parts/notes.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";

/** What the servers of an app call the service with. A value is shown once, in the answer that made it. */
export function Keys({ instance: { id: instance } }: { instance: IdentityInstance }) {
  const [made, setMade] = useState<string>();
  const loaded = useLoad(`keys ${instance}`, (signal) => api.call(listPlaneKeys, { params: { instance }, signal }));
  const create = () =>
    ask({
      title: "New API key",
      verb: "Create",
      command: `berth identity key create --instance ${instance}`,
      effects: [
        { text: "Servers with it read users and sessions of this instance, and end sessions" },
        { text: "It never signs tokens. Its value is shown once" },
      ],
      run: async () => {
        const { secret_key: value } = await api.call(createPlaneKey, { params: { instance } });
        setMade(value);
        loaded.again();
      },
    });
  return (
    <section class="section">
      <div class="row between">
        <p class="small soft">
          {"To change the key that signs, in two steps without a gap: "}
          <code>{`berth identity key rotate --instance ${instance}`}</code>
        </p>
        <Button hindrance={lacks("admin")} onClick={create}>
          New API key…
        </Button>
      </div>
      {made === undefined ? null : (
        <Note tone="warn">
          {"Store it now, it is not shown again: "}
          <code>{made}</code>{" "}
          <Button look="bare" onClick={() => setMade(undefined)}>
            Done
          </Button>
        </Note>
      )}
      <Shown of={loaded} label="the keys">
        {({ publishable_key: publishable, keys }) => (
          <>
            <p>
              {"Publishable key, for browsers: "}
              <code>{publishable}</code>
            </p>
            <KeyTable keys={keys} instance={instance} again={loaded.again} />
          </>
        )}
      </Shown>
    </section>
  );
}

function KeyTable({ keys, instance, again }: { keys: readonly IdentityKey[]; instance: string; again: () => void }) {
  return (
    <Table
      label="Keys"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        { title: "Key", cell: ({ prefix, id }) => <code title={id}>{`${prefix}…`}</code> },
        { title: "For", cell: ({ use }) => (use === "secret" ? "API and signing" : "API") },
        { title: "State", cell: ({ state }) => state },
        { title: "Made", cell: ({ created_at: at }) => <Ago at={at} /> },
        { title: "Ends", cell: ({ expires_at: at }) => (at === undefined ? "never" : <Ago at={at} />) },
        {
          title: "",
          right: true,
          cell: (key) =>
            key.state === "signing" ? null : (
              <Button look="bare" hindrance={lacks("admin")} onClick={() => askRevoke(instance, key, again)}>
                Revoke…
              </Button>
            ),
        },
      ]}
    />
  );
}

function askRevoke(instance: string, { id, prefix }: IdentityKey, again: () => void): void {
  ask({
    title: `Revoke the key ${prefix}…`,
    verb: "Revoke",
    danger: true,
    command: `berth identity key delete ${id} --instance ${instance}`,
    effects: [{ text: "Every server that uses it gets 401 from now on", ends: true }],
    run: async () => {
      await api.call(deletePlaneKey, { params: { instance, key: id } });
      again();
    },
  });
}
