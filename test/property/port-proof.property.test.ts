import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  duePorts,
  type PortProof,
  portStep,
  portsWakeAt,
  startProof,
  unproven,
  withPorts,
} from "../../src/orchestration/core/port-proof.ts";

const port = fc.integer({ min: 1, max: 5 });
const ports = fc.uniqueArray(port, { maxLength: 5 });
const act = fc.oneof(
  fc.record({ type: fc.constant("answer" as const), port, isOpen: fc.boolean(), isRequired: fc.boolean() }),
  fc.record({ type: fc.constant("led to" as const), ports }),
  fc.record({ type: fc.constant("wait" as const), ms: fc.nat({ max: 100_000 }) }),
);

test("a port counts from its first answer on, is then never asked again, and until then always will be", () => {
  fc.assert(
    fc.property(ports, fc.array(act, { maxLength: 40 }), (first, acts) => {
      let now = 0;
      let proof: PortProof = startProof(first, now);
      let led = new Set(first);
      let open = new Set<number>();
      for (const one of acts) {
        if (one.type === "wait") now += one.ms;
        if (one.type === "led to") {
          led = new Set(one.ports);
          open = new Set([...open].filter((known) => led.has(known)));
          proof = withPorts(proof, led, now);
        }
        // Answers come only to ports that are due.
        if (one.type === "answer" && duePorts(proof, now).includes(one.port)) {
          proof = portStep(proof, { ...one, text: "no", at: now });
          if (one.isOpen) open.add(one.port);
        }
        for (const each of [1, 2, 3, 4, 5]) {
          expect(unproven(proof, [each]) === undefined).toBe(!led.has(each) || open.has(each));
        }
        const waiting = [...led].filter((each) => !open.has(each));
        const wakeAt = portsWakeAt(proof, new Set());
        expect(wakeAt !== undefined).toBe(waiting.length > 0);
        if (wakeAt !== undefined) expect(wakeAt - now).toBeLessThanOrEqual(60_000);
      }
    }),
  );
});
