import { setDefaultTimeout } from "bun:test";
import { redisImage } from "../support/blocks.ts";
import { failoverTests } from "../support/failover.ts";

setDefaultTimeout(400_000);

failoverTests("redis", {
  plugin: "redis",
  key: "REDIS",
  block: {
    kind: "redis",
    scope: "data",
    name: "main",
    spec: { image: redisImage, replicas: 3, failover: { after: "5s" }, stop_grace: "10s" },
  },
  leads: "sh /berth/tools.sh shell info replication | tr -d '\\r' | sed -n 's/^role://p'",
  answer: "master",
});
