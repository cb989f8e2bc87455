import { createGate } from "../base/deliver/gate.ts";
import { createLife } from "../backups/service/life.ts";
import { readLifeFile, writeLifeFile } from "../base/disk/life-file.ts";
import { loadKey } from "../base/disk/key-file.ts";
import { layoutOf } from "../base/disk/layout.ts";
import { leaveSocketFolder, makeFolders, prepareRoot } from "../base/disk/root.ts";
import { ingressWord } from "../base/http/ingress-word.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Log } from "../base/words/log.ts";
import type { Opened } from "../base/words/opened.ts";
import { backupLimits } from "../config/backup-limits.ts";
import { limits, type ServeOptions } from "../config/config.ts";
import { takeUpLogs } from "../local/stored-logs.ts";
import { mapSecrets } from "../orchestration/core/mask.ts";
import { naming } from "../orchestration/core/naming.ts";
import { openStore } from "../orchestration/store/open-store.ts";

const restored = "this server was restored from a backup; first: berth restore --confirm";

/** The folder of all state, which is locked by the opened database. */
export async function openRoot(options: ServeOptions, log: Log, { step }: Opened) {
  const layout = layoutOf(options.root);
  await step("make the folders", () => makeFolders(layout));
  const names = naming(options.prefix);
  const key = await step("read the key", () => loadKey(layout));
  const word = ingressWord(key, names.headerPrefix);
  const store = await step(
    "open the database",
    () =>
      openStore({
        path: layout.database,
        lockPath: layout.lock,
        key,
        mapSecrets,
        limits,
        onListenerError: (error) => log.error("store listener failed", { error }),
      }),
    (it) => it.close(),
  );
  // Leftovers are cleared only once the root is known to be ours.
  await step(
    "clear the root",
    () => prepareRoot(layout),
    () => leaveSocketFolder(layout),
  );
  await step("bring back logs and figures", () => takeUpLogs(layout, log));
  const life = createLife({
    read: () => readLifeFile(layout),
    write: (stored) => writeLifeFile(layout, stored),
    ...{ clock: systemClock, handoverMs: backupLimits.handoverMs },
  });
  const gate = createGate({
    heldBy: () => (store.actionsHeld ? restored : life.heldBy()),
    askAgain: life.askAgain,
    actsSince: life.actsSince,
    ...{ clock: systemClock, lookMs: limits.gateLookMs },
  });
  return { layout, names, key, word, store, gate, life };
}
