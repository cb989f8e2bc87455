import { readdir, writeFile } from "node:fs/promises";
import { readTextFile } from "../base/disk/read-text.ts";
import { clientLimits } from "../config/config.ts";
import { diskFailure } from "../base/wire/disk-failure.ts";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CommandFailure, usageFailure } from "../client/basics/failures.ts";
import { limits, pluginEnvironment } from "../config/config.ts";
import { differences, type Expected, type Fixture, readFixture } from "../orchestration/core/plugins/fixture.ts";
import { createHost } from "../orchestration/plugins/host.ts";
import { readPackage } from "../orchestration/plugins/package.ts";
import { type FixtureSetting, runFixture } from "./plugin-fixture.ts";
import { report, wantsJson } from "./report.ts";
import { sayNow } from "../client/basics/output.ts";

export const pluginTestUsage = `usage: berth plugins test [DIR] [--update] [-o json]

Runs the commands of a plugin like the server, as DIR/tests/*.json say, and compares the answers.
"<any>" matches every value. Exits with 1 if an answer differs, or if the server would reject it.

  --update   write the current answers into the files`;

interface Outcome {
  test: string;
  faults: string[];
  updated: boolean;
}

/** `berth plugins test`. */
export async function pluginTestCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: {
      update: { type: "boolean" },
      output: { type: "string", short: "o" },
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
  });
  if (values.help) {
    sayNow(pluginTestUsage);
    return 0;
  }
  const [given = ".", ...more] = positionals;
  if (more.length > 0) throw usageFailure("say one folder: berth plugins test [DIR]");
  const outcomes = await testAll(resolve(given), values.update === true);
  const failed = outcomes.filter(({ faults }) => faults.length > 0);
  const lines = outcomes.flatMap(({ test, faults, updated }) => [
    `${faults.length > 0 ? "FAIL" : "ok  "} ${test}${updated ? " (written)" : ""}`,
    ...faults.map((text) => `     ${text}`),
  ]);
  const counted = `${outcomes.length - failed.length} passed, ${failed.length} failed`;
  report({ json: wantsJson(values.output), data: { tests: outcomes } }, [...lines, counted]);
  return failed.length > 0 ? 1 : 0;
}

async function testAll(folder: string, update: boolean): Promise<Outcome[]> {
  const plugin = await readPackage(folder);
  const tests = join(folder, "tests");
  const files = (await readdir(tests).catch((): string[] => [])).filter((name) => name.endsWith(".json")).sort();
  if (files.length === 0) throw new CommandFailure(`no tests: there is no "${join(tests, "*.json")}"`);
  const host = createHost({ limits, runVariable: "BERTH_RUN_ID" });
  const setting: FixtureSetting = { host, plugin, folder, environment: pluginEnvironment() };
  const outcomes: Outcome[] = [];
  try {
    for (const file of files) outcomes.push(await testOne(setting, { test: file, path: join(tests, file), update }));
  } finally {
    await host.close();
  }
  return outcomes;
}

async function testOne(
  setting: FixtureSetting,
  { test, path, update }: { test: string; path: string; update: boolean },
): Promise<Outcome> {
  const content = await readTextFile(path, clientLimits.fileBytesMax);
  const { fixture, faults } = parse(content);
  if (fixture === undefined) return { test, faults, updated: false };
  const answer = await runFixture(setting, fixture);
  const isNew = fixture.expect === undefined;
  if (update || isNew) await writeExpected(path, content, answer.got);
  const different = update || isNew ? [] : compare(fixture.expect, answer.got);
  return { test, faults: [...answer.faults, ...different], updated: update || isNew };
}

function parse(content: string): { fixture: Fixture | undefined; faults: string[] } {
  try {
    const { fixture, problems } = readFixture(JSON.parse(content));
    const faults = problems.map(({ path, message }) => `${path} ${message}`.trim());
    return { fixture: faults.length > 0 ? undefined : fixture, faults };
  } catch (error) {
    return { fixture: undefined, faults: [error instanceof Error ? error.message : String(error)] };
  }
}

/** Only what the file names is compared, and the exit code. */
function compare(expected: Expected | undefined, got: Expected): string[] {
  return Object.entries(expected ?? {}).flatMap(([key, value]) =>
    differences(value, Object.entries(got).find(([name]) => name === key)?.[1], { path: key }),
  );
}

async function writeExpected(path: string, content: string, got: Expected): Promise<void> {
  const file: unknown = JSON.parse(content);
  const { calls, ...answer } = got;
  const expect = calls === undefined || calls.length === 0 ? answer : { ...answer, calls };
  await writeFile(path, `${JSON.stringify({ ...(file as object), expect }, null, 2)}\n`).catch((error: unknown) => {
    throw diskFailure(error, path);
  });
}
