import { describe, expect, test } from "bun:test";
import { coreKinds } from "../../../../src/orchestration/api/manifest.ts";
import { specSchemas } from "../../../../src/orchestration/api/kinds/schemas.ts";
import { meantField } from "../../../../src/base/pure/field-words.ts";

const deployment = Object.keys(specSchemas.deployment.properties);

describe("a field that a deployment does not have", () => {
  test.each([
    ["enviroment", "env"],
    ["environment", "env"],
    ["env_vars", "env"],
    ["port", "ports"],
    ["volume", "volumes"],
    ["healthcheck", "health_check"],
    ["cmd", "command"],
    ["args", "command"],
    ["restart_policy", "restart"],
    ["restartPolicy", "restart"],
    ["livenessProbe", "probes.liveness"],
    ["mem_limit", "resources.limits.memory"],
    ["initContainers", "inits"],
    ["volumeMounts", "volumes"],
    ["stop-grace", "stop_grace"],
    ["imge", "image"],
    ["extra", "extra_hosts"],
  ])("%p is taken for %p", (word, field) => {
    expect(meantField(word, deployment)).toBe(field);
  });

  test.each(["x", "frobnicate", "", "zz"])("%p is nothing that it has", (word) => {
    expect(meantField(word, deployment)).toBeUndefined();
  });
});

test("a field is never suggested to a kind that lacks it", () => {
  const words = ["memory", "port", "cron", "claims", "domain", "healthcheck", "namespace", "user"];
  for (const kind of coreKinds) {
    const known = Object.keys(specSchemas[kind].properties);
    for (const word of words) {
      const field = meantField(word, known);
      if (field !== undefined) expect(known).toContain(field.split(".")[0] ?? "");
    }
  }
});
