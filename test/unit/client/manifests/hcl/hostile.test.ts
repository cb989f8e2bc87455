// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { expect, test } from "bun:test";
import { readDocuments } from "../../../../../src/client/manifests/document.ts";
import { formatHcl } from "../../../../../src/client/manifests/hcl/format.ts";
import type { Fault } from "../../../../../src/client/manifests/source.ts";

/** Enough that work which grows with the square of it would take minutes. */
const count = 100_000;
const setup = { variables: { X: "1" }, readAsset: () => new Uint8Array(), depthMax: 64, nodesMax: 200_000 };

test.each([
  ["texts", `a "b" "c" {\n  x = [${'"s",'.repeat(count)}]\n}\n`],
  ["open templates", "${\n".repeat(count)],
  ["open templates in texts", 'a = "${\n'.repeat(count)],
  ["open templates in a heredoc", `a = <<E\n${"${x\n".repeat(count)}\nE\n`],
  ["open heredocs", "a = <<X\n".repeat(count)],
  ["open comments", "/* ".repeat(count)],
  ["open comments in a template", `a = "\${${"/* ".repeat(count)}`],
  ["open brackets", `a = ${"[".repeat(count)}`],
  ["closing brackets", `a = ${"]".repeat(count)}`],
  ["open blocks", "a {\n".repeat(count)],
  ["empty lines", "\r\n".repeat(count)],
  ["blocks of one name", `a "b" "c" {\n${"x {}\n".repeat(count)}}\n`],
  ["templates in one text", `a "b" "c" {\n  x = "${"${X}".repeat(count)}"\n}\n`],
  ["conditions", `a = ${"true ? 1 : ".repeat(count)}1`],
])(
  "reading takes time linear in the length: many %s",
  (_, text) => {
    const faults: Fault[] = [];
    readDocuments({ name: "x.hcl", text, directory: "/", format: "hcl" }, setup, faults);
    formatHcl({ name: "x.hcl", text }, 64, []);
    for (const { span } of faults) expect(span.end).toBeLessThanOrEqual(text.length);
  },
  30_000,
);
