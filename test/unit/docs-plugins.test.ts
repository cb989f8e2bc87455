import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { PluginPreview } from "../../src/orchestration/api/plugins.ts";
import { AttendInput, DispatchInput, ExpandInput, ProgressLine } from "../../src/orchestration/api/plugins/protocol.ts";
import { globalFlags } from "../../src/client/shell/help.ts";
import { parseArguments } from "../../src/client/basics/arguments.ts";
import { previewText } from "../../src/client/text/plugin-text.ts";
import { splitPluginWord } from "../../src/client/entry/plugin-words.ts";
import { localCommands } from "../../src/client/basics/local-commands.ts";
import { loaded, verbs } from "../../src/client/entry/table.ts";
import { limits } from "../../src/config/config.ts";
import { decodeActions } from "../../src/orchestration/core/plugins/actions.ts";
import { readReply } from "../../src/orchestration/core/plugins/envelope.ts";
import { readExpansion } from "../../src/orchestration/core/plugins/expansion.ts";
import { isFields } from "../../src/base/pure/fields.ts";
import { pluginYmlKeys, readPluginYml } from "../../src/orchestration/core/plugins/plugin-yml.ts";
import { decodeManifests } from "../../src/orchestration/core/validate.ts";
import { pluginTestCommand } from "../../src/local/plugin-test.ts";
import { lintPackage } from "../../src/orchestration/plugins/lint.ts";
import { parsePluginYml } from "../../src/orchestration/plugins/yaml.ts";
import { plainStyle } from "../support/plain-style.ts";
import { type PluginYard, pluginYard, writeTree } from "../support/plugin-yard.ts";

const text = readFileSync(join(import.meta.dir, "../../docs/plugins.md"), "utf8");

interface Snippet {
  /** `json command-answer` */
  info: string;
  body: string;
  line: number;
}

const snippets: Snippet[] = [...text.matchAll(/^```(\S[^\n]*)\n(.*?)^```$/gms)].map((match) => ({
  info: match[1] ?? "",
  body: match[2] ?? "",
  line: text.slice(0, match.index).split("\n").length,
}));

const block = { index: 0, kind: "greet", scope: "demo", name: "web", spec: {}, ifRevision: undefined };

function dataOf(body: string): unknown {
  const reply = readReply(body, limits);
  if (reply.type !== "ok") throw new Error(`no envelope that went well: ${JSON.stringify(reply)}`);
  return reply.data;
}

/** How each kind of snippet is checked. */
const checks: Record<string, (body: string) => void> = {
  "sh commands": (body) => {
    for (const line of body.trim().split("\n")) checkCommand(line);
  },
  "sh not-run": () => undefined,
  // test/ingress/plugin-route.test.ts runs both.
  "sh front-apply": (body) => expect(Bun.spawnSync(["sh", "-n", "-c", body]).stderr.toString()).toBe(""),
  "sh front-remove": (body) => expect(Bun.spawnSync(["sh", "-n", "-c", body]).stderr.toString()).toBe(""),
  "yaml ingress": (body) => {
    const { value } = parsePluginYml(body);
    expect(decodeManifests(value, { limits, isPluginKind: () => false }).problems).toEqual([]);
  },
  "yaml block": (body) => {
    const { value } = parsePluginYml(body);
    const { problems, pluginBlocks } = decodeManifests(value, { limits, isPluginKind: (kind) => kind === "postgres" });
    expect([problems, pluginBlocks.length]).toEqual([[], 1]);
  },
  "yaml permissions": (body) => {
    expect(readPluginYml(parsePluginYml(body).value, "x").problems).toEqual([]);
  },
  "json expand-input": (body) => expect([...Value.Errors(ExpandInput, JSON.parse(body))]).toEqual([]),
  "yaml tokens": (body) => {
    const { yml, problems } = readPluginYml(parsePluginYml(body).value, "x");
    expect(problems).toEqual([]);
    if (yml.routes === undefined) expect(yml.commands.at(-1)?.access).toBe("operator");
  },
  "yaml attend": (body) => {
    const { yml, problems } = readPluginYml(parsePluginYml(body).value, "x");
    expect([problems, yml.attend]).toEqual([[], { command: "attend", unready: "5s" }]);
  },
  "yaml backup": (body) => {
    const { yml, problems } = readPluginYml(parsePluginYml(body).value, "x");
    expect([problems, Object.keys(yml.backup ?? {}).sort()]).toEqual([[], ["check", "dump", "restore"]]);
  },
  "json attend-input": (body) => expect([...Value.Errors(AttendInput, JSON.parse(body))]).toEqual([]),
  "json dispatch-input": (body) => expect([...Value.Errors(DispatchInput, JSON.parse(body))]).toEqual([]),
  "json expand-answer": (body) => expect(readExpansion(dataOf(body), block, limits).problems).toEqual([]),
  "json command-answer": (body) => {
    const data = dataOf(body);
    const { actions, problems } = decodeActions(isFields(data) ? data.actions : undefined, limits);
    expect([problems, actions.length]).toEqual([[], 7]);
  },
  "json preview": (body) => expect([...Value.Errors(PluginPreview, JSON.parse(body))]).toEqual([]),
  "text preview": (body) => {
    const shown = JSON.parse(snippets.find(({ info }) => info === "json preview")?.body ?? "") as PluginPreview;
    const warnings = shown.warnings.map((warning) => `warning: ${warning}\n`).join("");
    expect(body).toBe(`${previewText(shown, plainStyle)}\n${warnings}\nInstall it? [y/N]\n`);
  },
  "json error-answer": (body) => expect(readReply(body, limits).type).toBe("error"),
  "json progress": (body) => {
    for (const line of body.trim().split("\n")) expect([...Value.Errors(ProgressLine, JSON.parse(line))]).toEqual([]);
  },
};

const commands = await Promise.all(verbs.map(loaded));

/** The verb is one of ours, or a plugin's, and knows its flags. */
function checkCommand(line: string): void {
  const [program, ...words] = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
  expect(program).toBe("berth");
  const [verb = "", ...rest] = words;
  if (localCommands.some(({ name }) => name === `${verb} ${rest[0]}`) || splitPluginWord(verb).length > 1) return;
  if (["pg", "help"].includes(verb)) return;
  const command = commands.find(({ name }) => name === verb);
  if (command === undefined) throw new Error(`no command "${verb}"`);
  const args = parseArguments(rest, [...command.flags, ...globalFlags]);
  const forms = command.usage.flatMap((form) => form.split(/[\s|]+/));
  if (args.words[0] !== undefined)
    expect(forms.some((form) => form.replace(/[[\]]/g, "") === args.words[0])).toBe(true);
}

describe("docs/plugins.md", () => {
  test.each(snippets.filter(({ info }) => !info.includes("file=")).map((one) => [one.line, one] as const))(
    "the snippet in line %d is right",
    (_, { info, body }) => {
      const check = checks[info];
      if (check === undefined) throw new Error(`nothing checks a snippet "${info}"`);
      check(body);
    },
  );

  test("has no snippet without a check, and names every key of plugin.yml", () => {
    expect(text.match(/^```/gm)?.length).toBe(snippets.length * 2);
    const [, table = ""] = /## plugin\.yml\n(.*?)\n## /s.exec(text) ?? [];
    for (const key of pluginYmlKeys) expect(table).toContain(`\`${key}\``);
  });
});

describe("the plugin of docs/plugins.md", () => {
  let folder: string;
  let yard: PluginYard;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-docs-"));
    const files = snippets.flatMap(({ info, body }) => {
      const [, file] = /file=(\S+)$/.exec(info) ?? [];
      return file === undefined ? [] : [[file, body] as const];
    });
    expect(files.length).toBeGreaterThanOrEqual(6);
    writeTree(folder, Object.fromEntries(files));
    yard = await pluginYard();
  });
  afterAll(async () => {
    await yard.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("has no fault, and its tests pass", async () => {
    expect(await lintPackage(folder)).toEqual({ errors: [], warnings: [] });
    expect(await pluginTestCommand([folder])).toBe(0);
  });

  test("is installed and says what the page says", async () => {
    const { permissions } = await yard.installer.install({ source: folder });
    expect(permissions.actions).toEqual(["apply_manifest", "config_set"]);
    expect(await yard.say("greet", "hello", "ana")).toBe("hello ana");
    const stopped = dataOf(await yard.say("greet", "stop", "demo/web"));
    expect(decodeActions(isFields(stopped) ? stopped.actions : [], limits)).toMatchObject({
      problems: [],
      actions: [{ type: "config_set", scope: "demo", name: "web" }],
    });
  });
});
