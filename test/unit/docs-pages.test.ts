import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "bun:test";
import { readDocuments } from "../../src/client/manifests/document.ts";
import type { Fault, Format } from "../../src/client/manifests/source.ts";
import { clientLimits, limits } from "../../src/config/config.ts";
import { blockCheck, readBlockSchema } from "../../src/orchestration/core/plugins/block-schema.ts";
import { decodeManifests } from "../../src/orchestration/core/validate.ts";
import { checkBerthLine } from "../support/berth-lines.ts";
import { anchors, codeBlocks, inlineCode, links, paragraphs, readPages, shellCommands } from "../support/pages.ts";

const checkout = join(import.meta.dir, "../..");
const pages = readPages(checkout);
const byPath = new Map(pages.map((page) => [page.path, page]));
const named = pages.map((page) => [page.path, page] as const);

/** The history of a release, and records of decisions, are not rewritten. */
const isGuide = (path: string) => path !== "CHANGELOG.md" && !path.startsWith("docs/decisions/");

/** Everything wrong with the manifests of one YAML text. Shell variables count as set. */
function manifestProblems(text: string, format: Format): string[] {
  const faults: Fault[] = [];
  const source = { name: "page", text, directory: checkout, format };
  const variables = new Proxy<Record<string, string>>({}, { get: () => "value" });
  const setup = { variables, readAsset: () => new Uint8Array(), depthMax: 64, nodesMax: clientLimits.manifestNodesMax };
  const manifests = readDocuments(source, setup, faults).map(({ manifest }) => manifest);
  if (faults.length > 0) return faults.map(({ message }) => message);
  const isPluginKind = (kind: string) => kind === "postgres" || kind === "redis";
  const { problems, pluginBlocks } = decodeManifests(manifests, { limits, isPluginKind });
  const ofBlocks = pluginBlocks.flatMap(({ kind, spec }) => {
    const file = join(checkout, "plugins", kind, "schema.json");
    return blockCheck(readBlockSchema(JSON.parse(readFileSync(file, "utf8"))))(spec, 50);
  });
  return [...problems, ...ofBlocks].map(({ path, message }) => `${path}: ${message}`);
}

async function wrongBerthLines(commands: readonly string[][]): Promise<string[]> {
  const wrong: string[] = [];
  for (const [program = "", ...words] of commands) {
    if (program !== "berth") continue;
    await checkBerthLine(words).catch((error: Error) => wrong.push(`berth ${words.join(" ")}: ${error.message}`));
  }
  return wrong;
}

/** Fields of a spec, put into a deployment. */
function asDeployment(fields: string): string {
  const spec = fields.replaceAll(/^/gm, "  ");
  return `kind: deployment\nscope: shop\nname: web\nspec:\n  image: nginx:1.27\n${spec}`;
}

describe("every page", () => {
  test.each(named)("%s: manifests are valid", (_, { text }) => {
    const blocks = codeBlocks(text).filter(({ info }) => ["yaml", "yaml block", "yaml fields", "hcl"].includes(info));
    const wrong = blocks.flatMap(({ info, body, line }) => {
      const problems = manifestProblems(
        info === "yaml fields" ? asDeployment(body) : body,
        info === "hcl" ? "hcl" : "yaml",
      );
      return problems.map((problem) => `line ${line}: ${problem}`);
    });
    expect(wrong).toEqual([]);
  });

  test.each(named)("%s: berth command lines name existing commands and flags", async (_, { text }) => {
    const inBlocks = codeBlocks(text).flatMap(({ body }) => shellCommands(body));
    const inText = inlineCode(text).flatMap(shellCommands);
    const wrong = await wrongBerthLines(inBlocks);
    // Running text names a flag without its value.
    const wrongInText = (await wrongBerthLines(inText)).filter((one) => !one.endsWith("needs a value"));
    expect([...wrong, ...wrongInText]).toEqual([]);
  });

  test.each(named.filter(([path]) => isGuide(path)))("%s: lines to paste have no prompt in front", (_, { text }) => {
    expect(codeBlocks(text).flatMap(({ body }) => body.match(/^\s*\$ .*/gm) ?? [])).toEqual([]);
  });

  test.each(named)("%s: links lead to headings that exist", (path, { text }) => {
    const wrong = links(text).filter((target) => {
      const [file = "", anchor] = target.split("#");
      const to = byPath.get(file === "" ? path : normalize(join(dirname(path), file)));
      return anchor !== undefined && to !== undefined && !anchors(to.text).includes(anchor);
    });
    expect(wrong).toEqual([]);
  });

  test.each(named.filter(([path]) => isGuide(path)))("%s: paragraphs have at most 600 characters", (_, { text }) => {
    expect(paragraphs(text).filter(({ length }) => length > 600)).toEqual([]);
  });

  test("is reachable from the README", () => {
    const reached = new Set<string>();
    const waiting = ["README.md"];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (reached.has(path)) continue;
      reached.add(path);
      waiting.push(...pagesBehind(path));
    }
    expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});

/** Pages that a page links to; a link to a folder leads to the pages in it. */
function pagesBehind(path: string): string[] {
  const targets = links(byPath.get(path)?.text ?? "").map((target) => target.replace(/#.*$/, ""));
  return targets.flatMap((target) => {
    const to = normalize(join(dirname(path), target)).replace(/\/$/, "");
    return pages.map((page) => page.path).filter((one) => one === to || one.startsWith(`${to}/`));
  });
}

describe("the checks of pages", () => {
  test.each([
    ["kind: deployment\nscope: shop\nname: web\nspec: { image: nginx, replica: 2 }", "replica"],
    ["kind: postgres\nscope: shop\nname: db\nspec: { image: postgres, database: 1 }", "database"],
    ["kind: deploymnt\nscope: shop\nname: web\nspec: { image: nginx }", "kind"],
  ])("a wrong manifest is found", (text, word) => {
    expect(manifestProblems(text, "yaml").join()).toContain(word);
  });

  test.each([
    "berth aply -f app.yaml",
    "berth apply --froce -f app.yaml",
    "berth config put shop/web A=B",
    "berth identity usr list",
    "berth pg:promte data/main",
    "berth pg:promote data/main --replicas 1",
    "berth backup --passphrase x",
  ])("a wrong command is found: %s", async (line) => {
    const [[, ...words] = []] = shellCommands(line);
    expect(await wrongBerthLines([["berth", ...words]])).toHaveLength(1);
  });

  test("commands are read as a shell reads them", () => {
    expect(shellCommands('A=1 sudo berth get "a b" >x # note\nx | berth run shop/web -- sh <y && berth ps')).toEqual([
      ["berth", "get", "a b"],
      ["x"],
      ["berth", "run", "shop/web", "--", "sh"],
      ["berth", "ps"],
    ]);
  });

  test("a long list item and a long cell are found", () => {
    const long = "x".repeat(601);
    expect(paragraphs(`- ${long}\n- short\n\n| ${long} | b |\n`).filter(({ length }) => length > 600)).toHaveLength(2);
  });
});
