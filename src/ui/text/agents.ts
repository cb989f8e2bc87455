import type { AuditRow } from "../../observability/api/activity.ts";

const browsers: readonly [RegExp, string][] = [
  [/\bEdg(?:A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\b(?:Headless)?Chrom(?:e|ium)\//, "Chrome"],
  [/\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
];
const systems: readonly [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux|X11/, "Linux"],
];

/** A User-Agent in two words: `Firefox, Linux`. It is what the client says of itself, and proves nothing. */
export function agentText(agent: string): string {
  const find = (list: readonly [RegExp, string][]) => list.find(([pattern]) => pattern.test(agent))?.[1];
  const words = [find(browsers), find(systems)].filter((word) => word !== undefined);
  return words.join(", ") || agent.slice(0, 40) || "unknown";
}

/** What was done, by the method and the path of the request: `{on}` is what it was about. The first that fits counts. */
const sentences: readonly [action: RegExp, sentence: string][] = [
  [/^config\.reveal$/, "looked at {keys} of {on}"],
  [/^PATCH .*\/config\//, "changed {keys} of {on}"],
  [/\/config\/.*reveal$/, "asked to see config of {on}"],
  [/^POST .*\/apply$/, "applied a manifest"],
  [/^DELETE .*\/manifests\//, "deleted {on}"],
  [/^POST .*\/apps\/.*\/scale$/, "scaled {on} to {replicas}"],
  [/^POST .*\/apps\/.*\/rollback$/, "rolled {on} back"],
  [/^POST .*\/apps\/.*\/(\w+)$/, "told {on} to $1"],
  [/^POST .*\/pods\/.*\/restart$/, "restarted the replica {on}"],
  [/^PUT .*\/pods\/.*\/file$/, "wrote a file of {on}"],
  [/\/pods\/.*\/(?:exec|terminal)/, "opened a terminal in {on}"],
  [/^terminal ended$/, "closed a terminal in {on}"],
  [/^POST .*\/jobs\/.*\/run$/, "ran {on}"],
  [/^POST .*\/jobs\/.*\/(\w+)$/, "told {on} to $1"],
  [/^POST .*\/runs\/.*\/cancel$/, "cancelled the run {on}"],
  [/^POST .*\/builds$/, "built an image"],
  [/^POST .*\/builds\/.*\/cancel$/, "cancelled a build of {on}"],
  [/^POST .*\/builds\/.*\/retry$/, "built {on} again"],
  [/^POST .*\/sources\//, "sent source"],
  [/^POST .*\/certs\/.*\/renew$/, "renewed the certificate of {on}"],
  [/^POST .*\/history\/restore$/, "went back to an earlier state"],
  [/^POST .*\/backups\/restores$/, "restored data from a backup"],
  [/^POST .*\/backups\/runs$/, "began a backup"],
  [/^POST .*\/backups\/(\w+)/, "asked the backups for $1"],
  [/^POST .*\/rehearsals$/, "rehearsed a change"],
  [/^POST .*\/prune$/, "removed what nothing uses from the disk"],
  [/^POST .*\/pats$/, "made a token"],
  [/^POST .*\/pats\/.*\/rotate$/, "replaced the token {on}"],
  [/^DELETE .*\/pats\//, "revoked the token {on}"],
  [/^DELETE .*\/people\/.*\/sessions$/, "signed {on} out"],
  [/^PUT .*\/people\//, "gave {on} a role"],
  [/^DELETE .*\/people\//, "took the role of {on} away"],
  [/^DELETE .*session$/, "signed out"],
  [/^PUT .*\/alerts\/rules\//, "changed the alert rule {on}"],
  [/^DELETE .*\/alerts\/rules\//, "removed the alert rule {on}"],
  [/^POST .*\/alerts\/silences$/, "silenced alerts"],
  [/^DELETE .*\/alerts\/silences\//, "ended a silence"],
  [/^PUT .*\/alerts\/channels\//, "changed the alert channel {on}"],
  [/^DELETE .*\/alerts\/channels\//, "removed the alert channel {on}"],
  [/^POST .*\/alerts\/channels\/.*\/test$/, "tested the alert channel {on}"],
  [/\/alerts\/heartbeat$/, "changed the heartbeat"],
  [/\/alerts\/.*\/acknowledge$/, "acknowledged an alert"],
  [/^POST .*\/plugins\/install$/, "installed a plugin"],
  [/^DELETE .*\/plugins\//, "removed the plugin {on}"],
  [/^POST .*\/plugins\/.*\/(\w+)$/, "told the plugin {on} to $1"],
  [/^POST .*\/databases\//, "ran a command of the database {on}"],
  [/^POST .*\/logs\/drains\/.*\/test$/, "tested the log drain {on}"],
  [/\/identity\//, "changed the identity instance {on}"],
  [/^PUT .*\/(\w+?)s\/:/, "stored the $1 {on}"],
  [/^DELETE .*\/(\w+?)s\/:/, "removed the $1 {on}"],
];

/** `changed STRIPE_KEY of shop/web`; an action without words of its own is shown as it is. */
export function auditText({ action, scope, name, params = {} }: AuditRow): string {
  // The last part of a path that is not a placeholder is a word of the sentence.
  const found = sentences.find(([pattern]) => pattern.test(action));
  if (found === undefined) return action;
  const [pattern, sentence] = found;
  const word = pattern.exec(action)?.[1] ?? "";
  const on = [scope, name].filter((part) => part !== undefined && part !== "").join("/") || "it";
  const keys = String(params.keys ?? "config").split(",");
  const text = sentence
    .replace("$1", word)
    .replace("{on}", () => on)
    .replace("{replicas}", () => String(params.replicas ?? "another size"))
    .replace("{keys}", () =>
      keys.length > 3 ? `${keys.slice(0, 3).join(", ")} and ${keys.length - 3} more` : keys.join(", "),
    );
  return params.dry_run === "true" ? `${text}, as a plan alone` : text;
}

interface WantedToken {
  name: string;
  scopes: readonly string[];
  /** With commas or blanks between. */
  apps: string;
  expires: string;
}

/** The command that makes a token: only the server itself gives one. A text that a shell would read otherwise is quoted. */
export function tokenCommand({ name, scopes, apps, expires }: WantedToken): string {
  const word = (text: string) => (/^[\w.:/*@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const globs = apps.split(/[\s,]+/).filter((glob) => glob !== "");
  return [
    "berth pat create",
    name === "" ? "NAME" : word(name),
    ...(scopes.length === 0 ? [] : [`--scope ${scopes.join(",")}`]),
    ...globs.map((glob) => `--app ${/\*/.test(glob) ? `'${glob.replaceAll("'", "")}'` : word(glob)}`),
    ...(expires === "" ? [] : [`--expires ${expires}`]),
  ].join(" ");
}
