import { createHash } from "node:crypto";
import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { bodyReader } from "../../../base/wire/read-body.ts";
import {
  type createIdentityKey,
  type deleteIdentityKey,
  type IdentityKey,
  type listIdentityKeys,
  promoteIdentityKey,
  rotateIdentityKey,
} from "../../api/manage/keys.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { apiKey, idBytes, opaqueId, secretBytes, secretKey, shownPrefix } from "../../core/keys.ts";
import type { IdentityNouns } from "../../store/open-store.ts";
import type { Instance, Key } from "../../store/records.ts";
import { audit } from "../audit.ts";
import type { SigningPairs } from "../signing-pairs.ts";
import { type By, type ManageContext, requireInstance } from "./context.ts";

const readRotation = bodyReader(rotateIdentityKey);
const readPromotion = bodyReader(promoteIdentityKey);

/** Keys of instances. A key is shown in the answer that made it and never again. */
export interface ManagedKeys {
  list(instance: string): DataOf<typeof listIdentityKeys>;
  /** One that the API accepts and that never signs. */
  create(instance: string, by: By): Promise<DataOf<typeof createIdentityKey>>;
  /**
   * Stages a key; with `now` it signs at once, and every other key, also those for the API alone, and all
   * refresh tokens end. Fails `conflict` while one is staged.
   */
  rotate(instance: string, body: unknown, by: By): Promise<DataOf<typeof rotateIdentityKey>>;
  /** The staged key signs; the one before is accepted for `overlap` longer. */
  promote(instance: string, body: unknown, by: By): Promise<DataOf<typeof promoteIdentityKey>>;
  /** Fails `conflict` for the key that signs. */
  remove(instance: string, key: string, by: By): Promise<DataOf<typeof deleteIdentityKey>>;
}

export function createManagedKeys(context: ManageContext, pairs: Pick<SigningPairs, "stage" | "promote">): ManagedKeys {
  const { store, clock } = context;
  /** Instances that sign with a key pair rotate that too: clients must have seen its public half before it signs. */
  const withPair = async (id: string, work: (instance: Instance) => Promise<unknown>) => {
    const instance = store.instances.get(id);
    if (instance?.settings.algorithm === "RS256") await work(instance);
  };
  const change = <T>(id: string, work: (nouns: IdentityNouns, instance: Instance) => T): Promise<T> =>
    store.write((nouns) => {
      const instance = requireInstance(context, id);
      dropExpired(nouns, instance, clock.now());
      return work(nouns, instance);
    });
  return {
    list(id) {
      const instance = requireInstance(context, id);
      const now = clock.now();
      const keys = store.keys.list(instance.seq).filter((key) => (key.expiresAt ?? now + 1) > now);
      return { publishable_key: instance.publishableKey, keys: keys.map(wireKey) };
    },
    create: (id, { actor }) =>
      change(id, (nouns, instance) => shown(mintKey(context, nouns, { instance, use: "api", state: "staged", actor }))),
    async rotate(id, body, { actor }) {
      const { now = false } = readRotation(body);
      const made = await change(id, (nouns, instance) => {
        if (now) return replaceAll(context, nouns, { instance, actor });
        const staged = secretKeys(nouns, instance).find(({ state }) => state === "staged");
        if (staged !== undefined) {
          throw new Failure("conflict", `key ${staged.id} is staged already: promote it, or delete it first`);
        }
        return shown(mintKey(context, nouns, { instance, use: "secret", state: "staged", actor }));
      });
      await withPair(id, (instance) => (now ? endPairs(context, pairs, instance) : pairs.stage(instance)));
      return made;
    },
    async promote(id, body, { actor }) {
      const overlapMs = overlapOf(readPromotion(body).overlap, context.limits.signInTokenMs);
      const promoted = await change(id, (nouns, instance) => promote(context, nouns, { instance, actor, overlapMs }));
      await withPair(id, pairs.promote);
      return promoted;
    },
    remove: (id, key, { actor }) =>
      change(id, (nouns, instance) => removeKey(nouns, key, { instance, actor, now: clock.now() })),
  };
}

function removeKey(
  nouns: IdentityNouns,
  key: string,
  { instance, actor, now }: Change & { now: number },
): DataOf<typeof deleteIdentityKey> {
  const found = nouns.keys.list(instance.seq).find(({ id }) => id === key);
  if (found === undefined) throw new Failure("not_found", `the instance has no key "${key.slice(0, 80)}"`);
  if (found.state === "signing") throw new Failure("conflict", `key ${key} signs: rotate first, or at once with --now`);
  nouns.keys.remove(key);
  audit(nouns, { instance, actor, action: "key.delete", detail: { key }, now });
  return { id: key, deleted: true };
}

interface Minting {
  instance: Instance;
  use: Key["use"];
  state: Key["state"];
  actor: string;
}

/** Inside a write: a new key, stored as its hash and sealed. */
export function mintKey(
  { limits, randomBytes, clock }: Pick<ManageContext, "limits" | "randomBytes" | "clock">,
  nouns: IdentityNouns,
  { instance, use, state, actor }: Minting,
): Key {
  const most = limits.keysMax;
  if (nouns.keys.list(instance.seq).length >= most) {
    throw new Failure("conflict", `the instance has ${most} keys: delete one first`);
  }
  const value = (use === "api" ? apiKey : secretKey)(instance.environment, randomBytes(secretBytes));
  const key: Key = {
    id: opaqueId("key", randomBytes(idBytes)),
    instance: instance.seq,
    use,
    state,
    value,
    prefix: shownPrefix(value),
    createdAt: clock.now(),
    expiresAt: undefined,
  };
  nouns.keys.add(key, new Uint8Array(createHash("sha256").update(value).digest()));
  audit(nouns, { instance, actor, action: "key.create", detail: { key: key.id, use, state }, now: key.createdAt });
  return key;
}

interface Change {
  instance: Instance;
  actor: string;
}

/** After a leak nothing that the old keys signed or opened is good any more: nor what was got for a forged token. */
function replaceAll(
  context: ManageContext,
  nouns: IdentityNouns,
  { instance, actor }: Change,
): DataOf<typeof rotateIdentityKey> {
  // Those for the API alone open it as the others do: where one is known to a stranger, so may the rest be.
  const ended = nouns.keys.list(instance.seq).map(({ id, use }) => ({ id, use }));
  for (const { id } of ended) nouns.keys.remove(id);
  nouns.refreshChains.burnAll(instance.seq);
  const key = mintKey(context, nouns, { instance, use: "secret", state: "signing", actor });
  const detail = { key: key.id, ended: ended.map(({ id }) => id), now: true };
  audit(nouns, { instance, actor, action: "key.rotate", detail, now: context.clock.now() });
  return { ...shown(key), ended };
}

/** A new pair signs, and what the ones before have signed is refused from now on. */
async function endPairs(
  { store, clock }: ManageContext,
  pairs: Pick<SigningPairs, "stage" | "promote">,
  instance: Instance,
): Promise<void> {
  await pairs.stage(instance);
  const { id: kept } = await pairs.promote(instance);
  await store.write((nouns) => {
    for (const { id } of nouns.signingPairs.list(instance.seq)) {
      if (id !== kept) nouns.signingPairs.setState(id, "previous", clock.now());
    }
  });
}

function promote(
  { clock }: ManageContext,
  nouns: IdentityNouns,
  { instance, actor, overlapMs }: Change & { overlapMs: number },
): DataOf<typeof promoteIdentityKey> {
  const keys = secretKeys(nouns, instance);
  const staged = keys.find(({ state }) => state === "staged");
  if (staged === undefined) throw new Failure("conflict", "no key is staged: rotate first");
  const signing = keys.find(({ state }) => state === "signing");
  const now = clock.now();
  const expiresAt = now + overlapMs;
  if (signing !== undefined) nouns.keys.setState(signing.id, "previous", expiresAt);
  nouns.keys.setState(staged.id, "signing", undefined);
  const detail = { key: staged.id, previous: signing?.id, overlap_ms: overlapMs };
  audit(nouns, { instance, actor, action: "key.rotate", detail, now });
  return {
    signing: wireKey({ ...staged, state: "signing" }),
    ...(signing === undefined ? {} : { previous: wireKey({ ...signing, state: "previous", expiresAt }) }),
  };
}

function secretKeys(nouns: IdentityNouns, instance: Instance): Key[] {
  return nouns.keys.list(instance.seq).filter(({ use }) => use === "secret");
}

function dropExpired(nouns: IdentityNouns, instance: Instance, now: number): void {
  for (const { id, expiresAt } of nouns.keys.list(instance.seq)) {
    if (expiresAt !== undefined && expiresAt <= now) nouns.keys.remove(id);
  }
}

const overlapDefaultMs = 24 * 3_600_000;
const overlapMaxMs = 30 * 24 * 3_600_000;

/** Shorter than a token lives would refuse tokens that were given out a moment ago. */
function overlapOf(text: string | undefined, leastMs: number): number {
  if (text === undefined) return overlapDefaultMs;
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= leastMs && ms <= overlapMaxMs) return ms;
  throw new Failure("invalid", `overlap: "${text}" is not a duration from 1h to 30d; after a leak use rotate --now`);
}

function shown(key: Key): IdentityKey & { secret_key: string } {
  return { ...wireKey(key), secret_key: key.value };
}

function wireKey({ id, use, state, prefix, createdAt, expiresAt }: Key): IdentityKey {
  return {
    id,
    use,
    // A key for the API alone is neither staged nor signing: it is just accepted.
    state: use === "api" ? "active" : state,
    prefix,
    created_at: isoTime(createdAt),
    ...(expiresAt === undefined ? {} : { expires_at: isoTime(expiresAt) }),
  };
}
