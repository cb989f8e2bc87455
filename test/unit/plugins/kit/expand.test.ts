import { expect, test } from "bun:test";
import type { Block } from "../../../../plugins/kit/block.ts";
import { expandServer, type ServerPods } from "../../../../plugins/kit/expand.ts";
import { readFields } from "../../../../plugins/kit/fields.ts";
import { checkPrimary, checkSettings, readServerBlock } from "../../../../plugins/kit/server-block.ts";
import { expandPostgres } from "../../../../plugins/postgres/expand.ts";
import { expandRedis } from "../../../../plugins/redis/expand.ts";

let made = 0;
const context = { envPrefix: "ACME", newPassword: () => `secret${++made}` };
const complete = { MQ_PASSWORD: "a", MQ_PRIMARY: "0", MQ_EPOCH: "1", MQ_KEEP: "7" };
const defaults = { image: "mq:1", port: 4000, portMost: 5000, storage: "1Gi", canWait: true };

/** A server that no plugin is for. */
function queue(spec: Record<string, unknown>, config: Record<string, string> = complete) {
  const block: Block = { kind: "mq", scope: "data", name: "main", spec, config };
  const fields = readFields(spec);
  const server = readServerBlock(fields, defaults);
  checkSettings(server.settings, { name: /^[a-z]+$/, own: ["port"] }, fields);
  checkPrimary(server.replicas, config.MQ_PRIMARY, fields);
  fields.done();
  const pods: ServerPods = {
    scripts: { "serve.sh": "exec mq", "tools.sh": ":" },
    env: { MQ_NAME: "main" },
    dataFolder: "/mq",
    stopGrace: "9s",
    dockerOptions: ["--shm-size 1m"],
    passwordKeys: ["MQ_PASSWORD"],
    links: [],
    urls: () => ({ write: "mq://w", read: "mq://r" }),
    keys: { primary: "MQ_PRIMARY", epoch: "MQ_EPOCH", keep: "MQ_KEEP", links: "MQ_LINKS" },
  };
  return expandServer({ block, server, pods }, context);
}

test("another server than those there are becomes scripts and a statefulset", () => {
  const { manifests, actions } = queue({ env: { X: "1" }, volumes: ["/srv:/srv"], docker_options: ["--cpu-shares 2"] });
  expect(manifests.map(({ kind, scope, name }) => [kind, scope, name])).toEqual([
    ["asset", "data", "main"],
    ["statefulset", "data", "main"],
  ]);
  expect(manifests[1]?.spec).toMatchObject({
    image: "mq:1",
    replicas: 1,
    ports: ["4000"],
    stop_grace: "9s",
    env: { MQ_NAME: "main", X: "1" },
    docker_options: ["--entrypoint sh", "--shm-size 1m", "--cpu-shares 2"],
    volume_claims: [{ name: "data", mount_path: "/mq", size: "1Gi" }],
  });
  expect(manifests[1]?.spec.volumes).toEqual([
    `\${asset.data.main.kit_pod_sh}:/berth/kit/pod.sh:ro`,
    `\${asset.data.main.kit_handover_sh}:/berth/kit/handover.sh:ro`,
    `\${asset.data.main.kit_backups_sh}:/berth/kit/backups.sh:ro`,
    `\${asset.data.main.kit_kept_sh}:/berth/kit/kept.sh:ro`,
    `\${asset.data.main.kit_restore_sh}:/berth/kit/restore.sh:ro`,
    `\${asset.data.main.serve_sh}:/berth/serve.sh:ro`,
    `\${asset.data.main.tools_sh}:/berth/tools.sh:ro`,
    "acme-data-main-backups:/backups",
    "/srv:/srv",
  ]);
  expect(actions).toEqual([]);
});

test("the config that is missing is made once, and how many backups stay follows the block", () => {
  const { actions } = queue({}, {});
  expect(actions).toMatchObject([
    { kv: { MQ_PASSWORD: expect.stringContaining("secret"), MQ_PRIMARY: "0", MQ_EPOCH: "1", MQ_KEEP: "7" } },
  ]);
  expect(queue({ backups: { keep: 2 } }).actions).toMatchObject([{ type: "config_set", kv: { MQ_KEEP: "2" } }]);
});

test("what is wrong is told by its field", () => {
  const wrong = () =>
    queue({ port: 5001, replicas: 1, settings: { port: 1, "a b": "x", c: "x\ny" } }, { ...complete, MQ_PRIMARY: "1" });
  const lines = [
    "spec.port: expected a whole number from 1 to 5000, got 5001",
    "spec.settings.port: is set by the plugin; leave it out",
    "spec.settings.a b: is not the name of a setting",
    "spec.settings.c: must be one line",
    "spec.replicas: pod 1 is primary and 1 would remove it; make a lower one primary first",
  ];
  for (const line of lines) expect(wrong).toThrow(line);
});

test.each([
  ["postgres", expandPostgres],
  ["redis", expandRedis],
])("%s: every file that a script reads below /berth is mounted, with its text in the asset", (kind, expand) => {
  const block = { kind, scope: "data", name: "main", spec: { backups: { schedule: "@daily" } }, config: {} };
  const [asset, statefulset, cronjob] = expand(block, context).manifests;
  const files = asset?.spec.files as Record<string, string>;
  const mounts = ({ volumes }: { volumes: string[] }) =>
    new Map(
      volumes
        .flatMap((each) => [/^\$\{asset\.data\.main\.(\w+)\}:(\/berth\/.+):ro$/.exec(each)?.slice(1) ?? []])
        .filter(([key]) => key !== undefined)
        .map(([key = "", path = ""]) => [path, key]),
    );
  const inPod = mounts(statefulset?.spec as never);
  expect(mounts(cronjob?.spec.job as never)).toEqual(inPod);
  expect([...inPod.values()].sort()).toEqual(Object.keys(files).sort());
  const read = Object.values(files).flatMap((text) => text.match(/\/berth\/[\w./-]+\.(?:sh|conf)/g) ?? []);
  expect(read).toContain("/berth/kit/backups.sh");
  expect(read.filter((path) => !inPod.has(path))).toEqual([]);
});
