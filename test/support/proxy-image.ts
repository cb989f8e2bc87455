import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { executable } from "./executable.ts";
import { haproxyPath } from "./haproxy.ts";

/** As the official image has it: HAProxy with its libraries, and its user. Made from this machine's own, so that no registry is needed. */
export function importProxyImage(dockerHost: string, ref: string): void {
  const tree = mkdtempSync(join(tmpdir(), "proxy-image."));
  const put = (from: string, to = from) => {
    mkdirSync(join(tree, dirname(to)), { recursive: true });
    cpSync(from, join(tree, to), { dereference: true });
  };
  try {
    put(haproxyPath, "/usr/local/sbin/haproxy");
    for (const library of librariesOf(haproxyPath)) put(library);
    mkdirSync(join(tree, "etc"), { recursive: true });
    writeFileSync(
      join(tree, "etc/passwd"),
      "root:x:0:0:root:/root:/bin/sh\nhaproxy:x:99:99::/var/lib/haproxy:/bin/false\n",
    );
    writeFileSync(join(tree, "etc/group"), "root:x:0:\nhaproxy:x:99:\n");
    const path = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    const made = Bun.spawnSync(
      [
        "sh",
        "-c",
        `tar -C "$1" --owner=0 --group=0 -cf - . | docker -H "$2" import --change "$3" --change 'USER haproxy' - "$4"`,
        "sh",
        tree,
        dockerHost,
        path,
        ref,
      ],
      { stdout: "ignore", stderr: "pipe" },
    );
    if (!made.success) throw new Error(`docker import of ${ref}: ${made.stderr}`);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

function librariesOf(program: string): string[] {
  const said = Bun.spawnSync(["ldd", program]).stdout.toString();
  return [...said.matchAll(/\s(\/\S+) \(0x/g)].map(([, path]) => path ?? "");
}

/** The executable as it runs on a machine without HAProxy: in a mount namespace of its own, where the program is not one. */
export function withoutHaproxy(folder: string): string {
  const path = join(folder, "berth-without-haproxy");
  const hidden = `mount --bind /dev/null ${haproxyPath} && exec ${executable} "$@"`;
  writeFileSync(path, `#!/bin/sh\nexec unshare --mount sh -c '${hidden}' berth "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}
