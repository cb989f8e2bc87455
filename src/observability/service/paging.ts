/** One look back over rows whose numbers grow. */
interface Look<T> {
  /** Rows before this number, oldest first; undefined: the newest. */
  read(before: number | undefined): Promise<readonly T[]>;
  numberOf(row: T): number;
  isWanted(row: T): boolean;
  /** From this row on nothing older is wanted. */
  isTooOld(row: T): boolean;
  limit: number;
  /** Reads at most. */
  looksMax: number;
}

/** Wanted rows, newest first, and where to go on; `next` is left out at the end. */
export async function pageBack<T>(look: Look<T>, before?: number): Promise<{ rows: T[]; next?: string }> {
  const rows: T[] = [];
  let edge = before;
  for (let count = 0; count < look.looksMax; count++) {
    const batch = (await look.read(edge)).toReversed().filter((row) => edge === undefined || look.numberOf(row) < edge);
    if (batch.length === 0) return { rows };
    for (const row of batch) {
      if (look.isTooOld(row)) return { rows };
      edge = look.numberOf(row);
      if (look.isWanted(row)) rows.push(row);
      if (rows.length >= look.limit) return { rows, next: String(edge) };
    }
  }
  return { rows, ...(edge === undefined ? {} : { next: String(edge) }) };
}

/** Whether `SCOPE` or `SCOPE/NAME` names what belongs to these. */
export function isOfApp(app: string | undefined, { scope, name }: { scope?: string; name?: string }): boolean {
  if (app === undefined) return true;
  const [wantedScope, wantedName] = app.split("/", 2);
  return scope === wantedScope && (wantedName === undefined || name === wantedName);
}
