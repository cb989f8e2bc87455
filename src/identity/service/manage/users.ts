import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { bodyReader } from "../../../base/wire/read-body.ts";
import {
  type banIdentityUser,
  createIdentityUser,
  type deleteIdentityUser,
  type IdentityUser,
  type listIdentityUsers,
  setIdentityPassword,
} from "../../api/manage/users.ts";
import { isPlaceholder, normaliseEmail } from "../../core/email.ts";
import { passwordProblem } from "../../core/password-rules.ts";
import type { IdentityNouns } from "../../store/open-store.ts";
import type { Instance, User } from "../../store/records.ts";
import { audit } from "../audit.ts";
import { effectiveSettings } from "../directory.ts";
import { emit } from "../events.ts";
import { resourceOfUser } from "../resources.ts";
import type { Searches } from "../search.ts";
import { endSessions } from "../sessions.ts";
import { isUnannounced } from "../user-events.ts";
import { removeUser } from "../users.ts";
import { type By, type ManageContext, type Query, requireInstance } from "./context.ts";
import { findResources } from "./found.ts";

const readNew = bodyReader(createIdentityUser);
const readPassword = bodyReader(setIdentityPassword);

/** A user by UUID, or by address inside an instance. */
interface UserReference {
  instance: string | undefined;
  user: string;
}

type Banned = DataOf<typeof banIdentityUser>;

/** Users as the operator manages them. */
export interface ManagedUsers {
  /** Newest first, or what a query finds. */
  list(instance: string | undefined, query: Query): Promise<DataOf<typeof listIdentityUsers>>;
  get(reference: UserReference): IdentityUser;
  /** Fails `conflict` where the address is taken. */
  create(instance: string | undefined, body: unknown, by: By): Promise<IdentityUser>;
  /** Ends all sessions in the same transaction. */
  ban(reference: UserReference, by: By): Promise<Banned>;
  unban(reference: UserReference, by: By): Promise<IdentityUser>;
  /** The address counts as proven. Fails `conflict` for one that the service made; a second time changes nothing. */
  verify(reference: UserReference, by: By): Promise<IdentityUser>;
  /** Ends all sessions; without a password it takes the present one away. */
  setPassword(reference: UserReference, body: unknown, by: By): Promise<Banned>;
  remove(reference: UserReference, by: By): Promise<DataOf<typeof deleteIdentityUser>>;
}

export interface ManagedUsersParts {
  hashPassword: (password: string) => Promise<string>;
  search: Pick<Searches, "users">;
}

export function createManagedUsers(context: ManageContext, parts: ManagedUsersParts): ManagedUsers {
  const { store } = context;
  const change = changer(context);
  return {
    async list(id, query) {
      const instance = requireInstance(context, id);
      const { rows, next } =
        query.query === undefined ? page(context, instance, query) : await search(context, parts, { instance, query });
      return { users: rows.map((user) => wireUser(store, user, instance)), next };
    },
    get(reference) {
      const { user, instance } = find(context, store, reference);
      return wireUser(store, user, instance);
    },
    create: (id, body, by) => createUser(context, parts, { id, body, by }),
    ban: (reference, { actor }) => change(reference, (found) => banUser(found, actor)),
    unban: (reference, { actor }) => change(reference, (found) => unbanUser(found, actor)),
    verify: (reference, { actor }) => change(reference, (found) => verifyUser(found, actor)),
    setPassword: (reference, body, by) => setPassword(context, parts, { reference, body, by }),
    remove: (reference, { actor }) =>
      change(reference, ({ user, instance, nouns, now }) => {
        removeUser(nouns, { instance, user, actor, now });
        return { id: user.id, deleted: true as const };
      }),
  };
}

/** A user inside the write that changes it. */
interface Changing extends Found {
  nouns: IdentityNouns;
  now: number;
}

function changer(context: ManageContext) {
  return <T>(reference: UserReference, work: (found: Changing) => T): Promise<T> =>
    context.store.write((nouns) => work({ ...find(context, nouns, reference), nouns, now: context.clock.now() }));
}

async function search(
  context: ManageContext,
  parts: ManagedUsersParts,
  { instance, query }: { instance: Instance; query: Query },
): Promise<{ rows: User[]; next: string | undefined }> {
  const { resources, next } = await findResources(context, parts.search.users, { instance, query });
  // Users who were deleted since the search began are left out.
  return { rows: resources.flatMap(({ id }) => context.store.users.get(instance.seq, id) ?? []), next };
}

async function createUser(
  context: ManageContext,
  { hashPassword }: ManagedUsersParts,
  { id, body, by: { actor } }: { id: string | undefined; body: unknown; by: By },
): Promise<IdentityUser> {
  const fields = readNew(body);
  const { email: address, password } = fields;
  const checked = normaliseEmail(address) ?? "";
  checkPassword(context, { instance: requireInstance(context, id), email: checked, password });
  const passwordHash = fields.password === undefined ? undefined : await hashPassword(fields.password);
  return context.store.write((nouns) => {
    const instance = requireInstance(context, id);
    const now = context.clock.now();
    const email = newAddress(nouns, instance, fields.email);
    const user = nouns.users.add({
      id: crypto.randomUUID(),
      instance: instance.seq,
      email,
      name: fields.name?.trim() || email.slice(0, email.lastIndexOf("@")),
      avatarUrl: avatarOf(fields.avatar_url),
      emailVerifiedAt: fields.email_verified === false ? undefined : now,
      placeholder: false,
      passwordHash,
      bannedAt: undefined,
      createdAt: now,
      updatedAt: now,
    });
    tell(nouns, { instance, user, actor, action: "user.create", type: "user.created", now });
    return wireUser(nouns, user, instance);
  });
}

function banUser({ user, instance, nouns, now }: Changing, actor: string): Banned {
  announce(nouns, { user, instance, now });
  const banned = { ...user, bannedAt: user.bannedAt ?? now, updatedAt: now };
  nouns.users.update(banned);
  tell(nouns, { instance, user: banned, actor, action: "user.ban", type: "user.banned", now });
  const ended = endSessions(nouns, { instance, user: banned, actor, reason: "ban", now });
  return { ...wireUser(nouns, banned, instance), sessions_revoked: ended };
}

function unbanUser({ user, instance, nouns, now }: Changing, actor: string): IdentityUser {
  announce(nouns, { user, instance, now });
  const free = { ...user, bannedAt: undefined, updatedAt: now };
  nouns.users.update(free);
  tell(nouns, { instance, user: free, actor, action: "user.unban", type: "user.unbanned", now });
  return wireUser(nouns, free, instance);
}

function verifyUser({ user, instance, nouns, now }: Changing, actor: string): IdentityUser {
  if (user.placeholder) throw new Failure("conflict", `${user.email} was made by the service: it has no mailbox`);
  if (user.emailVerifiedAt !== undefined) return wireUser(nouns, user, instance);
  announce(nouns, { user, instance, now });
  const proven = { ...user, emailVerifiedAt: now, updatedAt: now };
  nouns.users.update(proven);
  tell(nouns, { instance, user: proven, actor, action: "user.verify", type: "user.updated", now });
  return wireUser(nouns, proven, instance);
}

async function setPassword(
  context: ManageContext,
  { hashPassword }: ManagedUsersParts,
  { reference, body, by: { actor } }: { reference: UserReference; body: unknown; by: By },
): Promise<Banned> {
  const { password } = readPassword(body);
  const known = find(context, context.store, reference);
  checkPassword(context, { instance: known.instance, email: known.user.email, password });
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  return changer(context)(reference, ({ user, instance, nouns, now }) => {
    announce(nouns, { user, instance, now });
    const changed = { ...user, passwordHash, updatedAt: now };
    nouns.users.update(changed);
    // A link that was mailed before must not undo this.
    nouns.oneTime.clear(user.seq, "reset_password");
    tell(nouns, { instance, user: changed, actor, action: "user.password", type: "user.updated", now });
    const ended = endSessions(nouns, { instance, user: changed, actor, reason: "password", now });
    return { ...wireUser(nouns, changed, instance), sessions_revoked: ended };
  });
}

interface Found {
  user: User;
  instance: Instance;
}

/** Fails `not_found`, and `invalid` for an address without an instance. */
export function find(context: ManageContext, nouns: IdentityNouns, { instance: id, user: text }: UserReference): Found {
  const within = id === undefined ? undefined : requireInstance(context, id);
  const user = text.includes("@") ? byAddress(nouns, within, text) : nouns.users.find(text.toLowerCase());
  const instance = user === undefined ? undefined : nouns.instances.bySeq(user.instance);
  if (user === undefined || instance === undefined || (within !== undefined && within.seq !== user.instance)) {
    throw new Failure("not_found", `no user "${text.slice(0, 80)}": berth identity user list shows them`);
  }
  return { user, instance };
}

function byAddress(nouns: IdentityNouns, instance: Instance | undefined, text: string): User | undefined {
  if (instance === undefined) throw new Failure("invalid", "say the instance of an address, or give the user's id");
  const email = normaliseEmail(text);
  return email === undefined ? undefined : nouns.users.byEmail(instance.seq, email);
}

function page({ store, cursors }: ManageContext, { seq }: Instance, { limit, cursor }: Query) {
  const place = { instance: seq, list: "users" } as const;
  const [before] = cursors.read(place, cursor, 1) ?? [];
  const rows = store.users.list(seq, { limit, ...(before === undefined ? {} : { before }) });
  const last = rows.at(-1);
  return { rows, next: last === undefined || rows.length < limit ? undefined : cursors.write(place, [last.seq]) };
}

function checkPassword(
  { limits }: ManageContext,
  { instance, email, password }: { instance: Instance; email: string; password: string | undefined },
): void {
  if (password === undefined) return;
  const { passwordBytesMax: bytesMax } = limits.signIn;
  const lengthMin = effectiveSettings(instance).min_password_length;
  const problem = passwordProblem({ password, email, lengthMin, bytesMax });
  const texts = {
    password_short: `needs at least ${lengthMin} characters`,
    password_long: `is longer than ${bytesMax} bytes`,
    password_email: "is the address of the user: choose another one",
    password_common: "is one of those that are tried first: choose another one",
  };
  if (problem !== undefined) throw new Failure("invalid", `password: ${texts[problem]}`);
}

function newAddress(nouns: IdentityNouns, instance: Instance, text: string): string {
  const email = normaliseEmail(text);
  if (email === undefined) throw new Failure("invalid", "email: not a valid email address");
  const { placeholder_domain: reserved } = effectiveSettings(instance);
  if (isPlaceholder(email, reserved)) {
    throw new Failure("invalid", `email: ${reserved} is for addresses that the service makes`);
  }
  const holder = nouns.users.byEmail(instance.seq, email);
  if (holder === undefined) return email;
  throw new Failure("conflict", `${email} is user ${holder.id} of this instance`);
}

function avatarOf(url: string | undefined): string | undefined {
  if (url === undefined || url === "") return undefined;
  if (/^https?:\/\/[^\s\\]+$/.test(url)) return url;
  throw new Failure("invalid", "avatar_url: not an http or https address");
}

interface News {
  instance: Instance;
  user: User;
  actor: string;
  action: string;
  type: "user.created" | "user.updated" | "user.banned" | "user.unbanned";
  now: number;
}

/** Before an operator changes a user whom no webhook has heard of: what has been done to it makes it one of the users. */
function announce(nouns: IdentityNouns, { user, instance, now }: Omit<Changing, "nouns">): void {
  if (!isUnannounced(nouns, user)) return;
  nouns.oneTime.clear(user.seq, "verify_email");
  emit(nouns, { instance, type: "user.created", data: { ...resourceOfUser(user, []) }, now });
}

function tell(nouns: IdentityNouns, { instance, user, actor, action, type, now }: News): void {
  audit(nouns, { instance, actor, action, userId: user.id, email: user.email, now });
  emit(nouns, { instance, type, data: { ...resourceOfUser(user, nouns.users.providers(user.seq)) }, now });
}

/** A user as the operator sees it. */
export function wireUser(nouns: Pick<IdentityNouns, "users">, user: User, instance: Instance): IdentityUser {
  const providers = nouns.users.providers(user.seq);
  return {
    id: user.id,
    instance: instance.id,
    email: user.email,
    name: user.name,
    avatar_url: user.avatarUrl ?? null,
    email_verified: user.emailVerifiedAt !== undefined,
    placeholder: user.placeholder,
    providers: user.passwordHash === undefined ? providers : [...providers, "password"],
    ...(user.bannedAt === undefined ? {} : { banned_at: isoTime(user.bannedAt) }),
    created_at: isoTime(user.createdAt),
    updated_at: isoTime(user.updatedAt),
  };
}
