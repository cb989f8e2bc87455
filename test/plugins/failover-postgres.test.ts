import { setDefaultTimeout } from "bun:test";
import { postgresImage } from "../support/blocks.ts";
import { failoverTests } from "../support/failover.ts";

setDefaultTimeout(400_000);

failoverTests("postgres", {
  plugin: "pg",
  key: "PG",
  block: {
    kind: "pg",
    scope: "data",
    name: "main",
    spec: { image: postgresImage, replicas: 3, failover: { after: "5s", synchronous: true }, stop_grace: "10s" },
  },
  leads:
    "PATH=$(echo /usr/lib/postgresql/*/bin):$PATH; psql -XAtq -U postgres -d postgres -c 'select pg_is_in_recovery()'",
  answer: "f",
});
