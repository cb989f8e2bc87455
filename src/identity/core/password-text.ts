/**
 * A password as it is hashed and measured: one sequence of code points for everything that looks the same, whichever
 * keyboard or system it is typed on (OpaqueString of RFC 8265 section 4.2: spaces of every script are plain ones, NFC).
 * The case of letters and spaces at the ends count.
 */
export function passwordText(typed: string): string {
  return typed
    .toWellFormed()
    .replace(/\p{Zs}/gu, " ")
    .normalize("NFC");
}

/**
 * The texts that a typed password may have been hashed as, the present one first. Earlier versions, and most other
 * systems, hashed what was typed.
 */
export function passwordTexts(typed: string): [string, ...string[]] {
  const text = passwordText(typed);
  return text === typed ? [text] : [text, typed];
}
