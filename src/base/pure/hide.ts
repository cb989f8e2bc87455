/** Shorter parts of base64, which are cut where the text around a secret begins to count, stand in other texts. */
const encodedMin = 8;
/** The columns at which programs break base64: `base64` and MIME, PEM. */
const base64Columns = [76, 64];

interface Hiding {
  /** What stands in the place of a secret. */
  mask: string;
  /** Shorter parts stand in texts that have nothing to do with a secret. */
  charactersMin: number;
}

/**
 * Replaces secrets in what a program says: as they are, each line of those with many, in JSON, in base64 (also inside of
 * a longer text, such as `user:password`) and encoded for a URL.
 */
export function hidingOf(values: readonly string[], { mask, charactersMin }: Hiding): (text: string) => string {
  const whole = values.filter((value) => value.trim().length >= charactersMin);
  const parts = [...values.flatMap(linesOf).flatMap(jsonForms), ...whole.flatMap(encodedForms)];
  const sought = [...new Set(parts)].filter((part) => part.length >= charactersMin);
  // The longest first: one can be a part of another.
  sought.sort((a, b) => b.length - a.length);
  return (text) => sought.reduce((shown, part) => shown.replaceAll(part, mask), text);
}

function linesOf(value: string): string[] {
  return [value, ...value.split(/\r?\n/)].map((line) => line.trim());
}

function jsonForms(text: string): string[] {
  return [text, JSON.stringify(text).slice(1, -1)];
}

function encodedForms(value: string): string[] {
  return [...new Set([value, value.trim()])].flatMap((text) => [...base64Forms(text), ...urlForms(text)]);
}

function base64Forms(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const whole = base64(bytes);
  const broken = base64Columns.flatMap((columns) => whole.match(new RegExp(`.{1,${columns}}`, "g")) ?? []);
  const forms = [...broken, ...[0, 1, 2].map((before) => base64Within(bytes, before))];
  return [whole, ...forms.filter(({ length }) => length >= encodedMin)].flatMap((form) => [
    form,
    form.replaceAll("+", "-").replaceAll("/", "_"),
  ]);
}

/** The characters of base64 that nothing but `bytes` decides where `before` bytes stand in front in their group of three. */
function base64Within(bytes: Uint8Array, before: number): string {
  const padded = new Uint8Array(before + bytes.length);
  padded.set(bytes, before);
  return base64(padded).slice(Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Programs differ in which signs they encode, in the case of the digits, and in how they write a blank. */
function urlForms(text: string): string[] {
  const usual = encodeURIComponent(text.toWellFormed());
  const strict = usual.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const forms = [usual, strict, strict.replaceAll("~", "%7E")];
  const all = forms.flatMap((form) => [form, form.replaceAll("%20", "+")]);
  return all.flatMap((form) => [form, form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}
