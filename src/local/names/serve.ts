import { dnsCodes, emptyAnswer, isDnsQuery, readQuestion } from "../../base/pure/dns-message.ts";
import { isInside, judge, type Zone } from "./zone.ts";

export interface NameServer {
  port: number;
  close(): void;
}

interface NameServerOptions {
  hostname: string;
  port: number;
  zone: () => Zone;
  limits: { connectionsMax: number; clientConnectionsMax: number; connectionSeconds: number; queryBytesMax: number };
}

/** The answer to a query; undefined where nothing is said, because it is not a query or comes from elsewhere. */
export function answerTo(zone: Zone, from: string, message: Uint8Array): Uint8Array | undefined {
  if (!isDnsQuery(message) || !isInside(zone.subnets, from)) return undefined;
  const question = readQuestion(message);
  if (question === undefined) return emptyAnswer(message, undefined, { code: dnsCodes.malformed });
  const verdict = judge(zone, question);
  if (verdict === "refused") return emptyAnswer(message, question, { code: dnsCodes.refused });
  return emptyAnswer(message, question, { code: verdict === "absent" ? dnsCodes.absent : dnsCodes.none, isOwn: true });
}

/** Answers over UDP and TCP. Rejects where the address cannot be listened on. */
export async function serveNames(options: NameServerOptions): Promise<NameServer> {
  const { hostname, zone, limits } = options;
  const udp = await Bun.udpSocket({
    hostname,
    port: options.port,
    socket: {
      data(socket, message, port, address) {
        if (message.length > limits.queryBytesMax) return;
        const answer = answerTo(zone(), address, message);
        if (answer === undefined) return;
        try {
          socket.send(answer, port, address);
        } catch {
          // A container that asked before is gone, which the kernel reports here.
        }
      },
      error() {},
    },
  });
  try {
    const stopTcp = listen(options, udp.port);
    return {
      port: udp.port,
      close() {
        udp.close();
        stopTcp();
      },
    };
  } catch (error) {
    udp.close();
    throw error;
  }
}

interface Connection {
  bytes: Uint8Array;
  late: Timer | undefined;
  /** Address; undefined for one that is not served. */
  client: string | undefined;
}

/** Over TCP each message follows its length in two bytes (RFC 1035, section 4.2.2). */
function listen({ hostname, zone, limits }: NameServerOptions, port: number): () => void {
  let connections = 0;
  /** By address: one container must not keep all others from asking. */
  const ofClient = new Map<string, number>();
  const takes = (address: string): boolean => {
    const own = ofClient.get(address) ?? 0;
    if (connections >= limits.connectionsMax || own >= limits.clientConnectionsMax) return false;
    if (!isInside(zone().subnets, address)) return false;
    connections += 1;
    ofClient.set(address, own + 1);
    return true;
  };
  const leaves = (address: string) => {
    connections -= 1;
    const left = (ofClient.get(address) ?? 1) - 1;
    if (left > 0) ofClient.set(address, left);
    else ofClient.delete(address);
  };
  const listener = Bun.listen<Connection>({
    hostname,
    port,
    socket: {
      open(socket) {
        const address = socket.remoteAddress;
        const counts = takes(address);
        const late = counts ? setTimeout(() => socket.terminate(), limits.connectionSeconds * 1_000) : undefined;
        socket.data = { bytes: new Uint8Array(0), late, client: counts ? address : undefined };
        if (!counts) socket.terminate();
      },
      data(socket, part) {
        let bytes = Buffer.concat([socket.data.bytes, part]);
        while (bytes.length >= 2) {
          const length = bytes.readUInt16BE(0);
          if (length > limits.queryBytesMax) return void socket.terminate();
          if (bytes.length < 2 + length) break;
          const answer = answerTo(zone(), socket.data.client ?? "", bytes.subarray(2, 2 + length));
          if (answer === undefined || !sent(socket, answer)) return void socket.terminate();
          bytes = bytes.subarray(2 + length);
        }
        socket.data.bytes = Uint8Array.from(bytes);
      },
      close({ data }) {
        clearTimeout(data.late);
        if (data.client !== undefined) leaves(data.client);
      },
      error() {},
    },
  });
  return () => listener.stop(true);
}

/** False for a client that does not read what it asked for. */
function sent(socket: { write(bytes: Uint8Array): number }, answer: Uint8Array): boolean {
  const framed = Buffer.concat([Uint8Array.of(answer.length >> 8, answer.length & 0xff), answer]);
  return socket.write(framed) === framed.length;
}
