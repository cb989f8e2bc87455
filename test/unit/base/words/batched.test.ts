import { expect, test } from "bun:test";
import { batched } from "../../../../src/base/words/batched.ts";

const bytes = (text: string) => Buffer.from(text);

async function all(source: AsyncIterable<Uint8Array>, max = 100): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of batched(source, max)) pieces.push(Buffer.from(piece).toString());
  return pieces;
}

test("what is there at once comes as one piece", async () => {
  const source = async function* () {
    for (const text of ["a", "b", "c"]) yield bytes(text);
    await Bun.sleep(5);
    yield bytes("d");
    yield bytes("e");
  };
  expect(await all(source())).toEqual(["abc", "de"]);
});

test("a piece ends once it is large enough", async () => {
  const source = async function* () {
    for (let index = 0; index < 5; index += 1) yield bytes("12345");
  };
  expect(await all(source(), 10)).toEqual(["1234512345", "1234512345", "12345"]);
});

test("what is there is not held back while nothing more comes", async () => {
  const gate = Promise.withResolvers<void>();
  const source = async function* () {
    yield bytes("first");
    await gate.promise;
    yield bytes("second");
  };
  const pieces = batched(source(), 100);
  expect((await pieces.next()).value).toEqual(bytes("first"));
  gate.resolve();
  expect((await pieces.next()).value).toEqual(bytes("second"));
  expect((await pieces.next()).done).toBe(true);
});

test("no more is read than one piece and the part after it", async () => {
  let given = 0;
  const source = async function* () {
    for (;;) {
      given += 1;
      yield bytes("12345");
    }
  };
  const pieces = batched(source(), 10);
  await pieces.next();
  await Bun.sleep(5);
  expect(given).toBe(3);
  await pieces.return(undefined);
});

test("an error comes after what was read before it", async () => {
  const source = async function* () {
    yield bytes("a");
    throw new Error("broken");
  };
  const pieces = batched(source(), 100);
  const seen: string[] = [];
  const read = async () => {
    for await (const piece of pieces) seen.push(Buffer.from(piece).toString());
  };
  await expect(read()).rejects.toThrow("broken");
  expect(seen).toEqual(["a"]);
});

test("whoever leaves early lets go of the source", async () => {
  let ended = false;
  const source = async function* () {
    try {
      for (;;) {
        yield bytes("x");
        await Bun.sleep(1);
      }
    } finally {
      ended = true;
    }
  };
  for await (const _piece of batched(source(), 100)) break;
  await Bun.sleep(10);
  expect(ended).toBe(true);
});
