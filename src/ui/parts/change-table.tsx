import { valueText } from "../text/changes.ts";

interface Change {
  path: string;
  before?: unknown;
  after?: unknown;
}

/** What two specs have otherwise, field by field. */
export function ChangeTable({ changes, from }: { changes: readonly Change[]; from?: string }) {
  if (changes.length === 0)
    return <p class="soft small">{from === undefined ? "Nothing to compare it with." : `The same spec as ${from}.`}</p>;
  return (
    <ul class="changes mono">
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          <span class="soft">{path}</span>
          {before === undefined ? null : <del>{valueText(before)}</del>}
          {after === undefined ? null : <ins>{valueText(after)}</ins>}
        </li>
      ))}
    </ul>
  );
}
