/** The address of a webhook as it may be shown: without the password that it may carry. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return "";
  const url = new URL(text);
  url.username = "";
  url.password = "";
  return url.href;
}

/** Stands for the credentials of an address that is shown. */
const urlMask = "***";

/** An address as it may be shown: with a mask where it has credentials. */
export function maskedUrl(text: string): string {
  const shown = shownUrl(text);
  if (shown === "" || new URL(text).username + new URL(text).password === "") return shown;
  return shown.replace("//", `//${urlMask}@`);
}

/**
 * An address that was written back as it was shown, with its credentials again; undefined where the mask stands for
 * those of another place, which must not get them.
 */
export function unmaskedUrl(text: string, before: string): string | undefined {
  const url = new URL(text);
  if (url.username !== urlMask || url.password !== "") return text;
  const old = new URL(before);
  if (url.origin !== old.origin || old.username + old.password === "") return undefined;
  url.username = old.username;
  url.password = old.password;
  return url.href;
}
