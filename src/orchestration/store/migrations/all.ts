import { first } from "./0001-first.ts";
import { second } from "./0002-releases-and-runs.ts";
import { third } from "./0003-plugins.ts";
import { takenBack } from "./0004-taken-back.ts";
import { namedVolumes } from "./0005-named-volumes.ts";
import { configBehind } from "./0006-config-behind.ts";
import { atomicApplies } from "./0007-atomic-applies.ts";
import { certificates } from "./0008-certificates.ts";
import { receipts } from "./0009-receipts.ts";
import { reasons } from "./0010-reasons.ts";
import { builds } from "./0011-builds.ts";
import { messages } from "./0012-messages.ts";
import { locks } from "./0013-locks.ts";
import { canaries } from "./0014-canaries.ts";
import { keyedRequests } from "./0015-keyed-requests.ts";
import { sleep } from "./0016-sleep.ts";
import { sharedHosts } from "./0017-shared-hosts.ts";
import { previews } from "./0018-previews.ts";
import { buildDetails } from "./0019-build-details.ts";
import { statusState } from "./0020-status-state.ts";
import { releasesByTime } from "./0021-releases-by-time.ts";
import { lesserRights } from "./0022-lesser-rights.ts";
import { deliverySubjects } from "./0023-delivery-subjects.ts";
import { imageDigests } from "./0024-image-digests.ts";
import { madeByActions } from "./0025-made-by-actions.ts";
import { blockMakers } from "./0026-block-makers.ts";
import { pluginConfig } from "./0027-plugin-config.ts";
import { deathHints } from "./0028-death-hints.ts";
import { missedInstants } from "./0029-missed-instants.ts";
import { backups } from "./0030-backups.ts";
import { history } from "./0031-history.ts";

/** The migrations of `state.db`, in order. A released migration is never edited; a change is a new file. */
export const stateMigrations: readonly string[] = [
  first,
  second,
  third,
  takenBack,
  namedVolumes,
  configBehind,
  atomicApplies,
  certificates,
  receipts,
  reasons,
  builds,
  messages,
  locks,
  canaries,
  keyedRequests,
  sleep,
  sharedHosts,
  previews,
  buildDetails,
  statusState,
  releasesByTime,
  lesserRights,
  deliverySubjects,
  imageDigests,
  madeByActions,
  blockMakers,
  pluginConfig,
  deathHints,
  missedInstants,
  backups,
  history,
];
