import type { Report } from "./rule.ts";

interface Largest {
  bytes: number;
  text: string;
}

/** More than any machine has: what is above it is a slip of the hand. */
const ofAnyMachine: Largest = { bytes: 1024 ** 5, text: "1024Ti" };

interface SizeAt {
  /** As it is written. */
  text: string;
  path: string;
  report: Report;
  most?: Largest;
}

/** Reports a size above the largest one. */
export function bytesRule(bytes: number, { text, path, report, most = ofAnyMachine }: SizeAt): void {
  if (bytes > most.bytes) report(path, `"${text}" is above the largest size, "${most.text}"`);
}
