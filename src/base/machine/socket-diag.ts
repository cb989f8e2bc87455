import { diagRequest, diagRow } from "../pure/socket-diag.ts";
import type { SocketEnds, SocketRow } from "../pure/socket-table.ts";

/** `AF_NETLINK`, `SOCK_RAW | SOCK_CLOEXEC`, `NETLINK_SOCK_DIAG`. */
const [netlink, raw, sockDiag] = [16, 3 | 0x80000, 4];
const dontWait = 0x40;
/** `sockaddr_nl`, whose port is 0 for the kernel alone. */
const [senderBytes, senderPortAt, kernelPort] = [12, 4, 0];

/** Reads until the answer to this request: answers to earlier ones may be left. */
const readsMax = 8;

/** The row of the client's end of a connection; undefined where the kernel shows none in this way. */
export type AskKernel = (ends: SocketEnds) => Promise<SocketRow | undefined>;

/**
 * Asks the kernel for one socket by netlink, which costs microseconds. Its tables (`/proc/net/tcp`) cost milliseconds
 * where it has much memory, because it walks over all its buckets. Opened with the first question: a server that no
 * client reaches by its port does not load the native calls.
 */
export function createAskKernel(): AskKernel {
  let opened: Promise<(ends: SocketEnds) => SocketRow | undefined> | undefined;
  return async (ends) => {
    opened ??= open().catch(() => () => undefined);
    return (await opened)(ends);
  };
}

/** Fails where there are no native calls (without a JIT), no C library of this name, or no such socket. */
async function open(): Promise<(ends: SocketEnds) => SocketRow | undefined> {
  const { dlopen, ptr } = await import("bun:ffi");
  const { symbols } = dlopen("libc.so.6", {
    socket: { args: ["int", "int", "int"], returns: "int" },
    send: { args: ["int", "ptr", "u64", "int"], returns: "i64" },
    recvfrom: { args: ["int", "ptr", "u64", "int", "ptr", "ptr"], returns: "i64" },
  });
  const socket = symbols.socket(netlink, raw, sockDiag);
  if (socket < 0) throw new Error("the kernel opens no netlink socket");
  const answer = new Uint8Array(1_024);
  const sender = new DataView(new ArrayBuffer(senderBytes));
  const length = new Uint32Array(1);
  let sequence = 0;
  return (ends) => {
    sequence = (sequence + 1) >>> 0;
    const request = diagRequest(ends, sequence);
    if (Number(symbols.send(socket, ptr(request), request.byteLength, dontWait)) !== request.byteLength)
      return undefined;
    for (let reads = 0; reads < readsMax; reads++) {
      length[0] = senderBytes;
      const [to, from] = [ptr(answer), ptr(sender.buffer)];
      const bytes = Number(symbols.recvfrom(socket, to, answer.byteLength, dontWait, from, ptr(length)));
      if (bytes <= 0) return undefined;
      // With CAP_NET_ADMIN other processes can send to this socket, also root of a container on the host's network.
      if (length[0] !== senderBytes || sender.getUint32(senderPortAt, true) !== kernelPort) continue;
      const read = answer.subarray(0, bytes);
      const row = diagRow(read, ends, sequence);
      if (row !== undefined || sequenceOf(read) === sequence) return row;
    }
    return undefined;
  };
}

function sequenceOf(answer: Uint8Array): number | undefined {
  return answer.byteLength < 12 ? undefined : new DataView(answer.buffer, answer.byteOffset).getUint32(8, true);
}
