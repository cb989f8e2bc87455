import type { Report } from "./rule.ts";

/** Reports an address that is not http or https. The text is not repeated: it may carry a password. */
export function urlRule(text: string, path: string, report: Report): void {
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  if (protocol !== "http:" && protocol !== "https:") {
    report(path, 'is not an http address; write it like "https://host/path"');
  }
}
