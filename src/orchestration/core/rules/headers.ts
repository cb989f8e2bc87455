import type { Report } from "./rule.ts";

const namePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** HTTP header names and values (RFC 9110, section 5). Values are never repeated: they may be secrets. */
export function headerRules(headers: Record<string, string>, path: string, report: Report): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!namePattern.test(name)) report(path, `"${name}" is not a header name`);
    if (/[\r\n]/.test(value)) report(path, `the value of "${name}" holds a line break`);
  }
}
