/** What a refresh token says, before it is known whether it is ours. */
interface RefreshTokenParts {
  /** Of its chain, 16 bytes. */
  chain: Uint8Array;
  /** Counts from 0: the one that an exchange gives. */
  generation: number;
  /** Of the two, 32 bytes. */
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

type Standing = "current" | "repeated" | "spent" | "unknown";

/** The place of a token in its chain; within the grace the last spent one still gets its successor. */
export function standingOf(
  generation: number,
  chain: { generation: number; rotatedAt: number },
  { now, graceMs }: { now: number; graceMs: number },
): Standing {
  if (generation === chain.generation) return "current";
  // Of a time that a restored backup does not know of: nobody has stolen anything, but neither can it be told.
  if (generation > chain.generation) return "unknown";
  return generation === chain.generation - 1 && now < chain.rotatedAt + graceMs ? "repeated" : "spent";
}
