import { join } from "node:path";
import { Glob } from "bun";
import { expect, test } from "bun:test";
import { threads } from "../../src/threads.ts";

const checkout = join(import.meta.dir, "../..");

test("the entry points of threads, which build.ts builds, are all workers that there are", async () => {
  const paths = Object.values(threads).map((url) => Bun.fileURLToPath(url).slice(checkout.length + 1));
  const workers = [...new Glob("src/**/worker.ts").scanSync(checkout)];
  expect(workers).not.toEqual([]);
  expect(paths.toSorted()).toEqual(workers.toSorted());
});

test("only a file of src/ itself asks for its own URL: in the executable, one of a folder has none", async () => {
  const asking: string[] = [];
  for await (const path of new Glob("src/**/*.{ts,tsx}").scan(checkout)) {
    if ((await Bun.file(join(checkout, path)).text()).includes("import.meta.url")) asking.push(path);
  }
  expect(asking).toEqual(["src/threads.ts"]);
});
