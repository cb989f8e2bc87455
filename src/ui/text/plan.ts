interface PlanRow {
  ref: string;
  action: string;
  changed: readonly string[];
  replicas: readonly { action: string; why: string }[];
  serving?: { before: number; least: number } | undefined;
  notes: readonly string[];
}

/** One line of a plan. `ends`: something stops, or nothing serves for a while. */
interface PlanLine {
  text: string;
  ends: boolean;
}

/** What an apply will do with one resource, the most important first. */
export function planLines({ action, changed, replicas, serving, notes }: PlanRow): PlanLine[] {
  const count = (wanted: string) => replicas.filter((replica) => replica.action === wanted).length;
  const [created, replaced, removed] = [count("create"), count("replace"), count("remove")];
  const lines: PlanLine[] = [];
  const add = (text: string, ends = false) => lines.push({ text, ends });
  if (action === "unchanged") add("nothing changes");
  if (changed.length > 0) add(`changes ${changed.join(", ")}`);
  if (created > 0) add(`${created} ${created === 1 ? "replica is" : "replicas are"} created`);
  if (replaced > 0) add(`${replaced} ${replaced === 1 ? "replica is" : "replicas are"} replaced`);
  if (removed > 0) add(`${removed} ${removed === 1 ? "replica ends" : "replicas end"}`, true);
  if (serving !== undefined && serving.before > 0) {
    if (serving.least === 0) add("for a while no replica serves: requests fail", true);
    else add(`at least ${serving.least} of ${serving.before} replicas serve all the time`);
  }
  for (const note of notes) add(note);
  return lines;
}
