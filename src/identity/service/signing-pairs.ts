import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { createBelievedTime } from "../../base/words/believed-time.ts";
import { idBytes, opaqueId } from "../core/keys.ts";
import type { Instance, PublicJwk, SigningPair } from "../store/records.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";

/** Key pairs of instances whose tokens are signed RS256, and their public halves as a JWK set (RFC 7517). */
export interface SigningPairs {
  /** Makes the first pair of an instance that has none; a second or so of work off the main thread. */
  ensure(instance: Instance): Promise<void>;
  /** Publishes a pair that does not sign yet: clients remember sets for minutes. */
  stage(instance: Instance): Promise<SigningPair>;
  /** The newest staged pair signs from now on; the one before is accepted as long as its tokens last. */
  promote(instance: Instance): Promise<SigningPair>;
  /** The answer of `/.well-known/jwks.json`; empty where tokens are signed with the secret key. */
  jwks(entry: InstanceEntry): { keys: PublishedKey[] };
  /** Makes what is missing, drops what has expired. */
  tend(): Promise<void>;
}

interface PublishedKey extends PublicJwk {
  use: "sig";
  alg: "RS256";
  kid: string;
}

const generate = promisify(generateKeyPair);

/** NIST SP 800-57: enough beyond 2030, and what every client takes. */
const modulusLength = 2048;

export function createSigningPairs(context: IdentityContext): SigningPairs {
  const { store, clock } = context;
  const { clockJumpMs: jumpMs, clockHoldMs: holdMs } = context.limits.purge;
  const believed = createBelievedTime(clock, { jumpMs, holdMs });
  const add = async (instance: Instance, state: SigningPair["state"]): Promise<SigningPair> => {
    const pair = { ...(await makePair(context, instance)), state };
    return store.write((nouns) => {
      const signs = nouns.signingPairs.list(instance.seq).find((one) => one.state === "signing");
      // Two who make the first one at the same time get one.
      if (state === "signing" && signs !== undefined) return signs;
      nouns.signingPairs.add(pair);
      return pair;
    });
  };
  const ensure = async (instance: Instance) => {
    const signs = store.signingPairs.list(instance.seq).some(({ state }) => state === "signing");
    if (!signs) await add(instance, "signing");
  };
  return {
    ensure,
    stage: (instance) => add(instance, "staged"),
    async promote(instance) {
      const staged = store.signingPairs.list(instance.seq).find(({ state }) => state === "staged");
      const next = staged ?? (await add(instance, "staged"));
      return store.write((nouns) => {
        for (const { id, state } of nouns.signingPairs.list(instance.seq)) {
          const until = clock.now() + context.limits.signInTokenMs;
          if (state === "signing") nouns.signingPairs.setState(id, "previous", until);
        }
        nouns.signingPairs.setState(next.id, "signing", undefined);
        return { ...next, state: "signing" as const };
      });
    },
    jwks: ({ settings, pairs }) => ({
      keys: settings.algorithm === "RS256" ? pairs.filter((pair) => lasts(pair, clock.now())).map(published) : [],
    }),
    async tend() {
      const wanting = store.instances.list().filter(({ settings }) => settings.algorithm === "RS256");
      for (const instance of wanting) await ensure(instance);
      await store.write((nouns) => nouns.signingPairs.purge(believed()));
    },
  };
}

async function makePair({ clock, randomBytes }: IdentityContext, { seq }: Instance): Promise<SigningPair> {
  const { publicKey, privateKey } = await generate("rsa", { modulusLength });
  const { n = "", e = "" } = publicKey.export({ format: "jwk" });
  return {
    id: opaqueId("key", randomBytes(idBytes)),
    instance: seq,
    state: "staged",
    publicJwk: { kty: "RSA", n, e },
    privatePem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    createdAt: clock.now(),
    expiresAt: undefined,
  };
}

function lasts({ expiresAt }: SigningPair, now: number): boolean {
  return expiresAt === undefined || expiresAt > now;
}

function published({ id, publicJwk }: SigningPair): PublishedKey {
  return { ...publicJwk, use: "sig", alg: "RS256", kid: id };
}
