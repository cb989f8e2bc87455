import { describe, expect, test } from "bun:test";
import { type Call, cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const manifest = (build: string) => `kind: deployment\nscope: shop\nname: web\nspec:\n  build: ${build}\n`;
const files = (build = "{}", steps = "") => ({
  "berth.yaml": manifest(build),
  Dockerfile: `FROM x\n${steps}`,
  ".npmrc": "tok",
});
const server = ({ path }: Call) =>
  path === "/builds" ? { build: { image: "built", status: "succeeded" }, reused: true } : [];

async function build(at: string, ...flags: string[]) {
  const { calls, err, code } = await cli(["build", "-f", "berth.yaml", ...flags], { cwd: at, server });
  return { body: calls.find(({ path }) => path === "/builds")?.body as Record<string, unknown>, err, code };
}

describe("secrets of a build", () => {
  test("come from files of the operator and from the config of the app; the flag wins", async () => {
    using at = folder(files("{ secrets: [TOKEN, npm] }"));
    const { body } = await build(at.path, "--secret", "id=npm,src=.npmrc");
    expect(body).toMatchObject({ secrets: { npm: "tok" }, config_secrets: ["TOKEN"] });
  });

  test.each([
    ["npm", "write id=ID,env=NAME or id=ID,src=FILE"],
    ["id=a,env=B,src=c", "write id=ID,env=NAME"],
    ["id=a,target=/x", "write id=ID,env=NAME"],
    ["id=a,src=gone", '--secret a: "gone" does not exist'],
    ["id=a,env=BERTH_TEST_NOT_SET", "the variable BERTH_TEST_NOT_SET is not set"],
    ["id=BERTH_TEST_NOT_SET", "the variable BERTH_TEST_NOT_SET is not set"],
  ])("--secret %s is refused", async (text, words) => {
    using at = folder(files());
    const { body, err } = await build(at.path, "--secret", text);
    expect([body, err]).toEqual([undefined as never, expect.stringContaining(words)]);
  });
});

test("BuildKit is asked for where the Dockerfile needs it, and else no new field is sent", async () => {
  using plain = folder(files());
  using modern = folder(files("{}", "RUN --mount=type=cache,target=/x true\n"));
  expect(Object.keys((await build(plain.path)).body).sort()).toEqual([
    "args",
    "context",
    "dockerfile",
    "name",
    "scope",
  ]);
  expect((await build(modern.path)).body).toMatchObject({ buildkit: true });
});

test("limits of the steps are checked before anything is sent", async () => {
  using at = folder(files());
  expect((await build(at.path, "--build-memory", "2Gi", "--build-cpu", "1.5")).body).toMatchObject({
    memory: "2Gi",
    cpu: "1.5",
  });
  expect((await build(at.path, "--build-memory", "lots")).err).toContain("write a size such as 512Mi");
  expect((await build(at.path, "--build-cpu", "0")).err).toContain("write a number of CPUs");
});
