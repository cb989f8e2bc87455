import type { Layout } from "../base/disk/layout.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Log } from "../base/words/log.ts";
import type { ServeOptions } from "../config/config.ts";
import { networkLimits } from "../config/network-limits.ts";
import { hostServers } from "../local/names/host-servers.ts";
import { readNetwork } from "../local/names/network.ts";
import { createNameProcess } from "../local/names/process.ts";
import { prove } from "../local/names/prove.ts";
import { createNamesRoom, type NamesRoom } from "../local/names/room.ts";
import { createShortNames } from "../local/names/short-names.ts";
import { writeZone } from "../local/names/zone-file.ts";
import type { Naming } from "../orchestration/core/naming.ts";
import type { Store } from "../orchestration/store/store.ts";
import { ownProgram } from "./plugins.ts";
import { versionText } from "../version.ts";

interface NamesRoomParts {
  layout: Layout;
  names: Naming;
  options: Pick<ServeOptions, "dockerHost">;
  store: Pick<Store, "manifests" | "subscribe">;
  log: Log;
}

/** What answers lookups of containers for services that do not run. */
export function openNamesRoom({ layout, names, options, store, log }: NamesRoomParts): NamesRoom {
  const self = ownProgram();
  const short = createShortNames(store.manifests, names, networkLimits.names.shortMax);
  const room = createNamesRoom({
    network: names.network,
    suffix: names.dnsSuffix,
    readNetwork: () => readNetwork(options.dockerHost, names.network),
    hostServers,
    shortNames: short.list,
    process: createNameProcess({ self, zoneFile: layout.zone, pidFile: layout.namesPid, version: versionText() }),
    prove: ({ bridge, subnets, taken }, server) =>
      prove({ self, bridge, subnet: subnets[0] ?? "", server, suffix: names.dnsSuffix, taken }),
    write: (zone) => writeZone(layout.zone, zone),
    isRoot: process.getuid?.() === 0,
    clock: systemClock,
    log,
  });
  store.subscribe((keys) => {
    short.changed(keys);
    room.changed();
  });
  return room;
}
