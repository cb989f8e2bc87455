import { listPats, type Pat, revokePat } from "../../observability/api/tokens.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { lacks, session } from "../data/session.ts";
import { Page } from "../frame/page.tsx";
import { Button } from "../parts/button.tsx";
import { ask } from "../parts/dialog.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { askToken } from "./access/token-form.tsx";
import { People } from "./access/people.tsx";

/** Who may use this plane: the viewer, people with roles, and tokens. */
export function Screen() {
  const loaded = useLoad("pats", (signal) => api.call(listPats, { signal }));
  return (
    <Page title="Access" command="berth pat list">
      <Me />
      <People />
      <section class="section">
        <header>
          <h2>Tokens</h2>
          <Button onClick={askToken}>Make a token…</Button>
        </header>
        <p class="small soft">
          A token cannot make another one: a command on the server does, which the button writes.
        </p>
        <Shown of={loaded} label="the tokens" scope="admin">
          {({ pats }) => <Tokens pats={pats} again={loaded.again} />}
        </Shown>
      </section>
    </Page>
  );
}

function Me() {
  const state = session.value;
  if (state.state !== "in") return null;
  const { id, name, scopes, apps, person, expires_at: until } = state.who;
  return (
    <section class="section">
      <h2>You</h2>
      <dl class="card facts inset">
        {person === undefined ? null : (
          <>
            <dt>Person</dt>
            <dd>{person}</dd>
          </>
        )}
        <dt>Token</dt>
        <dd>
          <code>{id}</code>
          {name === undefined || name === person ? "" : ` ${name}`}
        </dd>
        <dt>May do</dt>
        <dd>{scopes.join(", ")}</dd>
        <dt>Apps</dt>
        <dd>{apps.join(", ") || "all"}</dd>
        <dt>Ends</dt>
        <dd>{until === undefined ? "never" : <Ago at={until} />}</dd>
      </dl>
    </section>
  );
}

function Tokens({ pats, again }: { pats: readonly Pat[]; again: () => void }) {
  return (
    <Table
      label="Tokens"
      rows={pats}
      keyOf={({ id }) => id}
      columns={[
        { title: "Token", cell: ({ id, name }) => <span title={id}>{name ?? <code>{id}</code>}</span> },
        { title: "May do", cell: ({ scopes }) => scopes.join(", ") },
        { title: "Apps", cell: ({ apps }) => apps.join(", ") || "all" },
        { title: "From", cell: ({ cidr }) => cidr.join(", ") || "anywhere" },
        {
          title: "Last used",
          cell: ({ last_used_at: at, last_used_ip: ip }) =>
            at === undefined ? (
              <span class="faint">never</span>
            ) : (
              <>
                <Ago at={at} />
                {ip === undefined ? "" : ` from ${ip}`}
              </>
            ),
        },
        { title: "Ends", cell: ({ expires_at: at }) => (at === undefined ? "never" : <Ago at={at} />) },
        {
          title: "",
          right: true,
          cell: (pat) => (
            <Button look="bare" hindrance={lacks("admin")} onClick={() => askRevoke(pat, again)}>
              Revoke…
            </Button>
          ),
        },
      ]}
    />
  );
}

function askRevoke({ id, name }: Pat, again: () => void): void {
  const own = session.value.state === "in" && session.value.who.id === id;
  ask({
    title: `Revoke the token ${name ?? id}`,
    verb: "Revoke",
    danger: true,
    command: `berth pat revoke ${id}`,
    effects: [
      { text: "Requests with it are refused from now on, and its streams end", ends: true },
      ...(own ? [{ text: "It is your own: you are signed out", ends: true }] : []),
      { text: "What it did stays in the audit" },
    ],
    run: async () => {
      await api.call(revokePat, { params: { id } });
      again();
    },
  });
}
