import { readableEmail } from "../../../base/pure/domain-names.ts";
import type { IdentityInstance } from "../../../identity/api/manage/instances.ts";
import type { IdentityUser } from "../../../identity/api/manage/users.ts";
import { listPlaneUsers } from "../../../observability/api/identity.ts";
import { api } from "../../data/api.ts";
import { lacks } from "../../data/session.ts";
import { query } from "../../browser/router.ts";
import { Button } from "../../parts/button.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { searchOf } from "../../text/user-search.ts";
import { Search, useRows } from "./parts.tsx";
import { askBan, askCreate, askDelete, askPassword, askUnban, askVerify } from "./user-actions.tsx";

/** The users of an instance, and what an operator does for them. */
export function Users({ instance: { id: instance } }: { instance: IdentityInstance }) {
  const typed = query.value.get("q") ?? "";
  const { loaded, more } = useRows(`users ${instance} ${typed}`, (limit, signal) => {
    const asked = { query: searchOf(typed, "email"), limit };
    return api.call(listPlaneUsers, { params: { instance }, query: asked, signal });
  });
  return (
    <section class="section">
      <div class="row between">
        <Search label="Search users" hint="ana, or name:*silva* created_at>2026-01-01" />
        <Button hindrance={lacks("admin")} onClick={() => askCreate(instance, loaded.again)}>
          New user…
        </Button>
      </div>
      <Shown of={loaded} label="the users" scope="admin">
        {({ users }) =>
          users.length === 0 ? (
            <Empty title={typed === "" ? "No user yet" : "No user matches"} />
          ) : (
            <>
              <UserTable users={users} instance={instance} again={loaded.again} />
              {more}
            </>
          )
        }
      </Shown>
    </section>
  );
}

interface TableProps {
  users: readonly IdentityUser[];
  instance: string;
  again: () => void;
}

function UserTable({ users, instance, again }: TableProps) {
  return (
    <Table
      label="Users"
      rows={users}
      keyOf={({ id }) => id}
      columns={[
        { title: "Address", cell: ({ email, id }) => <span title={id}>{readableEmail(email)}</span> },
        { title: "Name", cell: ({ name }) => name },
        { title: "State", cell: (user) => <UserState user={user} /> },
        { title: "Signs in with", cell: ({ providers }) => providers.join(", ") || <span class="faint">nothing</span> },
        { title: "Since", cell: ({ created_at: at }) => <Ago at={at} /> },
        {
          title: "",
          right: true,
          cell: (user) => (
            <span class="row end">
              <a href={`/identity/${instance}/sessions?user=${user.id}`}>Sessions</a>
              {user.email_verified || user.placeholder ? null : (
                <Button look="bare" onClick={() => askVerify(user, again)}>
                  Verify…
                </Button>
              )}
              <Button look="bare" onClick={() => askPassword(user, again)}>
                Password…
              </Button>
              {user.banned_at === undefined ? (
                <Button look="bare" onClick={() => askBan(user, again)}>
                  Ban…
                </Button>
              ) : (
                <Button look="bare" onClick={() => askUnban(user, again)}>
                  Unban…
                </Button>
              )}
              <Button look="bare" onClick={() => askDelete(user, again)}>
                Delete…
              </Button>
            </span>
          ),
        },
      ]}
    />
  );
}

function UserState({ user: { banned_at: banned, email_verified: verified, placeholder } }: { user: IdentityUser }) {
  if (banned !== undefined) return <State tone="bad" text="banned" title={`since ${banned}`} />;
  if (placeholder) return <State tone="idle" text="no address" title="The provider sent no address" />;
  return verified ? <State tone="good" text="verified" /> : <State tone="warn" text="not verified" />;
}
