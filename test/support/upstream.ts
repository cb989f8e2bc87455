import { dnsTypes, emptyAnswer, readQuestion } from "../../src/base/pure/dns-message.ts";
import { docker } from "./dockerd.ts";

/** A name server of the outside: it writes down each question, and knows `outside.example` alone. */
export interface Upstream {
  address: string;
  /** Names that were asked, in order. */
  asked: string[];
  close(): void;
}

/** The address of the name that it knows. */
export const outsideAddress = "192.0.2.9";

/** It listens on the gateway of a network of its own, which containers of other networks reach. */
export async function openUpstream(dockerHost: string, network: string): Promise<Upstream> {
  docker(dockerHost, ["network", "create", network]);
  const address = docker(dockerHost, [
    "network",
    "inspect",
    network,
    "-f",
    "{{(index .IPAM.Config 0).Gateway}}",
  ]).trim();
  const asked: string[] = [];
  const socket = await Bun.udpSocket({
    hostname: address,
    port: 53,
    socket: {
      data(own, message, port, from) {
        const question = readQuestion(message);
        if (question === undefined) return;
        asked.push(question.name);
        const known = question.name === "outside.example";
        const answer = Buffer.from(emptyAnswer(message, question, { code: known ? 0 : 3 }));
        const found = known && question.type === dnsTypes.a;
        if (found) answer[7] = 1;
        const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...outsideAddress.split(".").map(Number)];
        try {
          own.send(Buffer.concat([answer, Uint8Array.from(found ? record : [])]), port, from);
        } catch {
          // Who asked before is gone.
        }
      },
      error() {},
    },
  });
  return {
    address,
    asked,
    close() {
      socket.close();
      docker(dockerHost, ["network", "rm", network]);
    },
  };
}
