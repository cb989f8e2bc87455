import { expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../../../../src/config/config.ts";
import type { ReferenceTarget } from "../../../../src/orchestration/core/references.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";
import { startCycles } from "../../../../src/orchestration/core/start-after.ts";

/** Apps of one scope that wait for one another; `asked` has the names that were looked up. */
function world(waits: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  const owner = (name: string) => ({
    ...{ kind: "deployment" as const, scope: "s", name, spec: { image: "x", start_after: [...(waits[name] ?? [])] } },
  });
  const find = ({ kind, name }: ReferenceTarget) => {
    asked.push(name);
    return kind === "deployment" && Object.hasOwn(waits, name) ? owner(name) : undefined;
  };
  return { asked, cyclesOf: (name: string) => startCycles(owner(name), find) };
}

test("of two hundred apps that each wait for all after them, each is looked at once", () => {
  const names = Array.from({ length: 200 }, (_, at) => `a${at}`);
  const { asked, cyclesOf } = world(Object.fromEntries(names.map((name, at) => [name, names.slice(at + 1)])));
  expect(cyclesOf("a0")).toEqual([]);
  expect(asked.length).toBeLessThanOrEqual(2 * names.length);
});

test("an entry is a fault exactly where it leads back, whatever waits for what", () => {
  const name = fc.constantFrom("a", "b", "c", "d", "e");
  const graph = fc.dictionary(name, fc.uniqueArray(name, { maxLength: 4 }), { minKeys: 1 });
  fc.assert(
    fc.property(graph, name, (waits, owner) => {
      const leads = (from: string, seen = new Set<string>()): boolean =>
        from === owner || (!seen.has(from) && (waits[from] ?? []).some((next) => leads(next, seen.add(from))));
      const expected = (waits[owner] ?? []).flatMap((entry, at) => (leads(entry) ? [`spec.start_after[${at}]`] : []));
      expect(
        world(waits)
          .cyclesOf(owner)
          .map(({ path }) => path),
      ).toEqual(expected);
    }),
  );
});

test("a list that is too long is refused", () => {
  const start_after = Array.from({ length: limits.startAfterMax + 1 }, (_, at) => `a${at}`);
  expect(validateSpec("deployment", { image: "x:1", start_after }, limits)).toEqual([
    {
      path: "spec.start_after",
      message: `has ${start_after.length} entries; at most ${limits.startAfterMax} are allowed`,
    },
  ]);
});
