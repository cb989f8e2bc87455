/** What a name may be written with in any script, and the dots of other scripts, which mean the same. */
const written = /^[\p{L}\p{N}\p{M}\-.\u3002\uff0e\uff61]+$/u;
const ascii = /^[\x00-\x7f]*$/;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * A domain as DNS and mail servers know it: lower case, labels of other scripts as `xn--…` (UTS 46, as browsers do it).
 * Undefined for what cannot be a domain. There is one such form of every domain: compare and store it.
 */
export function asciiDomain(text: string): string | undefined {
  const domain = ascii.test(text) ? text.toLowerCase() : converted(text);
  return domain?.split(".").every((part) => label.test(part)) === true ? domain : undefined;
}

/** The last label keeps the URL parser from reading numbers as an IPv4 address. */
const last = ".x";

function converted(text: string): string | undefined {
  // The parser takes hyphens anywhere.
  const isWritten = written.test(text) && !/(?:^|[.\u3002\uff0e\uff61])-|-(?:$|[.\u3002\uff0e\uff61])/.test(text);
  const url = `http://${text}${last}`;
  return isWritten && URL.canParse(url) ? new URL(url).hostname.slice(0, -last.length) : undefined;
}

/** A mail address as people read it: `ana@münchen.de`. Never compare or store it. */
export function readableEmail(email: string): string {
  if (!email.includes("xn--")) return email;
  const at = email.lastIndexOf("@");
  return `${email.slice(0, at + 1)}${readableDomain(email.slice(at + 1))}`;
}

/** A domain as people read it. A label that could be taken for another one, as it mixes scripts, stays `xn--…`. */
function readableDomain(domain: string): string {
  return domain.split(".").map(readableLabel).join(".");
}

function readableLabel(text: string): string {
  const decoded = text.startsWith("xn--") ? decodePunycode(text.slice(4)) : undefined;
  return decoded !== undefined && asciiDomain(decoded) === text && !isConfusing(decoded) ? decoded : text;
}

/** Scripts with letters that look like those of another one. */
const lookalikes = [
  /\p{Script=Latin}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
];
/** Japanese, Chinese and Korean are written with Latin letters between them (UTS 39 section 5.2). */
const eastAsian =
  /^[\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30fc\d-]+$/u;
/** Cyrillic letters that all look like Latin ones, as Chrome lists them. */
const allLatinShapes = /^[асԁеһіјӏорԗԛѕԝхуъьҽпгѵѡ\d-]+$/u;

function isConfusing(text: string): boolean {
  if (eastAsian.test(text)) return false;
  const [script, another] = lookalikes.filter((one) => one.test(text));
  if (script === undefined) return false;
  return (
    another !== undefined ||
    allLatinShapes.test(text) ||
    !(text.match(/\p{L}/gu) ?? []).every((one) => script.test(one))
  );
}

/** RFC 3492 section 6.2; undefined for what is not punycode. */
function decodePunycode(text: string): string | undefined {
  const dash = text.lastIndexOf("-");
  const output = Array.from(text.slice(0, Math.max(0, dash)));
  let [code, index, bias] = [128, 0, 72];
  for (let at = dash + 1; at < text.length;) {
    const from = index;
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = digitOf(text.charCodeAt(at++));
      if (digit === undefined) return undefined;
      index += digit * weight;
      const threshold = Math.min(26, Math.max(1, k - bias));
      if (digit < threshold) break;
      weight *= 36 - threshold;
      if (index > 0x7fffffff || weight > 0x7fffffff) return undefined;
    }
    const count = output.length + 1;
    bias = adapted(from === 0 ? Math.floor(index / 700) : (index - from) >> 1, count);
    code += Math.floor(index / count);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return undefined;
    output.splice(index % count, 0, String.fromCodePoint(code));
    index = (index % count) + 1;
  }
  return output.join("");
}

function digitOf(code: number): number | undefined {
  if (code >= 97 && code <= 122) return code - 97;
  return code >= 48 && code <= 57 ? code - 22 : undefined;
}

function adapted(delta: number, count: number): number {
  let rest = delta + Math.floor(delta / count);
  let k = 0;
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
  return k + Math.floor((36 * rest) / (rest + 38));
}
