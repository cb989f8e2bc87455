import { type AddressHolder, decideAccount, isSameSource, provesAddress, saidAddress } from "../core/linking.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { Identity, User } from "../store/records.ts";
import { freePlaceholder, moveAddress, type Settle } from "./account-address.ts";
import { audit } from "./audit.ts";
import { endSessions } from "./sessions.ts";
import { emitUser, provedEvent } from "./user-events.ts";

type Settled = { user: User } | { refused: string; user?: User };

/**
 * The user that an account at a provider stands for: found, joined or made, by `core/identity/linking.ts`. Inside the
 * write of the sign-in, so that two first sign-ins at the same time make one user.
 */
export function settleAccount(nouns: IdentityNouns, settle: Settle): Settled {
  const { entry, provider, account } = settle;
  const { instance, settings } = entry;
  const { profile } = account;
  const known = nouns.identities.get(instance.seq, provider, profile.uid);
  const owner = known === undefined ? undefined : nouns.users.bySeq(known.user);
  const holder = profile.email === undefined ? undefined : nouns.users.byEmail(instance.seq, profile.email);
  const decision = decideAccount({
    profile,
    isKnown: owner !== undefined,
    holder: holder && holderOf(nouns, settle, holder),
    settings,
  });
  const existing = owner ?? holder;
  switch (decision.step) {
    case "known":
    case "link":
    case "take_over":
      if (existing === undefined) throw new Error(`step ${decision.step} without a user`);
      if (existing.bannedAt !== undefined) return { refused: "the user is banned", user: existing };
      if (decision.step === "take_over") {
        const type = provedEvent(nouns, existing);
        return { user: joined(nouns, settle, { user: takeOver(nouns, settle, existing), type }) };
      }
      if (decision.step === "link") return { user: joined(nouns, settle, { user: existing, type: "user.updated" }) };
      return { user: refreshed(nouns, settle, { user: existing, known }) };
    case "create":
    case "create_placeholder":
      return {
        user: joined(nouns, settle, {
          user: created(nouns, settle, decision.step === "create_placeholder"),
          type: "user.created",
        }),
      };
    case "refuse":
      return { refused: decision.why };
  }
}

function holderOf(nouns: IdentityNouns, { provider, account, signedInAs }: Settle, holder: User): AddressHolder {
  const { email, emailVerifiedAt, placeholder } = holder;
  const isStaying = (other: Identity) => emailVerifiedAt !== undefined || provesAddress(other, email);
  const staying = nouns.identities.list(holder.seq).filter(isStaying);
  return {
    emailVerifiedAt,
    placeholder,
    hasAccountThere: staying.some((other) => isSameSource(other, provider, account.profile)),
    isSignedInHere: signedInAs === holder.seq,
  };
}

function changing(
  { entry, account, now }: Settle,
  before?: Identity,
): Omit<Identity, "seq" | "id" | "instance" | "user" | "provider" | "uid" | "createdAt"> {
  const keep = entry.settings.store_provider_tokens;
  return {
    ...saidAddress(before, account.profile),
    accessToken: keep ? account.accessToken : undefined,
    refreshToken: keep ? account.refreshToken : undefined,
    tokenExpiresAt: keep ? account.expiresAt : undefined,
    updatedAt: now,
  };
}

/** A known account updates its user's name and picture (docs/contract/identity.md, 1.4), and the address that it proves. */
function refreshed(
  nouns: IdentityNouns,
  settle: Settle,
  { user, known }: { user: User; known: Identity | undefined },
): User {
  const moved = known === undefined ? user : moveAddress(nouns, settle, { user, known });
  if (known !== undefined) nouns.identities.update({ ...known, ...changing(settle, known) });
  const updated = withProfile(nouns, settle, moved);
  const { entry, now } = settle;
  if (updated !== user) emitUser(nouns, { entry, type: "user.updated", user: updated, now });
  return updated;
}

function withProfile(nouns: IdentityNouns, { account, now }: Settle, user: User): User {
  const { profile } = account;
  const fresh = { name: profile.name || user.name, avatarUrl: profile.avatarUrl ?? user.avatarUrl };
  if (fresh.name === user.name && fresh.avatarUrl === user.avatarUrl) return user;
  const updated: User = { ...user, ...fresh, updatedAt: now };
  nouns.users.update(updated);
  return updated;
}

/**
 * The address was never proved: the person who put a password, an account or a session on it may have waited for this
 * moment. All of it goes before the rightful owner comes in.
 */
function takeOver(nouns: IdentityNouns, { entry, provider, ip, now }: Settle, user: User): User {
  const { instance } = entry;
  const detail = {
    password_removed: user.passwordHash !== undefined,
    identities_removed: nouns.identities.removeUnproved(user.seq, user.email),
    sessions_revoked: endSessions(nouns, { instance, user, actor: "service", reason: "take_over", now }),
  };
  nouns.oneTime.clear(user.seq, "verify_email");
  nouns.oneTime.clear(user.seq, "reset_password");
  const proven: User = { ...user, passwordHash: undefined, emailVerifiedAt: now, updatedAt: now };
  nouns.users.update(proven);
  const { id: userId, email } = user;
  audit(nouns, { instance, actor: "user", action: "identity.take_over", userId, email, provider, ip, detail, now });
  return proven;
}

interface Joining {
  user: User;
  /** What webhooks hear, once the account is among the user's. */
  type: "user.created" | "user.updated";
}

function joined(nouns: IdentityNouns, settle: Settle, { user, type }: Joining): User {
  const { entry, provider, account, ip, now } = settle;
  const { instance } = entry;
  nouns.identities.add({
    id: crypto.randomUUID(),
    instance: instance.seq,
    user: user.seq,
    provider,
    uid: account.profile.uid,
    createdAt: now,
    ...changing(settle),
  });
  const { id: userId, email } = user;
  audit(nouns, { instance, actor: "user", action: "identity.link", userId, email, provider, ip, now });
  const updated = withProfile(nouns, settle, user);
  emitUser(nouns, { entry, type, user: updated, now });
  return updated;
}

function created(nouns: IdentityNouns, settle: Settle, needsPlaceholder: boolean): User {
  const { entry, provider, account, ip, now } = settle;
  const { instance } = entry;
  const { profile } = account;
  const email = needsPlaceholder || profile.email === undefined ? freePlaceholder(nouns, settle) : profile.email;
  const user = nouns.users.add({
    id: crypto.randomUUID(),
    instance: instance.seq,
    email,
    name: profile.name,
    avatarUrl: profile.avatarUrl,
    emailVerifiedAt: needsPlaceholder ? undefined : now,
    placeholder: needsPlaceholder,
    passwordHash: undefined,
    bannedAt: undefined,
    createdAt: now,
    updatedAt: now,
  });
  audit(nouns, { instance, actor: "user", action: "user.create", userId: user.id, email, provider, ip, now });
  return user;
}
