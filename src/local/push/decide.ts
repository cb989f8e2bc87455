/** One line that git gives the hook: where a branch or a tag stood, and where it shall stand. */
export interface RefUpdate {
  ref: string;
  /** All zeros: it did not exist. */
  before: string;
  /** All zeros: it is deleted. */
  after: string;
}

interface Branch {
  branch: string;
  commit: string;
}

/** What a push means. `stored` are the other branches, `deleted` those that go. */
type Decision =
  { type: "refuse"; why: string } | { type: "accept"; deploy: Branch | undefined; stored: Branch[]; deleted: string[] };

const usual = ["main", "master"];

/** The lines of a pre-receive hook; undefined if one is not such a line. */
export function readUpdates(text: string): RefUpdate[] | undefined {
  const updates: RefUpdate[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, before, after, ref] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (refs\/\S+)$/.exec(line) ?? [];
    if (before === undefined || after === undefined || ref === undefined) return undefined;
    updates.push({ ref, before, after });
  }
  return updates;
}

/** `head` is the branch that deploys, where one has deployed already. */
export function decide(updates: readonly RefUpdate[], head: string | undefined): Decision {
  const deploying = head === undefined ? usual : [head];
  const odd = updates.find(({ ref }) => !/^refs\/(?:heads|tags)\//.test(ref));
  if (odd !== undefined) return { type: "refuse", why: `${odd.ref} is neither a branch nor a tag` };
  const branches = updates.flatMap(({ ref, after }) => {
    return ref.startsWith("refs/heads/") ? [{ branch: ref.slice("refs/heads/".length), commit: after }] : [];
  });
  // It would be read as a flag wherever a branch is given by its name.
  const flag = branches.find(({ branch }) => branch.startsWith("-"));
  if (flag !== undefined) return { type: "refuse", why: `${flag.branch} begins with a dash: rename the branch` };
  const main = branches.filter(({ branch }) => deploying.includes(branch));
  const [first, second] = main;
  if (first !== undefined && second !== undefined) {
    return { type: "refuse", why: `${first.branch} and ${second.branch} would both be deployed: push one of them` };
  }
  if (first !== undefined && isNothing(first.commit)) {
    return { type: "refuse", why: `${first.branch} is what runs: berth delete ends the app, and the branch stays` };
  }
  const others = branches.filter(({ branch }) => branch !== first?.branch);
  return {
    type: "accept",
    deploy: first,
    stored: others.filter(({ commit }) => !isNothing(commit)),
    deleted: others.filter(({ commit }) => isNothing(commit)).map(({ branch }) => branch),
  };
}

function isNothing(commit: string): boolean {
  return /^0+$/.test(commit);
}
