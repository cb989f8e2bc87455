/** Bounds that the composition root passes in; the names are those of `limits` in config.ts. */
export interface ValidationLimits {
  manifestsPerApplyMax: number;
  jsonDepthMax: number;
  replicasMax: number;
  envEntriesMax: number;
  startAfterMax: number;
  backup: { everyMinMs: number; wordsMax: number; patternCharactersMax: number };
  assetBytesMax: number;
  problemsShownMax: number;
  ingress: IngressSpecLimits;
}

/** What one ingress may ask for. */
interface IngressSpecLimits {
  /** A plugin may serve an ingress that names none, and how it picks a replica is its own word. */
  anyPolicy?: boolean;
  routesMax: number;
  pathLengthMax: number;
  headersMax: number;
  headerBytesMax: number;
  usersMax: number;
  networksMax: number;
  errorPageBytesMax: number;
  pemBytesMax: number;
  headBytesMin: number;
  headBytesMax: number;
  holdMsMax: number;
  holdRequestsMax: number;
  timeoutMsMax: number;
  rateMsMin: number;
  rateMsMax: number;
  rateRequestsMax: number;
  connectionsMax: number;
}

/** Where the rules of a kind put what they find: `path` names the field. */
export type Report = (path: string, message: string) => void;

export interface RuleContext {
  report: Report;
  limits: ValidationLimits;
}

/** Runs a rule on each entry of a list, with the path of the entry. */
export function eachEntry<T>(list: readonly T[], path: string, rule: (entry: T, path: string) => void): void {
  for (const [index, entry] of list.entries()) rule(entry, `${path}[${index}]`);
}

/** Reports every entry that occurs a second time. */
export function reportRepeats(entries: readonly { key: string; path: string }[], what: string, report: Report): void {
  const firstAt = new Map<string, string>();
  for (const { key, path } of entries) {
    const first = firstAt.get(key);
    if (first === undefined) firstAt.set(key, path);
    else report(path, `the ${what} "${key}" is already at ${first}`);
  }
}
