import { bytesOf, isMapped, type SocketEnds, type SocketRow } from "./socket-table.ts";

const [headBytes, requestBytes, answerBytes] = [16, 72, 88];
const [tcp, inet, inet6] = [6, 2, 10];
/** `SOCK_DIAG_BY_FAMILY` as a request (`NLM_F_REQUEST`). */
const [byFamily, isRequest] = [20, 1];

/**
 * Asks the kernel for the client's own socket of a connection (sock_diag(7), `inet_diag_req_v2`). Numbers are in the
 * byte order of the machine, addresses and ports in that of the network.
 */
export function diagRequest(ends: SocketEnds, sequence: number): Uint8Array {
  const request = new Uint8Array(requestBytes);
  const view = new DataView(request.buffer);
  view.setUint32(0, requestBytes, true);
  view.setUint16(4, byFamily, true);
  view.setUint16(6, isRequest, true);
  view.setUint32(8, sequence, true);
  const [client, server] = [bytesOf(ends.remoteAddress), bytesOf(ends.localAddress)];
  const isIpv4 = isMapped(client) && isMapped(server);
  const address = (bytes: number[]) => (isIpv4 ? bytes.slice(12) : bytes);
  request[headBytes] = isIpv4 ? inet : inet6;
  request[headBytes + 1] = tcp;
  view.setUint32(headBytes + 4, 0xff_ff_ff_ff, true);
  view.setUint16(headBytes + 8, ends.remotePort);
  view.setUint16(headBytes + 10, ends.localPort);
  request.set(address(client), headBytes + 12);
  request.set(address(server), headBytes + 28);
  // Any cookie.
  request.fill(0xff, headBytes + 48, headBytes + 56);
  return request;
}

/**
 * What the kernel answered; undefined for everything that is not the socket that was asked for. The kernel answers with
 * a socket that listens on the client's port where the client's own is gone: its other end has no port.
 */
export function diagRow(answer: Uint8Array, ends: SocketEnds, sequence: number): SocketRow | undefined {
  if (answer.byteLength < answerBytes) return undefined;
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength);
  if (view.getUint16(4, true) !== byFamily || view.getUint32(8, true) !== sequence) return undefined;
  if (view.getUint16(headBytes + 4) !== ends.remotePort || view.getUint16(headBytes + 6) !== ends.localPort) {
    return undefined;
  }
  return { uid: view.getUint32(headBytes + 64, true), inode: view.getUint32(headBytes + 68, true) };
}
