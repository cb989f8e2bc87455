/** What a refresh token says, before it is known whether it is ours. */
interface RefreshTokenParts {
  /** Id of its chain, 16 bytes. */
  chain: Uint8Array;
  /** Counts from 0: the one that an exchange gives. */
  generation: number;
  /** MAC over the two, 32 bytes. */
  mac: Uint8Array;
}

const chainBytes = 16;
const generationBytes = 4;
const macBytes = 32;
const bodyLength = Math.ceil(((chainBytes + generationBytes + macBytes) * 4) / 3);
const lengthMax = 1_024;

/** What a token's own authentication code is over. */
export function refreshMessage(chain: Uint8Array, generation: number): Uint8Array {
  const message = Buffer.alloc(chainBytes + generationBytes);
  message.set(chain);
  message.writeUInt32BE(generation, chainBytes);
  return message;
}

export function writeRefreshToken(prefix: string, { chain, generation, mac }: RefreshTokenParts): string {
  return prefix + Buffer.concat([refreshMessage(chain, generation), mac]).toString("base64url");
}

/** The prefix is not looked at: it is a setting, and may change within the life of a token. */
export function readRefreshToken(token: string): RefreshTokenParts | undefined {
  if (token.length < bodyLength || token.length > lengthMax) return undefined;
  const text = token.slice(-bodyLength);
  const body = Buffer.from(text, "base64url");
  // Base64 has several spellings for one value; ours is the only one.
  if (body.toString("base64url") !== text) return undefined;
  return {
    chain: body.subarray(0, chainBytes),
    generation: body.readUInt32BE(chainBytes),
    mac: body.subarray(chainBytes + generationBytes),
  };
}

/** How far a chain of refresh tokens has come. */
export interface ChainState {
  /** Generation of the token that is valid now. */
  generation: number;
  /**
   * When each of the tokens before it was used first, in epoch milliseconds, newest last; at least all that the grace
   * still covers. The first of all is the sign-in token.
   */
  spent: readonly number[];
  /** When the token that is good now was last given to another request than the first; undefined where it never was. */
  sharedAt: number | undefined;
}

/** The sign-in token that a chain was exchanged for. */
export const signInGeneration = -1;

interface Grace {
  now: number;
  graceMs: number;
}

interface Hold extends Grace {
  holdMaxMs: number;
}

/**
 * `current` is exchanged for its successor. `held` and `repeated` get the newest token of the chain. `spent` ends the
 * session. `unknown` is of a time that a restored backup does not know, or was spent while the clock was ahead: that does
 * not mean a theft, but one cannot be ruled out.
 */
type Standing = "current" | "held" | "repeated" | "spent" | "unknown";

/**
 * The place of a token in its chain. A spent token is repeated for the grace from its own first use, whatever became of
 * its successors: of several tabs with one token, the slowest may ask when the fastest is a token further.
 *
 * A shared token is held for the grace since it was given last, and no longer than `holdMaxMs` in all. Tabs keep
 * their tokens in one place, and answers that carry the shared token may still be on their way. One that came late would
 * overwrite the successor with a token that is spent, which would not show before the next refresh, long after the
 * grace.
 */
export function standingOf(generation: number, chain: ChainState, { now, graceMs, holdMaxMs }: Hold): Standing {
  // A time ahead of now by more than the grace is from before the clock was set back: how long ago that was, nothing tells.
  const isAhead = (at: number | undefined) => at !== undefined && at > now + graceMs;
  const isWithin = (at: number | undefined, ms: number) => at !== undefined && !isAhead(at) && now < at + ms;
  if (generation === chain.generation) {
    return isWithin(chain.sharedAt, graceMs) && isWithin(chain.spent.at(-1), holdMaxMs) ? "held" : "current";
  }
  if (generation > chain.generation) return "unknown";
  const spentAt = chain.spent[chain.spent.length - (chain.generation - generation)];
  if (isAhead(spentAt)) return "unknown";
  return isWithin(spentAt, graceMs) ? "repeated" : "spent";
}

/** The chain one token further: drops the oldest that the grace does not cover any more, and all beyond the newest `spentMax`. */
export function rotatedChain(chain: ChainState, { now, graceMs, spentMax }: Grace & { spentMax: number }): ChainState {
  // Their places are counted from the end, so none goes from between, where a clock that was set has mixed the times.
  const first = chain.spent.findIndex((at) => now < at + graceMs);
  const spent = [...(first === -1 ? [] : chain.spent.slice(first)), now];
  return { generation: chain.generation + 1, spent: spent.slice(-spentMax), sharedAt: undefined };
}
