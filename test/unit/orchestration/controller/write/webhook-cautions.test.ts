import { expect, test } from "bun:test";
import { closedWebhookCautions } from "../../../../../src/orchestration/controller/write/apply-plan.ts";

const hosts = (...urls: string[]) =>
  closedWebhookCautions("deployment", { on_probe: { failure: urls.map((url) => ({ url })) } }).map(
    (text) => /"(.*)"/.exec(text)?.[1],
  );

test("addresses and names that are of this machine or its networks", () => {
  expect(
    hosts("http://127.0.0.1/x", "https://10.1.2.3", "http://[::1]:80/", "http://localhost:1", "http://a.localhost"),
  ).toEqual(["127.0.0.1", "10.1.2.3", "::1", "localhost", "a.localhost"]);
});

test("what is public, is a name, or cannot be read is left to the time of sending", () => {
  expect(hosts("https://8.8.8.8/", "https://hooks.example/x", "http://web.shop/", "not a url")).toEqual([]);
  expect(closedWebhookCautions("deployment", {})).toEqual([]);
});

test("each list is named", () => {
  const url = "http://127.0.0.1/";
  const both = { success: [{ url }], failure: [{ url }] };
  const texts = closedWebhookCautions("deployment", {
    on_deploy: both,
    on_probe: { failure: [{ url }], recovery: [{ url }] },
  });
  expect(texts.map((text) => text.split(":")[0])).toEqual([
    "on_deploy.success",
    "on_deploy.failure",
    "on_probe.failure",
    "on_probe.recovery",
  ]);
});
