import type { Sender, Senders } from "../../api/sender.ts";
import type { PodIdentity } from "../../engine/pod.ts";
import type { Context } from "../state/context.ts";

/** An address that nobody had is not looked for again so soon: a look costs the engine a listing of everything. */
const strangerMs = 1_000;
const strangersMax = 1_000;

/**
 * Knows containers by their address. Replicas are looked up in memory, which follows the engine's events; what is not
 * there, such as a container that has just started, is asked for.
 */
export function createSenders({ pods, engine, names, clock }: Context): Senders {
  /** Address → when it may be looked for again, of the steady clock. */
  const strangers = new Map<string, number>();
  let listing: ReturnType<typeof engine.observe> | undefined;

  /** Those who ask at the same time share a listing. */
  function list(): ReturnType<typeof engine.observe> {
    listing ??= engine.observe().finally(() => {
      listing = undefined;
    });
    return listing;
  }

  return {
    async at(address) {
      if (address === "") return undefined;
      for (const pod of pods.all())
        if (pod.address === address && pod.state === "running" && !isLocal(address)) return senderOf(pod, pod);
      if ((strangers.get(address) ?? 0) > clock.steady()) return undefined;
      const found = (await list()).find(({ addresses }) => addresses[names.network] === address);
      if (found?.identity !== undefined) return senderOf(found.identity, found);
      if (strangers.size >= strangersMax) strangers.clear();
      strangers.set(address, clock.steady() + strangerMs);
      return undefined;
    },
  };
}

/** All pods that share the network of the machine have it, so it says nothing. */
const isLocal = (address: string) => address === "127.0.0.1" || address === "::1";

function senderOf(identity: PodIdentity, { id, name }: { id: string; name: string }): Sender {
  const { key, replicaId, ordinal, releaseId, role } = identity;
  return { key, id, pod: name, replicaId, ordinal, releaseId, role };
}
