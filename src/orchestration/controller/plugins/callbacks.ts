import type { Principal } from "../../../access/principal.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { isOwn as isOwnPlugin, type Maker, makerOf } from "../../core/plugins/maker.ts";
import type { ObservedPod } from "../../engine/pod.ts";
import type { Context } from "../state/context.ts";
import { isAmong, isOfPlugin, placesOf, placeText } from "./own-places.ts";
import type { Place } from "../state/plugin-room.ts";

/** Somebody on the platform network who acts for a plugin. */
export interface CallbackCaller extends Maker {
  /** For the event log. */
  actor: string;
  /** What it may ask about; undefined for all that is of blocks of the plugin. */
  only: readonly Place[] | undefined;
  /** Who started the run whose token it has; undefined for a container that is known by its address. */
  by: Principal | undefined;
}

/** Who asks: a container by its address on the platform network, anybody else by the token of a run. */
interface CallbackClaim {
  address: string;
  token: string | undefined;
}

/** Knows callers, and what they may see. */
export interface CallbackRoom {
  /** Fails `forbidden` for an unknown address, without a token or with one of a run that is over. */
  caller(claim: CallbackClaim): Promise<CallbackCaller>;
  /** A pod: its own block and what that is tied to. A run: blocks of its plugin. Fails `forbidden` for all else. */
  requireOwn(caller: CallbackCaller, target: { scope: string | undefined; name: string | undefined }): void;
  /** Only commands of the plugin itself, by name or alias. Fails `forbidden`. */
  requireOwnPlugin(caller: CallbackCaller, name: string): void;
}

/** An unknown address is not looked for again so soon: a look costs the engine a listing of everything. */
const strangerMs = 1_000;
const strangersMax = 1_000;

export function createCallbackRoom(context: Context): CallbackRoom {
  /** Address → when it may be looked for again, of the steady clock. */
  const strangers = new Map<string, number>();
  const find = async (address: string) => {
    if ((strangers.get(address) ?? 0) > context.clock.steady()) return undefined;
    const found = await findPod(context, address);
    if (found === undefined) {
      if (strangers.size >= strangersMax) strangers.clear();
      strangers.set(address, context.clock.steady() + strangerMs);
    }
    return found;
  };
  return {
    async caller({ address, token }) {
      const pass = token === undefined ? undefined : context.plugins.passes.get(token);
      if (pass !== undefined) return pass;
      const found = await find(address);
      if (found !== undefined) return found;
      const hint = "this listener is for containers of plugins' blocks, and for runs of plugins with their token";
      throw new Failure("forbidden", `${address} is not known here; ${hint}`);
    },
    requireOwn(caller, { scope, name }) {
      if (scope !== undefined && name !== undefined && isOwn(context, caller, { scope, name })) return;
      const whose = caller.only === undefined ? `a block of the plugin "${caller.plugin}"` : "the block of this pod";
      throw new Failure("forbidden", `${placeText({ scope, name })} is not of ${whose}; say scope and name of what is`);
    },
    requireOwnPlugin(caller, name) {
      const found = context.plugins.registry.find(name);
      if (found !== undefined && isOwnPlugin(caller, makerOf(found))) return;
      throw new Failure("forbidden", `only commands of the plugin "${caller.plugin}" can be run from here`);
    },
  };
}

function isOwn(context: Context, caller: CallbackCaller, place: Place): boolean {
  return (caller.only === undefined || isAmong(caller.only, place)) && isOfPlugin(context, caller, place);
}

/** Addresses are given out again, so each use asks again. */
async function findPod(context: Context, address: string): Promise<CallbackCaller | undefined> {
  const pods = await context.engine.observe();
  const pod = pods.find(({ addresses }) => addresses[context.names.network] === address);
  const owned = pod && ownedBy(context, pod);
  if (owned === undefined) return undefined;
  const { plugin, origin, source } = owned.block;
  const actor = `pod ${owned.pod.name}`;
  return { plugin, origin, source, actor, only: placesOf(context, owned.block), by: undefined };
}

/** The block that a pod came from, and its plugin. */
function ownedBy({ store }: Context, pod: ObservedPod) {
  const owner = pod.identity && store.blocks.ownerOf(pod.identity.key);
  const block = owner && store.blocks.get(owner);
  return block === undefined ? undefined : { pod, block };
}
