import { networkInterfaces } from "node:os";

/** What this machine knows of names and of itself. */
export interface Network {
  /** Addresses of a host name, none where it has none. */
  resolve(host: string): Promise<string[]>;
  /** Addresses of this machine by which others may reach it. */
  ownAddresses(): string[];
}

export const machineNetwork: Network = {
  async resolve(host) {
    // Loaded when used, as it is not small.
    const { lookup } = await import("node:dns/promises");
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address);
    } catch {
      return [];
    }
  },
  ownAddresses() {
    return Object.values(networkInterfaces()).flatMap((all = []) =>
      all.filter(({ internal }) => !internal).map(({ address }) => address),
    );
  },
};
