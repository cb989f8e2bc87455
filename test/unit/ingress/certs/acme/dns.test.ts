import { expect, test } from "bun:test";
import { type DnsAnswers, setDnsRecord } from "../../../../../src/ingress/certs/acme/dns.ts";
import { createFakeClock } from "../../../../support/fake-clock.ts";

const record = { name: "_acme-challenge.shop.test", text: "proof" };

function recorder(more: Partial<DnsAnswers>) {
  const calls: string[] = [];
  const dns: DnsAnswers = {
    set: async ({ name, text }) => void calls.push(`set ${name} ${text}`),
    clear: async ({ name, text }) => void calls.push(`clear ${name} ${text}`),
    look: async () => [],
    seenMs: 10_000,
    ...more,
  };
  const clock = { ...createFakeClock(), sleep: async (ms: number) => void calls.push(`sleep ${ms}`) };
  const set = () => setDnsRecord(dns, { ...record, clock, signal: new AbortController().signal });
  return { calls, set };
}

test("a record is waited for until it is seen, and taken away when asked", async () => {
  let looks = 0;
  const { calls, set } = recorder({ look: async () => (++looks < 3 ? ["other"] : ["other", "proof"]) });
  const clear = await set();
  await clear();
  const named = "_acme-challenge.shop.test proof";
  expect(calls).toEqual([`set ${named}`, "sleep 5000", "sleep 5000", `clear ${named}`]);
});

test("a record that is never seen is taken away, and named", async () => {
  const { calls, set } = recorder({});
  await expect(set()).rejects.toThrow(
    "dns: TXT record _acme-challenge.shop.test is not seen within 10 s after the plugin has set it",
  );
  await set().catch(() => undefined);
  expect(calls.filter((call) => call.startsWith("clear"))).toHaveLength(2);
});

test("a lookup that fails leaves no record behind", async () => {
  const { calls, set } = recorder({ look: () => Promise.reject(new Error("no network")) });
  await expect(set()).rejects.toThrow("no network");
  expect(calls.at(-1)).toStartWith("clear");
});
