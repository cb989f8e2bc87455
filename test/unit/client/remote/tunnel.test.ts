import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { clientLimits } from "../../../../src/config/client-limits.ts";
import { systemClock } from "../../../../src/base/words/clock.ts";
import { closeRemote, type Ways } from "../../../../src/client/remote/reach.ts";
import type { Ssh } from "../../../../src/client/remote/ssh.ts";
import { closeTunnel } from "../../../../src/client/remote/tunnel.ts";
import { sideSocket, tunnelFiles } from "../../../../src/client/remote/tunnel-files.ts";

test("a closed tunnel leaves nothing, neither its side sockets nor what ssh was making", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tun"));
  const files = tunnelFiles(folder, { name: "a", host: "a.example", groups: [] }, {});
  const other = tunnelFiles(folder, { name: "b", host: "b.example", groups: [] }, {});
  const kept = [other.socket, other.control, sideSocket(other, 8687)];
  const own = [files.socket, files.control, `${files.control}.AbCdEfGhIjKlMnOp`];
  const sides = [8687, 8688].map((port) => sideSocket(files, port));
  for (const path of [...own, ...sides, ...kept]) writeFileSync(path, "");
  const closed: string[] = [];
  const ssh = { close: async (control: string) => void closed.push(control) } as unknown as Ssh;
  await closeTunnel({ files, ssh });
  expect(closed).toEqual([files.control]);
  expect(readdirSync(folder).sort()).toEqual(kept.map((path) => basename(path)).sort());
});

test("a remote whose command was killed while it opened the tunnel leaves nothing when it is removed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tun"));
  const remote = { name: "a", host: "a.example", groups: [] };
  const ended = Bun.spawnSync(["true"]).pid;
  const files = tunnelFiles(folder, remote, {});
  writeFileSync(files.lock, String(ended));
  writeFileSync(sideSocket(files, 8687), "");
  const ways = (tunnelsFolder: string): Ways => ({
    ...{ tunnelsFolder, ssh: {}, asks: false, variables: {}, fetch, clock: systemClock },
    ...{ limits: clientLimits.tunnel, signal: new AbortController().signal },
  });
  await closeRemote(remote, ways(folder));
  expect(readdirSync(folder)).toEqual([]);
  await closeRemote(remote, ways(join(folder, "absent")));
});
