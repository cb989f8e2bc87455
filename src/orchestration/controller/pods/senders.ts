import type { Sender, Senders } from "../../api/sender.ts";
import { asksForTelemetry } from "../../core/telemetry-env.ts";
import type { PodIdentity } from "../../engine/pod.ts";
import type { Context } from "../state/context.ts";

/** A look costs the engine a listing of everything: there is one in so long, and an unknown address waits for so long. */
const listingMs = 1_000;
const strangersMax = 1_000;

/**
 * Knows containers by their address. Replicas are looked up in memory, which follows the engine's events; what is not
 * there, such as a container that has just started, is asked for. However many strangers ask, the engine is asked once
 * in a while: they share a listing.
 */
export function createSenders({ pods, engine, names, clock, store }: Context): Senders {
  /** Address → when it may be looked for again, of the steady clock. */
  const strangers = new Map<string, number>();
  let listed: { at: number; pods: ReturnType<typeof engine.observe> } | undefined;

  /** What ran no earlier than now. */
  async function list(): ReturnType<typeof engine.observe> {
    const askedAt = clock.steady();
    if (listed !== undefined && listed.at < askedAt) await clock.sleep(listed.at + listingMs - askedAt);
    if (listed === undefined || listed.at < askedAt) listed = { at: clock.steady(), pods: engine.observe() };
    return listed.pods;
  }

  function senderOf(identity: PodIdentity, { id, name }: { id: string; name: string }): Sender {
    const { key, replicaId, ordinal, releaseId, role } = identity;
    const manifest = store.manifests.get(key);
    const wantsTelemetry = manifest !== undefined && asksForTelemetry({ key: manifest, spec: manifest.spec });
    return { key, id, pod: name, replicaId, ordinal, releaseId, role, wantsTelemetry };
  }

  return {
    async at(address) {
      if (address === "") return undefined;
      for (const pod of pods.all())
        if (pod.address === address && pod.state === "running" && !isLocal(address)) return senderOf(pod, pod);
      if ((strangers.get(address) ?? 0) > clock.steady()) return undefined;
      const found = (await list()).find(({ addresses }) => addresses[names.network] === address);
      if (found?.identity !== undefined) return senderOf(found.identity, found);
      strangers.delete(address);
      strangers.set(address, clock.steady() + listingMs);
      const [oldest] = strangers.size > strangersMax ? strangers.keys() : [];
      if (oldest !== undefined) strangers.delete(oldest);
      return undefined;
    },
  };
}

/** All pods that share the network of the machine have it, so it says nothing. */
const isLocal = (address: string) => address === "127.0.0.1" || address === "::1";
