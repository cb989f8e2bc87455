import { readableEmail } from "../../../base/pure/domain-names.ts";
import type { IdentityInstance } from "../../../identity/api/manage/instances.ts";
import type { IdentitySession } from "../../../identity/api/manage/sessions.ts";
import { endPlaneUserSessions, listPlaneSessions, revokePlaneSession } from "../../../observability/api/identity.ts";
import { api } from "../../data/api.ts";
import { query } from "../../browser/router.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { agentText } from "../../text/agents.ts";
import { searchOf } from "../../text/user-search.ts";
import { Search, useRows } from "./parts.tsx";

/** Where users are signed in, or one of them. */
export function Sessions({ instance: { id: instance } }: { instance: IdentityInstance }) {
  const user = query.value.get("user") ?? undefined;
  const typed = query.value.get("q") ?? "";
  const { loaded, more } = useRows(`sessions ${instance} ${user ?? ""} ${typed}`, (limit, signal) => {
    const which = user === undefined ? { query: searchOf(typed, "email") } : { user };
    const asked = { ...which, limit };
    return api.call(listPlaneSessions, { params: { instance }, query: asked, signal });
  });
  return (
    <section class="section">
      {user === undefined ? (
        <Search label="Search sessions" hint="ana, or provider:github ip_address:10.0.*" />
      ) : (
        <OfUser instance={instance} user={user} sessions={loaded.data?.sessions ?? []} again={loaded.again} />
      )}
      <Shown of={loaded} label="the sessions" scope="admin">
        {({ sessions }) =>
          sessions.length === 0 ? (
            <Empty title={user === undefined ? "No session" : "This user is signed in nowhere"} />
          ) : (
            <>
              <SessionTable sessions={sessions} instance={instance} again={loaded.again} />
              {more}
            </>
          )
        }
      </Shown>
    </section>
  );
}

interface ListProps {
  instance: string;
  sessions: readonly IdentitySession[];
  again: () => void;
}

function OfUser({ instance, user, sessions, again }: ListProps & { user: string }) {
  const email = readableEmail(sessions[0]?.email ?? user);
  const count = sessions.length;
  return (
    <div class="row between">
      <p>
        {`Active sessions of ${email}. `}
        <a href={`/identity/${instance}/sessions`}>All sessions</a>
      </p>
      <Button
        look="danger"
        disabled={count === 0}
        onClick={() =>
          ask({
            title: `End all sessions of ${email}`,
            verb: "End all",
            danger: true,
            command: `berth identity session list --instance ${instance} --user ${user}`,
            effects: [
              { text: `${count === 1 ? "1 session ends" : `${count} sessions end`} at once`, ends: true },
              { text: "The user can sign in again" },
            ],
            run: async () => {
              await api.call(endPlaneUserSessions, { params: { instance, user } });
              again();
            },
          })
        }
      >
        End all…
      </Button>
    </div>
  );
}

function SessionTable({ instance, sessions, again }: ListProps) {
  return (
    <Table
      label="Sessions"
      rows={sessions}
      keyOf={({ session_id: id }) => id}
      columns={[
        {
          title: "User",
          cell: ({ email, user_id: user }) => (
            <a href={`/identity/${instance}/sessions?user=${user}`}>{readableEmail(email)}</a>
          ),
        },
        { title: "State", cell: (one) => <SessionState session={one} /> },
        { title: "With", cell: ({ provider }) => provider },
        { title: "Browser", cell: ({ user_agent: agent }) => <span title={agent}>{agentText(agent)}</span> },
        { title: "From", cell: ({ ip_address: ip }) => ip },
        { title: "Last sign-in", cell: ({ last_signin_at: at }) => <Ago at={at} /> },
        {
          title: "",
          right: true,
          cell: (one) =>
            one.active ? (
              <Button look="bare" onClick={() => askEnd(instance, one, again)}>
                End…
              </Button>
            ) : null,
        },
      ]}
    />
  );
}

function SessionState({ session: { active, revoke_reason: reason } }: { session: IdentitySession }) {
  return active ? (
    <State tone="good" text="active" />
  ) : (
    <State tone="idle" text={`ended${reason === undefined ? "" : `: ${reason}`}`} />
  );
}

function askEnd(instance: string, { session_id: session, email }: IdentitySession, again: () => void): void {
  ask({
    title: `End a session of ${readableEmail(email)}`,
    verb: "End",
    danger: true,
    command: `berth identity session revoke ${session} --instance ${instance}`,
    effects: [
      { text: "It cannot be prolonged, and verifications say that it was revoked", ends: true },
      { text: "Other sessions stay; the user can sign in again" },
    ],
    run: async () => {
      await api.call(revokePlaneSession, { params: { instance, session } });
      again();
    },
  });
}
