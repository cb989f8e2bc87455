/** A password hash as it is stored: PHC strings of argon2 and scrypt, and the form of bcrypt. */
type PasswordHash =
  | { kind: "argon2"; text: string }
  | { kind: "bcrypt"; text: string }
  | { kind: "scrypt"; n: number; r: number; p: number; salt: Uint8Array; hash: Uint8Array };

const hashLengthMax = 512;
/** What one check of a password may use: an imported hash must not be able to fill the memory of the server. */
const memoryKibMax = 256 * 1024;
const argon2PassesMax = 20;
const argon2LanesMax = 16;
const bcryptCostMax = 15;
const scryptLanesMax = 16;

const base64 = "[A-Za-z0-9+/]+";
const argon2Pattern = new RegExp(
  `^\\$argon2(?:id|i|d)\\$v=19\\$m=(\\d{1,9}),t=(\\d{1,6}),p=(\\d{1,4})\\$${base64}\\$${base64}$`,
);
const bcryptPattern = /^\$2([aby])\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const scryptPattern = new RegExp(`^\\$scrypt\\$ln=(\\d{1,2}),r=(\\d{1,3}),p=(\\d{1,3})\\$(${base64})\\$(${base64})$`);

/** Undefined for a text that is not such a hash, or that would cost more to check than is allowed. */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  if (text.length > hashLengthMax) return undefined;
  return parseArgon2(text) ?? parseBcrypt(text) ?? parseScrypt(text);
}

function parseArgon2(text: string): PasswordHash | undefined {
  const [, memory, passes, lanes] = argon2Pattern.exec(text) ?? [];
  const m = Number(memory);
  const fits = m >= 8 && m <= memoryKibMax && within(passes, argon2PassesMax) && within(lanes, argon2LanesMax);
  return fits ? { kind: "argon2", text } : undefined;
}

/** `$2y$` of PHP and `$2a$` are the same computation as `$2b$` for passwords of a sane length. */
function parseBcrypt(text: string): PasswordHash | undefined {
  const [, , cost] = bcryptPattern.exec(text) ?? [];
  const fits = Number(cost) >= 4 && Number(cost) <= bcryptCostMax;
  return fits ? { kind: "bcrypt", text: `$2b${text.slice(3)}` } : undefined;
}

/** RFC 7914; memory is 128 * N * r bytes. */
function parseScrypt(text: string): PasswordHash | undefined {
  const [, ln, blocks, lanes, salt = "", hash = ""] = scryptPattern.exec(text) ?? [];
  const n = 2 ** Number(ln);
  const r = Number(blocks);
  const fits = n >= 2 && (n * r) / 8 <= memoryKibMax && within(blocks, Number.MAX_SAFE_INTEGER);
  if (!fits || !within(lanes, scryptLanesMax)) return undefined;
  const bytes = (part: string) => new Uint8Array(Buffer.from(part, "base64"));
  return { kind: "scrypt", n, r, p: Number(lanes), salt: bytes(salt), hash: bytes(hash) };
}

function within(text: string | undefined, most: number): boolean {
  const count = Number(text);
  return count >= 1 && count <= most;
}
