import { expect, test } from "bun:test";
import { checkForwarding, type ForwardingFacts } from "../../../src/local/checks.ts";
import { createForwardingWatch, portsIn } from "../../../src/local/forwarding.ts";
import { createLog } from "../../../src/base/words/log.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const line = (local: string, state: string) => `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 0`;

test.each([
  ["every address", line("00000000:1F90", "0A"), [8080]],
  ["its own address", line("020018AC:1F90", "0A"), [8080]],
  ["every address, version 6 too", line("00000000000000000000000000000000:1538", "0A"), [5432]],
  ["its own address as version 6 writes it", line("0000000000000000FFFF0000020018AC:1538", "0A"), [5432]],
  ["loopback", line("0100007F:1F90", "0A"), []],
  ["another address", line("030018AC:1F90", "0A"), []],
  ["a connection", line("020018AC:1F90", "01"), []],
  ["the head of the table", "  sl  local_address rem_address   st tx_queue", []],
  ["twice the same", `${line("00000000:1F90", "0A")}\n${line("00000000000000000000000000000000:1F90", "0A")}`, [8080]],
])("a port that listens on %s", (_, table, ports) => {
  expect(portsIn(`${table}\n`, "172.24.0.2")).toEqual(ports);
});

const blocked: ForwardingFacts = { state: "blocked", detail: "a cannot reach b, port 80", bridge: "br-1" };

test("the doctor fails where it is blocked, and names the rule to add", () => {
  expect(checkForwarding(blocked)).toEqual({
    name: "forwarding",
    status: "fail",
    detail: "a cannot reach b, port 80",
    mend: expect.stringContaining("iptables -I FORWARD -i br-1 -o br-1 -j ACCEPT"),
  });
  expect(checkForwarding({ state: "untested", detail: "not tested: …" })).toMatchObject({ status: "skip" });
});

test("the server tells a change once, and knows the last word", async () => {
  const clock = createFakeClock();
  const lines: string[] = [];
  const log = createLog((text) => lines.push(text));
  const found: (ForwardingFacts | Error)[] = [
    { state: "open", detail: "" },
    blocked,
    new Error("docker is away"),
    blocked,
    { state: "open", detail: "fine" },
  ];
  const examine = async () => {
    const next = found.shift();
    if (next === undefined || next instanceof Error) throw next ?? new Error("none left");
    return next;
  };
  const watch = createForwardingWatch({ examine, clock, log, firstMs: 10, everyMs: 1_000 });
  expect(watch.facts()).toBeUndefined();
  const stopping = new AbortController();
  const running = watch.run(stopping.signal);
  for (let round = 0; round < 5; round++) {
    clock.moveTo(clock.nextDue() ?? 0);
    for (let tick = 0; tick < 5; tick++) await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  }
  stopping.abort();
  await running;
  expect(lines.map((text) => JSON.parse(text).message)).toEqual([
    "containers cannot reach each other",
    "containers reach each other again",
  ]);
  expect(watch.facts()).toEqual({ state: "open", detail: "fine" });
});
