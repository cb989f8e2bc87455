import type { Refused } from "../core/change.ts";
import type { Culprits } from "../core/culprits.ts";
import type { AnySite } from "../core/servers.ts";
import type { Certificate, Table } from "../core/table.ts";

/** What HAProxy has refused is left out for as long as it is the same, so that everything else is served. */
interface Isolation {
  /** The table with the older version in place of what was refused where `served` has one, else without it. */
  without(table: Table, served: Table | undefined): { table: Table; refused: Refused[] };
  /** Notes what HAProxy refused of a table that `without` has made of `table`; false when that names nothing new. */
  note(culprits: Culprits, table: Table): boolean;
}

interface Fault {
  problem: string;
  /** The older version was refused as well. */
  isDropped: boolean;
}

export function createIsolation(): Isolation {
  const sites = new WeakMap<AnySite, Fault>();
  /** Certificate → the text that was refused. */
  const certificates = new Map<string, Fault & { pem: string }>();
  /** Refused site → its older version with the newest replicas: the same object as long as both are the same. */
  const older = new WeakMap<AnySite, { of: AnySite; site: AnySite }>();

  function olderVersion<S extends AnySite>(site: S, served: readonly S[]): S | undefined {
    const known = older.get(site);
    const before = served.find(({ id }) => id === site.id);
    if (known !== undefined && known.site === before) return before;
    if (before === undefined || before === site) return undefined;
    const made = { ...before, upstreams: site.upstreams };
    older.set(site, { of: before, site: made });
    return made;
  }

  function checked<S extends AnySite>(list: readonly S[], served: readonly S[], refused: Refused[]): S[] {
    return list.flatMap((site) => {
      const fault = sites.get(site);
      if (fault === undefined) return [site];
      const old = fault.isDropped ? undefined : olderVersion(site, served);
      refused.push({ site: site.id, problem: textOf(fault, old !== undefined) });
      return old === undefined ? [] : [old];
    });
  }

  function checkedCertificates(table: Table, served: Table | undefined, refused: Refused[]): Certificate[] {
    return table.certificates.flatMap((one) => {
      const fault = certificates.get(one.id);
      if (fault?.pem !== one.pem) return [one];
      const before = fault.isDropped ? undefined : served?.certificates.find(({ id }) => id === one.id);
      const old = before?.pem === one.pem ? undefined : before;
      refused.push({ site: `certificate ${one.id}`, problem: textOf(fault, old !== undefined) });
      return old === undefined ? [] : [old];
    });
  }

  return {
    without(table, served) {
      const refused: Refused[] = [];
      const next: Table = {
        ...table,
        sites: checked(table.sites, served?.sites ?? [], refused),
        tcp: checked(table.tcp, served?.tcp ?? [], refused),
        certificates: checkedCertificates(table, served, refused),
      };
      return refused.length === 0 ? { table, refused } : { table: next, refused };
    },
    note(culprits, table) {
      let isNew = false;
      for (const site of [...table.sites, ...table.tcp]) {
        const problem = culprits.sites.get(site.id);
        const before = sites.get(site);
        if (problem === undefined || before?.isDropped === true) continue;
        sites.set(site, { problem: before?.problem ?? problem, isDropped: before !== undefined });
        isNew = true;
      }
      for (const { id, pem } of table.certificates) {
        const problem = culprits.certificates.get(id);
        const known = certificates.get(id);
        const before = known?.pem === pem ? known : undefined;
        if (problem === undefined || before?.isDropped === true) continue;
        certificates.set(id, { pem, problem: before?.problem ?? problem, isDropped: before !== undefined });
        isNew = true;
      }
      return isNew;
    },
  };
}

function textOf({ problem }: Fault, isOlderServed: boolean): string {
  return `HAProxy refuses it, so ${isOlderServed ? "the version before is served" : "it is not served"}: ${problem}`;
}
