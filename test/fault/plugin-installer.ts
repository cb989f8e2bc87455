import { pluginYard } from "../support/plugin-yard.ts";

/** Installs into a root, and ends itself as `kill -9` does when it has done the step. */
const [root = "", releasesUrl = "", step = "", source = "", ...words] = process.argv.slice(2);

const yard = await pluginYard({
  root,
  releasesUrl,
  reached: (done) => {
    if (done === step) process.kill(process.pid, "SIGKILL");
  },
});
if (source === "remove") await yard.installer.remove("hello");
else await yard.installer.install({ source, replace: words.includes("replace") });
await yard.close();
