import { type Static, type TObject, Type } from "@sinclair/typebox";
import { Backup } from "./backup.ts";
import { containerFields } from "./container.ts";
import { podDefaults } from "./defaults.ts";
import { ProbeWebhooks } from "./webhooks.ts";
import { Init } from "./init.ts";
import { Probes } from "./probe.ts";
import { Rollout } from "./rollout.ts";
import { ListOf, Words } from "../../../base/wire/shape.ts";

/** Fields of the kinds whose containers are kept running. */
export const podFields = {
  ...containerFields,
  replicas: Type.Optional(
    Type.Integer({ minimum: 0, default: podDefaults.replicas, description: "containers to keep running" }),
  ),
  ports: Type.Optional(
    Words(
      "[[ip:]host:]container[/udp], each a port or a range such as 8000-8010; without host a free port, without ip on 127.0.0.1 only",
    ),
  ),
  restart: Type.Optional(
    Type.String({ default: podDefaults.restart, description: "no, always, unless-stopped or on-failure[:n]" }),
  ),
  rollout: Type.Optional(Rollout),
  health_check: Type.Optional(
    Type.String({
      default: "/",
      description: "has no effect: a replica enters and leaves the ingress by its readiness probe",
    }),
  ),
  probes: Type.Optional(Probes),
  on_probe: Type.Optional(ProbeWebhooks),
  start_after: Type.Optional(
    Words(
      "names of apps of this scope, 32 at most: the first start waits until each has a ready replica, or with name:started one that runs; 5 minutes at most, and never again after that",
    ),
  ),
  backup: Type.Optional(Backup),
  inits: Type.Optional(ListOf(Init, "run in order before each replica's main container")),
};

export type PodFields = Static<TObject<typeof podFields>>;
