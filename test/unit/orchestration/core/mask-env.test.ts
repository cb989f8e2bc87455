import { expect, test } from "bun:test";
import { MASK } from "../../../../src/orchestration/core/mask.ts";
import { withoutEnv } from "../../../../src/orchestration/core/mask-env.ts";

test("names of the environment stay, values go, wherever they stand", () => {
  const pod = {
    name: "shop-web.1",
    env: { TOKEN: "s3cret", EMPTY: "" },
    command: ["serve"],
    spec: {
      kind: "cronjob",
      spec: {
        schedule: "0 3 * * *",
        env: ["A=s3cret", "B"],
        job: { env: { C: "s3cret", FROM: { config: "KEY" } }, sidecars: [{ env: { D: "s3cret" } }] },
      },
    },
  };
  const shown = withoutEnv(pod);
  expect(JSON.stringify(shown)).not.toContain("s3cret");
  expect(shown).toEqual({
    ...pod,
    env: { TOKEN: MASK, EMPTY: MASK },
    spec: {
      kind: "cronjob",
      spec: {
        schedule: "0 3 * * *",
        env: [`A=${MASK}`, "B"],
        job: { env: { C: MASK, FROM: { config: "KEY" } }, sidecars: [{ env: { D: MASK } }] },
      },
    },
  });
});
