import { expect, test } from "bun:test";
import { readBounded } from "../../../../src/base/words/read-bounded.ts";

function given(pieces: number) {
  const pulled: number[] = [];
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (pulled.length === pieces) return controller.close();
        controller.enqueue(new Uint8Array(10).fill(pulled.push(0)));
      },
      cancel() {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, pulled, isCancelled: () => isCancelled };
}

test("a body is read whole", async () => {
  const bytes = await readBounded(given(10), 100, () => new Error("too long"));
  expect([bytes.length, bytes[0], bytes[99]]).toEqual([100, 1, 10]);
});

test("a body is read no further than its limit", async () => {
  const { body, pulled, isCancelled } = given(10);
  const failure = readBounded({ body }, 35, () => new Error("too long"));
  expect(await failure.catch((error: unknown) => String(error))).toBe("Error: too long");
  expect([pulled.length, isCancelled()]).toEqual([4, true]);
});

test("no body is empty", async () =>
  expect(await readBounded({ body: null }, 0, () => new Error())).toEqual(Buffer.of()));
