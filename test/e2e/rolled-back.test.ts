import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Rig, rig } from "../support/rig.ts";

setDefaultTimeout(120_000);

const rounds = 3;
const base = "image: berth-fixture:1, command: [sleep, '100000'], stop_grace: 0s";
const manifest = (name: string, spec: string) => `kind: deployment\nscope: back\nname: ${name}\nspec: {${spec}}\n`;
const well = `${base}, replicas: 2, rollout: {min_ready: 0s}`;

/** What cannot come up, by the reason that is told. */
const bad: [string, (round: number) => string][] = [
  ["StartFailed", (round) => well.replace("[sleep, '100000']", `[/no/such/command, '${round}']`)],
  [
    "ProgressDeadline",
    (round) =>
      `${base}, replicas: 2, env: {ROUND: '${round}'}, rollout: {min_ready: 0s, progress_deadline: 2s}, ` +
      "probes: {readiness: {exec: {command: ['false']}, period: 1s}}",
  ],
];

/** An apply whose release fails on a deployment that serves, again and again: the answer is always the same. */
describe("a release that was rolled back", () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
  });
  afterAll(() => berth?.close());

  const apply = (text: string) => berth.cli(["apply", "-y", "-f", "-"], { stdin: text });
  const releases = async (name: string) => {
    const { body } = await berth.call("GET", `/releases?scope=back&name=${name}`);
    return (body.data as unknown as { releases: { id: string; cause: string; status: string }[] }).releases;
  };

  test.each(bad)("by %s ends apply with 1, says where it went back to and why", async (reason, spec) => {
    const name = reason.toLowerCase();
    expect((await apply(manifest(name, well))).exitCode).toBe(0);
    const [good] = await releases(name);
    for (let round = 1; round <= rounds; round++) {
      const { exitCode, stderr } = await apply(manifest(name, spec(round)));
      expect({ round, exitCode, stderr }).toMatchObject({ round, exitCode: 1 });
      expect(stderr).toMatch(
        new RegExp(`✗ deployment/back/${name} rolled back to \\w+, because release \\w+ failed: ${reason}: `),
      );
      if (round === 1) expect(stderr).toContain(`rolled back to ${good?.id},`);
      await berth.ready("deployment", "back", name);
      expect((await releases(name))[0]).toMatchObject({ cause: "auto_rollback" });
    }
  });
});
