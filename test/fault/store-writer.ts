import { openTestStore, testLimits } from "../support/store-root.ts";

/**
 * The process that store-kill.test.ts kills: writes for ever, several changes under way at a time, and prints one line
 * per acknowledged change. Each change is two manifests and an event, which must be there together or not at all.
 */
const [root = "", round = "0"] = process.argv.slice(2);
const store = openTestStore(
  { root, path: `${root}/state.db`, lockPath: `${root}/run/lock.db`, remove: () => undefined },
  { limits: { ...testLimits, eventsKept: 1_000_000 } },
);
console.log(`ready ${process.pid}`);

async function lane(number: number): Promise<never> {
  for (let turn = 0; ; turn++) {
    const id = `${round}-${number}-${turn}`;
    const revision = await store.write((tx) => {
      const put = (half: string) =>
        tx.manifests.put({ kind: "job", scope: half, name: `lane-${number}`, spec: { id } }, turn).manifest.revision;
      put("first");
      tx.config.patch("first", `lane-${number}`, { ID: id }, { now: turn });
      const last = put("second");
      tx.events.append({ actor: "writer", action: "put", name: id, revision: last }, turn);
      return last;
    });
    console.log(`ack ${number} ${id} ${revision}`);
  }
}

await Promise.all([0, 1, 2, 3].map(lane));
