import { expect, test } from "bun:test";
import { appStates, replicaStates } from "../../../../src/observability/api/app-model.ts";
import {
  appTones,
  byText,
  causeText,
  outcomeTone,
  reachOf,
  releaseStateText,
  replicaTones,
} from "../../../../src/ui/text/states.ts";

test("only what is ready is green: a crash loop never is", () => {
  expect(appStates.filter((state) => appTones[state] === "good")).toEqual(["ready"]);
  expect(replicaStates.filter((state) => replicaTones[state] === "good")).toEqual(["ready"]);
});

test("an outcome that is not known is not a good one", () => {
  expect(outcomeTone("succeeded")).toBe("good");
  expect(outcomeTone("failed")).toBe("bad");
  expect(outcomeTone("running")).toBe("work");
  expect(outcomeTone("constructor")).toBe("warn");
});

test("a release reads as words", () => {
  expect(causeText("auto_rollback")).toBe("automatic rollback");
  expect(causeText("apply")).toBe("apply");
  expect(releaseStateText("running")).toBe("under way");
  expect(byText({ actor: "pat:Ab3dEf", actor_name: "web UI of ana@vm" })).toBe("web UI of ana@vm");
  expect(byText({})).toBe("berth");
  expect(releaseStateText("failed")).toBe("failed");
});

test("an address that does not open says why", () => {
  const host = { host: "a.example", url: "https://a.example/", paths: [], tls: true, ingress: "shop/a" };
  const reach = (state: "ready" | "down", certificate?: { state: string; issuer: string; error?: string }) =>
    reachOf({
      state,
      summary: "0 of 1 ready",
      hosts: [
        { ...host, certificate },
        { ...host, host: "*.a.example" },
      ],
    });
  expect(reach("ready")).toEqual([{ url: host.url }]);
  expect(reach("ready", { state: "valid", issuer: "x" })).toEqual([{ url: host.url }]);
  expect(reach("down")[0]?.why).toContain("0 of 1 ready");
  expect(reach("ready", { state: "failed", issuer: "x", error: "no address in DNS" })[0]?.why).toContain("in DNS");
});
