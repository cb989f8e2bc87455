import { lookup } from "node:dns/promises";

/** All addresses of a name, as every program of the machine sees them (hosts file, then DNS). */
export async function resolveHost(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}
