import { normalJit } from "./base/words/follow-load.ts";
import { settleAllocator } from "./config/allocator.ts";

const [verb, ...rest] = process.argv.slice(2);

// A server compiles as usual while it is busy.
if (verb === "serve") settleAllocator();
else normalJit();

// A plugin is run for every block of an apply: it loads nothing of the client.
process.exitCode =
  verb === "plugin"
    ? await (await import("../plugins/bundled.ts")).runBundled(rest)
    : await (
        await import("./client.ts")
      ).client(process.argv.slice(2), async () => {
        const { declaredPlugins } = await import("../plugins/bundled.ts");
        return declaredPlugins();
      });
