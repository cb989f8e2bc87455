/** The address of a webhook as it may be shown: without the password that it may carry. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return "";
  const url = new URL(text);
  url.username = "";
  url.password = "";
  return url.href;
}
