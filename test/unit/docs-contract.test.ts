import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { describe, expect, test } from "bun:test";
import { inlineCode } from "../support/pages.ts";

const checkout = join(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(checkout, path), "utf8");

const golden = read("test/golden/api.txt");
const goldenOf = (document: string) => golden.split(/^## /m).find((part) => part.startsWith(`${document}.json`)) ?? "";

interface Contract {
  path: string;
  text: string;
  /** The lines of its API in the golden text. */
  api: string;
  prefix: string;
}

const contracts: Contract[] = [
  { name: "orchestration", prefix: "" },
  { name: "identity", prefix: "/api/v1" },
].map(({ name, prefix }) => {
  const path = `docs/contract/${name}.md`;
  return { path, text: read(path), api: goldenOf(name), prefix };
});

/** "2" and "2.3", from the headings. */
const sections = (text: string) => [...text.matchAll(/^##+ (\d+(?:\.\d+)?)\.? /gm)].map(([, number]) => number ?? "");

/** Requests that a page names: `GET /describe`, `POST /apply?prune=true`. Hosted pages are not in the golden text. */
const requests = (text: string) =>
  inlineCode(text).filter((code) => /^(?:GET|POST|PUT|PATCH|DELETE) \/(?!openapi\.json)/.test(code));

/** The first cells of the tables that list fields. */
function fields(text: string): string[] {
  const tables = text.split(/\n(?!\|)/).filter((table) => /^\n?\| (?:field|claim)\b/.test(table));
  return tables.flatMap((table) =>
    table
      .split("\n")
      .slice(2)
      .flatMap((row) => inlineCode(row.split("|")[1] ?? "")),
  );
}

/** Claims of tokens, and fields of webhooks: no endpoint answers with them. */
const elsewhere: Record<string, readonly string[]> = {
  "docs/contract/identity.md": ["iss", "sub", "instance_id", "app_id", "iat", "exp"],
  "docs/contract/orchestration.md": ["completed_at", "pod", "probe", "transition", "transition_id", "timestamp"],
};

describe.each(contracts.map((contract) => [contract.path, contract] as const))("%s", (path, { text, api, prefix }) => {
  test("names requests that exist", () => {
    const known = new Set([...api.matchAll(/^[A-Z]+ \/\S*/gm)].map(([request]) => request));
    const asked = requests(text).map((code) => code.replace(/\?.*/, ""));
    const missing = asked.filter((code) => {
      const [method, target = ""] = code.split(" ");
      return !known.has(code) && !known.has(`${method} ${prefix}${target}`);
    });
    expect(missing).toEqual([]);
    expect(asked.length).toBeGreaterThan(5);
  });

  test("names fields that exist", () => {
    const named = fields(text);
    const missing = named.filter((field) => !new RegExp(`\\b${field}\\b`).test(api));
    expect(missing.filter((field) => elsewhere[path]?.includes(field) !== true)).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });
});

test("comments point to sections that exist, and to no document that is not here", async () => {
  const files = [...new Glob("{src,plugins,setup,test}/**/*.{ts,tsx,sh}").scanSync(checkout)];
  const wrong: string[] = [];
  let pointers = 0;
  for (const file of files.filter((one) => !one.endsWith("docs-contract.test.ts"))) {
    const text = read(file);
    for (const [pointer, path, number = ""] of text.matchAll(/(docs\/contract\/\w+\.md), (\d+(?:\.\d+)?)/g)) {
      pointers++;
      const contract = contracts.find((one) => one.path === path);
      if (contract === undefined || !sections(contract.text).includes(number)) wrong.push(`${file}: ${pointer}`);
    }
    const unknown = /section \d+ of the contract|\((?:orchestration|identity|cli) (?:API|details),|API details/.exec(
      text,
    );
    if (unknown !== null) wrong.push(`${file}: ${unknown[0]}; write the section of docs/contract/`);
  }
  expect(wrong).toEqual([]);
  expect(pointers).toBeGreaterThan(30);
});
