/** One row of `/proc/net/route`: IPv4 routes of the main table. */
export interface RouteRow {
  /** `172.18.0.0/16` */
  subnet: string;
  metric: number;
  /** Packets to it are refused, instead of being sent anywhere. */
  isUnreachable: boolean;
}

/** `RTF_REJECT` */
const reject = 0x200;

/** Rows that are not understood are left out. */
export function routeRows(table: string): RouteRow[] {
  return table
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [, destination = "", , flags = "", , , metric = "", mask = ""] = line.trim().split(/\s+/);
      const [to, within] = [destination, mask].map(wordOf);
      if (to === undefined || within === undefined) return [];
      const isUnreachable = (Number.parseInt(flags, 16) & reject) !== 0;
      return [{ subnet: `${dotted(to)}/${bits(within)}`, metric: Number(metric), isUnreachable }];
    });
}

/** Addresses are in the order of the network, read as a number of this machine, which is little-endian. */
function wordOf(hex: string): number[] | undefined {
  if (!/^[0-9A-F]{8}$/i.test(hex)) return undefined;
  return [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

const dotted = (bytes: number[]) => bytes.join(".");
const bits = (bytes: number[]) =>
  bytes.map((byte) => byte.toString(2).replaceAll("0", "").length).reduce((a, b) => a + b, 0);

/** An IPv4 subnet as it is written in the table: `172.18.0.0/16`. */
export function isSubnet(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/.test(text);
}
