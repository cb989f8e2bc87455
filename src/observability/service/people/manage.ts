import { isoTime } from "../../../base/pure/iso-time.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { ApiError } from "../../../base/wire/client.ts";
import { Failure, problemsFailure } from "../../../base/wire/failure.ts";
import { bodyReader } from "../../../base/wire/read-body.ts";
import { getIdentityUser } from "../../../identity/api/manage/users.ts";
import {
  type disablePeople,
  enablePeople,
  type listPeople,
  type Person as WirePerson,
  type removePerson,
  setPerson,
} from "../../api/people.ts";
import { personAddress } from "../../core/people/roles.ts";
import { pairProblems } from "../../core/tokens/request.ts";
import { globFault, globsMax } from "../../core/tokens/grant.ts";
import type { ObservabilityNouns } from "../../store/open-store.ts";
import type { Person, UiSession } from "../../store/records.ts";
import { auditNote } from "../audit.ts";
import type { ObservabilityContext } from "../context.ts";
import { prepareInstance, readSignIn } from "./instance.ts";
import type { Ender } from "./parts.ts";

const readEnable = bodyReader(enablePeople);
const readRole = bodyReader(setPerson);

interface By {
  actor: string;
}

/** People and their roles, as the operator manages them. A role is kept here: no one can change an own one. */
export interface ManagedPeople {
  list(): Promise<DataOf<typeof listPeople>>;
  /** Fails `invalid`, `not_found` for an unknown instance, and `conflict` for one that cannot be used. */
  enable(body: unknown, by: By): Promise<DataOf<typeof enablePeople>>;
  disable(by: By): Promise<DataOf<typeof disablePeople>>;
  /** Fails `invalid`, and `conflict` when there are too many people. */
  set(email: string, body: unknown, by: By): Promise<DataOf<typeof setPerson>>;
  /** Fails `not_found`. `by` is for the audit trail; without it the caller has put it there. */
  remove(email: string, by?: By): Promise<DataOf<typeof removePerson>>;
  /** Fails as `remove`. */
  endSessions(email: string, by?: By): Promise<DataOf<typeof removePerson>>;
}

export function createManagedPeople(context: ObservabilityContext, ender: Ender): ManagedPeople {
  const { store, clock, randomBytes, limits } = context;
  const note = ({ audit }: ObservabilityNouns, { actor }: By, [action, target]: [string, string]) =>
    audit.append(auditNote(clock.now(), { actor, action, target, ip: undefined }));
  const ofPerson = (email: string) => (nouns: ObservabilityNouns) => {
    const person = nouns.people.byEmail(addressOf(email));
    if (person !== undefined) return person;
    throw new Failure("not_found", `no person "${email.slice(0, 120)}": berth people list shows them`);
  };
  const change = async <T>(work: (nouns: ObservabilityNouns) => { ended: UiSession[]; data: T }): Promise<T> => {
    const { ended, data } = await store.write(work);
    ender.cut(ended);
    return data;
  };
  const endAll = (nouns: ObservabilityNouns, { id }: Person) => ender.mark(nouns, ({ person }) => person?.id === id);
  const add = (nouns: ObservabilityNouns, { actor, ...fields }: Pick<Person, "email" | "role" | "apps"> & By) => {
    if (nouns.people.list().length >= limits.people.max) {
      throw new Failure("conflict", `there are ${limits.people.max} people already: remove some first`);
    }
    const id = Buffer.from(randomBytes(9)).toString("base64url");
    const times = { createdAt: clock.now(), createdBy: actor, lastSignInAt: undefined };
    nouns.people.add({ id, ...fields, user: undefined, ...times });
  };
  return {
    async list() {
      const signIn = await readSignIn(context);
      const people = store.people.list().map((person) => wire(context, person));
      return { ...(signIn === undefined ? {} : { sign_in: signIn }), people };
    },
    async enable(body, by) {
      const prepared = await prepareInstance(context, readEnable(body), by.actor);
      return change((nouns) => {
        const isOther = nouns.people.instance() !== prepared.instance;
        nouns.people.setInstance(prepared.instance);
        note(nouns, by, ["PUT /people-sign-in", "/people-sign-in"]);
        return { ended: isOther ? ender.mark(nouns, () => true) : [], data: prepared };
      });
    },
    disable: (by) =>
      change((nouns) => {
        nouns.people.setInstance(undefined);
        const ended = ender.mark(nouns, () => true);
        note(nouns, by, ["DELETE /people-sign-in", "/people-sign-in"]);
        return { ended, data: { sessions_ended: ended.length } };
      }),
    async set(email, body, by) {
      const { role, apps = [] } = readRole(body);
      const address = addressOf(email);
      checkGlobs(apps);
      const problems = pairProblems("role", [role], apps);
      if (problems.length > 0) throw problemsFailure(problems);
      const account = await accountOf(context, address);
      return change((nouns) => {
        const before = nouns.people.byEmail(address);
        if (before === undefined) add(nouns, { email: address, role, apps, actor: by.actor });
        // The role is for the user who has this address now: a user of before who is gone is no longer the person.
        const user = before?.user === account ? account : undefined;
        const isSame = before?.role === role && JSON.stringify(before.apps) === JSON.stringify(apps);
        const stays = before === undefined || (isSame && user === before.user);
        const ended = stays ? [] : endAll(nouns, before);
        if (before !== undefined) nouns.people.change(before.id, { role, apps, user });
        note(nouns, by, ["PUT /people/:person", `/people/${address}`]);
        const person = wire({ ...context, store: nouns }, ofPerson(address)(nouns));
        return { ended, data: { ...person, has_account: account !== undefined, sessions_ended: ended.length } };
      });
    },
    remove: (email, by) =>
      change((nouns) => {
        const person = ofPerson(email)(nouns);
        const ended = endAll(nouns, person);
        nouns.people.remove(person.id);
        if (by !== undefined) note(nouns, by, ["DELETE /people/:person", `/people/${person.email}`]);
        return { ended, data: { email: person.email, sessions_ended: ended.length } };
      }),
    endSessions: (email, by) =>
      change((nouns) => {
        const person = ofPerson(email)(nouns);
        const ended = endAll(nouns, person);
        if (by !== undefined) note(nouns, by, ["DELETE /people/:person/sessions", `/people/${person.email}/sessions`]);
        return { ended, data: { email: person.email, sessions_ended: ended.length } };
      }),
  };
}

function addressOf(text: string): string {
  const address = personAddress(text);
  if (address !== undefined) return address;
  throw new Failure("invalid", `${JSON.stringify(text.slice(0, 120))} is not an email address such as ana@example.com`);
}

function checkGlobs(apps: readonly string[]): void {
  if (apps.length > globsMax) throw new Failure("invalid", `apps: more than ${globsMax} entries`);
  const problems = apps.flatMap((glob, index) => {
    const fault = globFault(glob);
    return fault === undefined ? [] : [{ path: `apps[${index}]`, message: `${JSON.stringify(glob)} ${fault}` }];
  });
  if (problems.length > 0) throw problemsFailure(problems);
}

/** The user to sign in as: a role for a mistyped address would silently let no one in. */
async function accountOf({ store, platform }: ObservabilityContext, email: string): Promise<string | undefined> {
  const instance = store.people.instance();
  if (instance === undefined) return undefined;
  try {
    const asked = { params: { user: email }, query: { instance } };
    return (await platform.as("observability").call(getIdentityUser, asked)).id;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

interface Reading {
  store: Pick<ObservabilityNouns, "sessions" | "tokens">;
  clock: Pick<ObservabilityContext["clock"], "now">;
}

function wire({ store, clock }: Reading, person: Person): WirePerson {
  const { email, role, apps, createdAt, createdBy, lastSignInAt } = person;
  const sessions = store.sessions.ofPeople(clock.now()).filter((session) => session.person?.id === person.id);
  return {
    ...{ email, role, apps: [...apps], created_at: isoTime(createdAt), created_by: createdBy },
    ...(lastSignInAt === undefined ? {} : { last_sign_in_at: isoTime(lastSignInAt) }),
    sessions: sessions.flatMap((session) => {
      const token = store.tokens.get(session.token);
      // Revoked by its token: it is over, whatever the time says.
      if (token === undefined || token.revokedAt !== undefined) return [];
      const { createdAt: startedAt, expiresAt, ip, agent } = session;
      return {
        ...{ id: session.token, token: session.token, ip, agent },
        ...{ started_at: isoTime(startedAt), expires_at: isoTime(expiresAt) },
        ...(token.lastUsedAt === undefined ? {} : { last_used_at: isoTime(token.lastUsedAt) }),
      };
    }),
  };
}
