import { expect, test } from "bun:test";
import { maskedValue, withoutEnv } from "../../../../../src/observability/core/pods/mask-env.ts";

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
    env: { TOKEN: maskedValue, EMPTY: maskedValue },
    spec: {
      kind: "cronjob",
      spec: {
        schedule: "0 3 * * *",
        env: [`A=${maskedValue}`, "B"],
        job: { env: { C: maskedValue, FROM: { config: "KEY" } }, sidecars: [{ env: { D: maskedValue } }] },
      },
    },
  });
});
