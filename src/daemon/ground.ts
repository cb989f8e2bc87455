import type { Principal } from "../access/principal.ts";
import type { Client } from "../base/wire/client.ts";
import type { Backups } from "../backups/service/create.ts";
import type { ServeOptions } from "../config/config.ts";
import type { Log } from "../base/words/log.ts";
import type { Opened } from "../base/words/opened.ts";
import type { Door } from "../orchestration/http/callbacks/door.ts";
import type { RunningObservability } from "../observability/service/create.ts";
import type { RunDoor } from "../orchestration/http/callbacks/run-door.ts";
import type { IngressRoom } from "./ingress.ts";
import type { openRoot } from "./root.ts";
import type { Senders } from "./senders.ts";

/** What every part of a server stands on: its options, its root, and what sends webhooks and mails. */
export interface Ground extends Awaited<ReturnType<typeof openRoot>>, Senders {
  options: ServeOptions;
  log: Log;
  opened: Opened;
}

/** Parts that others, made before them, ask. Each is empty until the start has come to it. */
export interface Late {
  observability?: RunningObservability;
  ingress?: IngressRoom;
  /** The door for runs of plugins. */
  runs?: RunDoor;
  /** The door for containers of plugins' blocks. */
  callbacks?: Door | undefined;
  telemetry?: Door | undefined;
  backups?: Backups;
  /** The orchestration plane in this process. */
  ask?: (actor: string, by: Principal) => Client;
}
