import type { ImportResult } from "../../api/manage/import.ts";
import { isPlaceholder, normaliseEmail } from "../../core/email.ts";
import { defaultSettings } from "../../api/settings.ts";
import { parseUserLine, type UserLine } from "../../core/user-line.ts";
import type { IdentityNouns } from "../../store/open-store.ts";
import type { Instance, User } from "../../store/records.ts";
import { audit } from "../audit.ts";
import { type ManageContext, requireInstance } from "./context.ts";

export interface ImportRequest {
  /** One JSON object in each line. */
  text: string;
  /** Users that are there already are changed; else they are left as they are. */
  update: boolean;
  actor: string;
}

/** Lines per transaction: each holds up every sign-in for as long as it takes. */
const linesAtOnce = 2_000;

type Outcome = "created" | "updated" | "skipped" | { error: string } | Pair;

/** The line says another form of the address of a user who is there. */
interface Pair {
  email: string;
  user: string;
}

/**
 * Takes up users. A faulty line is reported and left out, and the same lines sent again change nothing: an import that was
 * cut off is simply run again. Durable when this resolves. No webhook tells of single users; the audit trail tells of
 * each request.
 */
export async function importUsers(
  context: ManageContext,
  id: string | undefined,
  { text, update, actor }: ImportRequest,
): Promise<ImportResult> {
  const { store, limits, clock } = context;
  const { seq } = requireInstance(context, id);
  const counts = { lines: 0, created: 0, updated: 0, skipped: 0, paired: 0, failed: 0 };
  const result: ImportResult = { ...counts, errors: [], pairs: [] };
  const lines = text.split("\n");
  for (let from = 0; from < lines.length || from === 0; from += linesAtOnce) {
    const slice = lines.slice(from, from + linesAtOnce);
    const isLast = from + linesAtOnce >= lines.length;
    await store.write(
      (nouns) => {
        const instance = requireInstance(context, id);
        const placing = { nouns, instance, update, now: clock.now() };
        for (const [index, line] of slice.entries()) {
          count(result, placeLine(line, placing, limits.importLineBytesMax), {
            line: from + index + 1,
            errorsMax: limits.importErrorsShown,
            pairsMax: limits.addressPairsShown,
          });
        }
        if (isLast) record(nouns, { seq, actor, result, now: clock.now() });
      },
      { durable: isLast },
    );
  }
  return result;
}

interface Placing {
  nouns: IdentityNouns;
  instance: Instance;
  update: boolean;
  now: number;
}

/** Undefined for a line that says nothing. */
function placeLine(text: string, placing: Placing, bytesMax: number): Outcome | undefined {
  const line = text.trim();
  if (line === "") return undefined;
  if (line.length > bytesMax) return { error: `is longer than ${bytesMax} characters` };
  const user = parseUserLine(line, placing.now);
  if (!user.ok) return { error: user.error };
  return user.value === undefined ? undefined : placeUser(user.value, placing);
}

function placeUser(line: UserLine, placing: Placing): Outcome {
  const { nouns, instance, now } = placing;
  const domain = instance.settings.placeholder_domain ?? defaultSettings.placeholder_domain;
  if (!line.placeholder && isPlaceholder(line.email, domain)) {
    return { error: `email: ${domain} is for addresses that the service makes` };
  }
  const taken = takenIdentity(line, placing);
  if (taken !== undefined) return taken;
  const createdAt = line.createdAt ?? now;
  const seq = nouns.users.addNew({
    id: line.id ?? crypto.randomUUID(),
    instance: instance.seq,
    email: line.email,
    name: line.name ?? line.email.slice(0, line.email.lastIndexOf("@")),
    avatarUrl: line.avatarUrl,
    emailVerifiedAt: line.placeholder ? undefined : line.emailVerifiedAt,
    placeholder: line.placeholder,
    passwordHash: line.passwordHash,
    bannedAt: line.bannedAt,
    createdAt,
    updatedAt: line.updatedAt ?? createdAt,
  });
  if (seq === undefined) return meet(line, placing);
  addIdentities(seq, line, placing);
  if (line.id === undefined && line.written !== line.email) nouns.importForms.put(seq, line.written);
  return "created";
}

/** The id or the address is there already. */
function meet(line: UserLine, placing: Placing): Outcome {
  const { nouns, instance, update, now } = placing;
  const byId = line.id === undefined ? undefined : nouns.users.find(line.id);
  if (byId !== undefined && byId.instance !== instance.seq) {
    return { error: `id: ${line.id} is a user of another instance` };
  }
  const byEmail = nouns.users.byEmail(instance.seq, line.email);
  if (line.id !== undefined && byEmail !== undefined && byEmail.id !== line.id) {
    return { error: `email: ${line.email} belongs to user ${byEmail.id}` };
  }
  const present = byId ?? byEmail;
  if (present !== undefined && isOtherForm(line, present, placing)) return { email: line.written, user: present.id };
  if (present === undefined || !update) return "skipped";
  const changed = merged(present, line);
  const isSame = Object.entries(changed).every(([field, value]) => present[field as keyof User] === value);
  if (!isSame) nouns.users.update({ ...changed, updatedAt: line.updatedAt ?? now });
  const joined = addIdentities(present.seq, line, placing);
  return isSame && joined === 0 ? "skipped" : "updated";
}

/** The mailbox is that of a user, but the line, or the one that made the user, writes it otherwise: it may be another person. */
function isOtherForm(line: UserLine, { seq, email }: User, { nouns }: Placing): boolean {
  if (line.id !== undefined) return false;
  const form = nouns.importForms.get(seq);
  // The user may have another address by now.
  const known = form !== undefined && normaliseEmail(form) === email ? form : email;
  return line.written !== known;
}

function merged(present: User, line: UserLine): User {
  return {
    ...present,
    email: line.email,
    name: line.name ?? present.name,
    avatarUrl: line.avatarUrl ?? present.avatarUrl,
    emailVerifiedAt: present.emailVerifiedAt ?? line.emailVerifiedAt,
    passwordHash: line.passwordHash ?? present.passwordHash,
    bannedAt: present.bannedAt ?? line.bannedAt,
  };
}

/** An account at a provider leads to one user alone. */
function takenIdentity(line: UserLine, { nouns, instance }: Placing): Outcome | undefined {
  for (const { provider, uid } of line.identities) {
    const held = nouns.identities.get(instance.seq, provider, uid);
    const holder = held === undefined ? undefined : nouns.users.bySeq(held.user);
    if (holder === undefined || holder.id === line.id || holder.email === line.email) continue;
    return { error: `identities: the ${provider} account belongs to user ${holder.id}` };
  }
  return undefined;
}

function addIdentities(user: number, line: UserLine, { nouns, instance, now }: Placing): number {
  let added = 0;
  for (const { provider, uid, email, emailVerified } of line.identities) {
    if (nouns.identities.get(instance.seq, provider, uid) !== undefined) continue;
    const tokens = { accessToken: undefined, refreshToken: undefined, tokenExpiresAt: undefined };
    const times = { createdAt: line.createdAt ?? now, updatedAt: now };
    const about = { provider, uid, email, emailVerified, ...tokens, ...times };
    nouns.identities.add({ id: crypto.randomUUID(), instance: instance.seq, user, ...about });
    added += 1;
  }
  return added;
}

function count(
  result: ImportResult,
  outcome: Outcome | undefined,
  at: { line: number; errorsMax: number; pairsMax: number },
): void {
  if (outcome === undefined) return;
  result.lines += 1;
  if (typeof outcome === "string") result[outcome] += 1;
  else if ("user" in outcome) {
    result.skipped += 1;
    result.paired += 1;
    if (result.pairs.length < at.pairsMax) result.pairs.push({ line: at.line, ...outcome });
  } else {
    result.failed += 1;
    if (result.errors.length < at.errorsMax) result.errors.push({ line: at.line, error: outcome.error });
  }
}

function record(
  nouns: IdentityNouns,
  { seq, actor, result, now }: { seq: number; actor: string; result: ImportResult; now: number },
): void {
  const { lines, created, updated, failed } = result;
  if (lines === 0) return;
  audit(nouns, { instance: { seq }, actor, action: "user.import", detail: { lines, created, updated, failed }, now });
}
