import { readableEmail } from "../../../base/pure/domain-names.ts";
import {
  endPersonSessions,
  listPeople,
  type PeopleSignIn,
  type Person,
  removePerson,
} from "../../../observability/api/people.ts";
import { revokePat } from "../../../observability/api/tokens.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { lacks, session } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ask, type Effect } from "../../parts/dialog.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { agentText } from "../../text/agents.ts";

/** People who sign in through the identity service: roles, last sign-ins, and the browsers that are signed in. */
export function People() {
  const loaded = useLoad("people", (signal) => api.call(listPeople, { signal }));
  return (
    <section class="section">
      <h2>People</h2>
      <Shown of={loaded} label="the people" scope="admin">
        {({ sign_in: signIn, people }) => (
          <>
            <How signIn={signIn} />
            {people.length === 0 ? (
              <Empty title="No person has a role yet">
                <p>On the server, this gives one:</p>
                <code>berth people set ana@example.com admin</code>
              </Empty>
            ) : (
              <>
                <Roles people={people} again={loaded.again} />
                <Sessions people={people} again={loaded.again} />
              </>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}

function How({ signIn }: { signIn: PeopleSignIn | undefined }) {
  if (signIn === undefined) {
    return (
      <p class="small soft">
        {"The sign-in of people is off. On the server, this turns it on: "}
        <code>berth people enable --url https://berth.example.com</code>
      </p>
    );
  }
  return (
    <p class="small soft">
      {`People sign in with their ${signIn.title} account (${signIn.instance}). Roles are given on the server: `}
      <code>berth people set EMAIL viewer|operator|admin</code>
    </p>
  );
}

interface PeopleProps {
  people: readonly Person[];
  again: () => void;
}

function Roles({ people, again }: PeopleProps) {
  return (
    <Table
      label="People"
      rows={people}
      keyOf={({ email }) => email}
      columns={[
        { title: "Person", cell: ({ email }) => readableEmail(email) },
        { title: "Role", cell: ({ role }) => role },
        { title: "Apps", cell: ({ apps }) => apps.join(", ") || "all" },
        { title: "Last sign-in", cell: ({ last_sign_in_at: at }) => (at === undefined ? <Never /> : <Ago at={at} />) },
        { title: "Signed in", right: true, cell: ({ sessions }) => sessions.length },
        {
          title: "",
          right: true,
          cell: (person) => (
            <span class="row end">
              <Button
                look="bare"
                hindrance={lacks("admin")}
                disabled={person.sessions.length === 0}
                onClick={() => askSignOut(person, again)}
              >
                Sign out…
              </Button>
              <Button look="bare" hindrance={lacks("admin")} onClick={() => askRemove(person, again)}>
                Remove…
              </Button>
            </span>
          ),
        },
      ]}
    />
  );
}

function Sessions({ people, again }: PeopleProps) {
  const rows = people.flatMap(({ email, sessions }) => sessions.map((one) => ({ email, ...one })));
  if (rows.length === 0) return null;
  return (
    <>
      <h2>Signed in now</h2>
      <Table
        label="Sessions of people"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { title: "Person", cell: ({ email, id }) => `${readableEmail(email)}${isOwn(id) ? " (this browser)" : ""}` },
          { title: "Browser", cell: ({ agent }) => <span title={agent}>{agentText(agent)}</span> },
          { title: "From", cell: ({ ip }) => ip },
          { title: "Since", cell: ({ started_at: at }) => <Ago at={at} /> },
          { title: "Last used", cell: ({ last_used_at: at }) => (at === undefined ? <Never /> : <Ago at={at} />) },
          {
            title: "",
            right: true,
            cell: ({ email, token, id }) => (
              <Button
                look="bare"
                hindrance={lacks("admin")}
                onClick={() => askEnd({ email, token, own: isOwn(id) }, again)}
              >
                End…
              </Button>
            ),
          },
        ]}
      />
    </>
  );
}

function Never() {
  return <span class="faint">never</span>;
}

function isOwn(id: string): boolean {
  return session.value.state === "in" && session.value.who.id === id;
}

const self: Effect = { text: "This is you: you are signed out", ends: true };
const selfOf = ({ sessions }: Person) => (sessions.some(({ id }) => isOwn(id)) ? [self] : []);

function askSignOut(person: Person, again: () => void): void {
  const { email, sessions } = person;
  ask({
    title: `Sign out ${readableEmail(email)}`,
    verb: "Sign out",
    danger: true,
    command: `berth people sign-out ${email}`,
    effects: [
      { text: `${sessions.length === 1 ? "1 session ends" : `${sessions.length} sessions end`} at once`, ends: true },
      ...selfOf(person),
      { text: "The role stays: the person can sign in again" },
    ],
    run: async () => {
      await api.call(endPersonSessions, { params: { person: email } });
      again();
    },
  });
}

function askRemove(person: Person, again: () => void): void {
  const { email, role } = person;
  ask({
    title: `Remove ${email}`,
    verb: "Remove",
    danger: true,
    command: `berth people remove ${email}`,
    effects: [
      { text: `The role ${role} is taken, and every session ends at once`, ends: true },
      ...selfOf(person),
      { text: "The account at the identity service stays" },
      { text: "Only a command on the server gives the role again" },
    ],
    run: async () => {
      await api.call(removePerson, { params: { person: email } });
      again();
    },
  });
}

function askEnd({ email, token, own }: { email: string; token: string; own: boolean }, again: () => void): void {
  ask({
    title: `End a session of ${email}`,
    verb: "End",
    danger: true,
    command: `berth pat revoke ${token}`,
    effects: [
      { text: "This browser is signed out at once, and its streams end", ends: true },
      ...(own ? [self] : []),
      { text: "Other sessions and the role stay" },
    ],
    run: async () => {
      await api.call(revokePat, { params: { id: token } });
      again();
    },
  });
}
