import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Spec } from "../../src/orchestration/api/manifest.ts";

const image = "berth-web-app:1";
const setup = join(import.meta.dir, "../../setup");

/** Makes the image of `webApp` from the Bun that runs this test. */
export async function importBun(dockerHost: string): Promise<void> {
  const script = `
    for part in say packages image; do . "$1/$part.sh"; done
    image_tree=$(mktemp -d)
    mkdir -p "$image_tree/bin" "$image_tree/tmp"
    copy_program "$4" "$image_tree/bin/bun"
    tar -C "$image_tree" --owner=0 --group=0 -cf - . |
      docker -H "$2" import --change 'ENV PATH=/bin' - "$3"
    rm -rf "$image_tree"`;
  const run = Bun.spawn(["sh", "-euc", script, "sh", setup, dockerHost, image, process.execPath], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const fault = await new Response(run.stderr).text();
  if ((await run.exited) !== 0) throw new Error(`cannot make the image ${image}: ${fault}`);
}

/** Spec of a deployment that runs web-app.ts. */
export function webApp(text: string, spec: Spec = {}): Spec {
  const code = readFileSync(join(import.meta.dir, "web-app.ts"), "utf8");
  return {
    image,
    command: ["bun", "-e", code],
    env: { TEXT: text },
    ports: ["8080"],
    probes: { readiness: { http_get: { path: "/", port: 8080 }, period: "500ms" } },
    stop_grace: "5s",
    ...spec,
  };
}
