import { isLoopbackAddress } from "../config/access.ts";
import { limits, type ServeOptions } from "../config/config.ts";
import { parseAddress } from "../config/values.ts";
import { admissionRefusal } from "../base/pure/admission.ts";
import type { Naming } from "../orchestration/core/naming.ts";
import type { Layout } from "../base/disk/layout.ts";
import { linkSocket, openRootToGroup } from "../base/disk/root.ts";
import type { FrontOptions } from "../base/http/front/front.ts";
import { readOperators } from "../base/machine/accounts.ts";
import { createPeers } from "../base/machine/peers.ts";
import { createAskKernel } from "../base/machine/socket-diag.ts";

const etc = "/etc";

/** Where the orchestration plane listens, and whom it lets in there. */
export async function openPlane(
  options: ServeOptions,
  layout: Layout,
  names: Naming,
): Promise<Pick<FrontOptions, "tcp" | "unixPath" | "unixGroup" | "allowedHosts">> {
  const { group } = await readOperators(etc, names.operatorGroup);
  if (group.gid !== undefined) await openRootToGroup(layout, group.gid);
  await linkSocket(layout);
  return {
    tcp: tcpOf(options, layout, names),
    unixPath: layout.socket,
    unixGroup: group.gid,
    allowedHosts: options.allowedHosts,
  };
}

function tcpOf({ addr, addrInsecure }: ServeOptions, { socket }: Layout, names: Naming): FrontOptions["tcp"] {
  if (addr === "") return undefined;
  if (addrInsecure || !isLoopbackAddress(addr)) return parseAddress(addr);
  const peers = createPeers({
    group: names.operatorGroup,
    uid: process.getuid?.() ?? 0,
    timeoutMs: limits.peerSearchMs,
    quick: limits.peerQuickLook,
    ask: createAskKernel(),
    etc,
  });
  return { ...parseAddress(addr), admit: async (ends) => admissionRefusal(await peers.who(ends), socket) };
}
