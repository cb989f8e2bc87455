import { dnsTypes, type DnsQuestion, internetClass } from "../../base/pure/dns-message.ts";

/** The names that no other name server is asked for. */
export interface Zone {
  /** All names below it: `berth`. */
  suffix: string;
  /** Short names of services and their aliases: `db.shop`. */
  short: ReadonlySet<string>;
  /** Search domains of the machine: a resolver adds them to names that it did not find. */
  search: readonly string[];
  /** IPv4 subnets of the platform's network: who may ask, and whose addresses have no names elsewhere. */
  subnets: readonly string[];
}

/**
 * `absent`: no container has the name. `empty`: a container may have the name, and has no such record.
 * `refused`: Docker asks the next name server.
 */
type Verdict = "absent" | "empty" | "refused";

/** The answer to a question that Docker could not answer from the containers that run. */
export function judge(zone: Zone, question: Pick<DnsQuestion, "name" | "type" | "class">): Verdict {
  const { name, type } = question;
  if (question.class !== internetClass || !(isOwn(zone, name) || isOwnAddress(zone, name))) return "refused";
  // Docker forwards questions for other types also for names of containers that run.
  return type === dnsTypes.a || type === dnsTypes.aaaa || type === dnsTypes.ptr ? "absent" : "empty";
}

/** Whether an address belongs to the platform's network. */
export function isInside(subnets: readonly string[], address: string): boolean {
  const asked = numberOf(address);
  return asked !== undefined && subnets.some((subnet) => isWithin(subnet, asked));
}

function isOwn(zone: Zone, name: string): boolean {
  if (isNamed(zone, name)) return true;
  return zone.search.some((domain) => name.endsWith(`.${domain}`) && isNamed(zone, name.slice(0, -domain.length - 1)));
}

function isNamed({ suffix, short }: Zone, name: string): boolean {
  return name === suffix || name.endsWith(`.${suffix}`) || short.has(name);
}

const reverse = ".in-addr.arpa";

function isOwnAddress({ subnets }: Zone, name: string): boolean {
  if (!name.endsWith(reverse)) return false;
  return isInside(subnets, name.slice(0, -reverse.length).split(".").reverse().join("."));
}

function isWithin(subnet: string, address: number): boolean {
  const [base = "", bits = ""] = subnet.split("/");
  const from = numberOf(base);
  const size = 2 ** (32 - Number(bits));
  return from !== undefined && address >= from && address < from + size;
}

/** An IPv4 address as a number; undefined for any other text. */
export function numberOf(address: string): number | undefined {
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** A number as an IPv4 address. */
export function addressOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join(".");
}
