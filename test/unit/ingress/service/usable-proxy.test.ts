import { expect, test } from "bun:test";
import { systemClock } from "../../../../src/base/words/clock.ts";
import type { IngressProxy } from "../../../../src/ingress/proxy/proxy.ts";
import { fixedProxy, laterProxy, type UsableProxy } from "../../../../src/ingress/service/usable-proxy.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { waitFor } from "../../../support/wait.ts";

// Nothing is asked of it here.
const usable: UsableProxy = { proxy: {} as IngressProxy, version: "2.6.12", image: "haproxy:2.6" };

function later(open: () => Promise<UsableProxy>) {
  let isWanted = false;
  const source = laterProxy({
    ...{ open, isWanted: () => isWanted, advice: "install it", clock: systemClock, log: silentLog },
    limits: { lookMs: 1, firstMs: 1, maxMs: 2 },
  });
  const ending = new AbortController();
  const want = () => {
    isWanted = true;
  };
  return { source, found: source.found(ending.signal), want, end: () => ending.abort() };
}

test("nothing is fetched before it is wanted", async () => {
  const opened = Promise.withResolvers<UsableProxy>();
  const { source, found, want } = later(() => opened.promise);
  expect([source.state(), source.problem()]).toEqual(["waiting", undefined]);
  want();
  expect(source.state()).toBe("starting");
  opened.resolve(usable);
  expect(await found).toBe(usable.proxy);
  expect([source.state(), source.usable()]).toEqual(["usable", usable]);
});

test("what cannot be fetched is said with what to do, and tried again", async () => {
  let works = false;
  const { source, found, want } = later(async () => {
    if (!works) throw new Error("no such image");
    return usable;
  });
  want();
  await waitFor("a failure", () => source.state() === "unavailable");
  expect(source.problem()).toBe("no such image; install it");
  works = true;
  expect(await found).toBe(usable.proxy);
  expect(source.problem()).toBeUndefined();
});

test("a server that stops waits no longer", async () => {
  const { found, end } = later(async () => usable);
  end();
  expect(await found).toBeUndefined();
});

test("what is there, off or missing is so from the beginning", async () => {
  const { signal } = new AbortController();
  expect(await fixedProxy(usable).found(signal)).toBe(usable.proxy);
  expect(fixedProxy(usable).problem()).toBeUndefined();
  expect(fixedProxy(undefined, { problem: "off", isOff: true }).state()).toBe("off");
  const missing = fixedProxy(undefined, { problem: "HAProxy is not installed" });
  expect([missing.state(), missing.problem()]).toEqual(["unavailable", "HAProxy is not installed"]);
  expect(await missing.found(signal)).toBeUndefined();
});
