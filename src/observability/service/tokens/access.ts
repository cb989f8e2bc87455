import { timingSafeEqual } from "node:crypto";
import { BlockList, isIP } from "node:net";
import { Failure } from "../../../base/wire/failure.ts";
import type { Scope } from "../../../base/wire/endpoint.ts";
import { bearerOf, tokenId } from "../../core/tokens/format.ts";
import { type Grant, heldScopes } from "../../core/tokens/grant.ts";
import type { Token } from "../../store/records.ts";
import type { ObservabilityContext } from "../context.ts";
import type { Rates } from "../rates.ts";
import { hashOf, hasEnded } from "./tokens.ts";

/** A request as far as it says who asks. */
interface Knock {
  authorization: string | null;
  ip: string;
  agent: string;
}

/** Who may come in. */
export interface Access {
  /**
   * The grant of the token of a request. Fails `unauthorized` with one text whatever is wrong with the token, and
   * `too_many` for a client that goes on trying.
   */
  enter(knock: Knock): Grant;
  /** The grant of a token by its id, for what stands for it; undefined once it has ended, or may not be used from there. */
  grantOf(id: string, from: Pick<Knock, "ip" | "agent">): Grant | undefined;
}

/** One text for every cause: what is wrong with a token is nothing that a stranger learns. */
export const unauthorizedText = "invalid or expired token";

/** A hash of the usual length, for tokens that do not exist. */
const noHash = new Uint8Array(32);

export function createAccess(context: ObservabilityContext, rates: Rates): Access {
  const { store, clock } = context;
  const touch = createTouch(context);
  const isGood = (token: Token, ip: string) => !hasEnded(token, clock.now()) && isWithin(token.networks, ip);
  const find = ({ authorization, ip }: Knock): Token | undefined => {
    const given = bearerOf(authorization);
    if (given === undefined) return undefined;
    const found = store.tokens.withHash(tokenId(given));
    const isRight = timingSafeEqual(hashOf(given), found?.hash ?? noHash);
    return isRight && found !== undefined && isGood(found.token, ip) ? found.token : undefined;
  };
  return {
    enter(knock) {
      const token = find(knock);
      if (token === undefined) {
        rates.checkClient(knock.ip);
        rates.failed(knock.ip);
        throw new Failure("unauthorized", unauthorizedText);
      }
      touch(token, knock);
      return grantOf(token);
    },
    grantOf(id, from) {
      const token = store.tokens.get(id);
      if (token === undefined || !isGood(token, from.ip)) return undefined;
      touch(token, from);
      return grantOf(token);
    },
  };
}

/** Fails `forbidden`. */
export function requireScope({ scopes }: Pick<Grant, "scopes">, scope: Scope | "any"): void {
  if (scope !== "any" && !scopes.includes(scope)) {
    throw new Failure("forbidden", `insufficient scope: requires ${scope}`);
  }
}

function grantOf(token: Token): Grant {
  const { id, name, apps, expiresAt } = token;
  return { id, name, scopes: heldScopes(token), apps, expiresAt };
}

function isWithin(networks: readonly string[], ip: string): boolean {
  if (networks.length === 0) return true;
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/", 2);
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(address, bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits), family);
  }
  return isIP(ip) !== 0 && list.check(ip, isIP(ip) === 6 ? "ipv6" : "ipv4");
}

/** Notes the last use in the background, at most once in a while for each token. */
function createTouch({
  store,
  clock,
  log,
  limits,
}: ObservabilityContext): (token: Token, from: Pick<Knock, "ip" | "agent">) => void {
  const { touchMs, agentCharactersMax, activeMax } = limits.tokens;
  const noted = new Map<string, number>();
  return ({ id, lastUsedAt }, { ip, agent }) => {
    const at = clock.now();
    const last = noted.get(id) ?? lastUsedAt ?? Number.NEGATIVE_INFINITY;
    // A clock that was set back must not stop it.
    if (last <= at && at - last < touchMs) return;
    if (noted.size > activeMax) noted.clear();
    noted.set(id, at);
    const use = { at, ip, agent: agent.slice(0, agentCharactersMax) };
    store
      .write(({ tokens }) => tokens.touch(id, use), { durable: false })
      .catch((error: unknown) => log.warn("last use of a token not noted", { token: id, error }));
  };
}
