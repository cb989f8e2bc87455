import { expect, test } from "bun:test";
import { join } from "node:path";
import { clientCalls } from "../../../../src/local/ui/calls.ts";

const root = join(import.meta.dir, "../../../../src");

/** What a module loads when it is used, in one text. */
async function bundled(path: string): Promise<string> {
  const made = await Bun.build({
    ...{
      entrypoints: [join(root, path)],
      root,
      target: "bun",
      format: "esm",
      splitting: true,
      plugins: [await clientCalls()],
    },
  });
  return made.outputs[0]?.text() ?? "";
}

const library = "TypeBox.Kind";

test.each(["get", "logs", "describe", "ps", "status", "apply", "rollback", "alerts"])(
  "the command %s knows how to call the server, and makes no schemas",
  async (verb) => {
    const text = await bundled(`client/commands/${verb}.ts`);
    expect(text).toMatch(/"?method"?: ?"(?:GET|POST)"/);
    expect(text).not.toContain(library);
  },
);

test("a command that checks manifests has the schemas", async () => {
  expect(await bundled("client/commands/explain.ts")).toContain(library);
});
