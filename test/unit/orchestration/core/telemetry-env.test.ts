import { expect, test } from "bun:test";
import { instanceEnv, telemetryEnv } from "../../../../src/orchestration/core/telemetry-env.ts";

test("replicas are told apart in what the server wrote, and what an app wrote itself is left alone", () => {
  const env = telemetryEnv({ scope: "shop", name: "web", url: "http://10.0.0.1:4318" });
  expect(env.OTEL_SERVICE_NAME).toBe("web");
  const replica = { scope: "shop", instance: "a1b2" };
  expect(instanceEnv(env, replica)).toEqual({
    OTEL_RESOURCE_ATTRIBUTES: "service.namespace=shop,service.instance.id=a1b2",
  });
  expect(instanceEnv({ OTEL_RESOURCE_ATTRIBUTES: "team=blue" }, replica)).toEqual({});
  expect(instanceEnv({}, replica)).toEqual({});
});
