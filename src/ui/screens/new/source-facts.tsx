import type { Source } from "../../../orchestration/api/sources.ts";
import { Note } from "../../parts/notes.tsx";
import { bytesText, many } from "../../text/figures.ts";
import { sourceMessage } from "../../text/source-builds.ts";

/** What the server found in the source, and what of it no image gets. */
export function SourceFacts({ source }: { source: Source }) {
  const { found, builds, left_out: left, warnings } = source;
  const files = builds.reduce((sum, build) => sum + build.files, 0);
  const bytes = builds.reduce((sum, build) => sum + build.bytes, 0);
  return (
    <section class="section" aria-label="Source">
      <Note>
        {`Found ${found}; ${many(files, "file")}, ${bytesText(bytes)}. ${sourceMessage(source)}`}
        {left.length === 0 ? null : (
          <p class="small">{`Not part of any image, since they look like secrets: ${left.join(", ")}`}</p>
        )}
      </Note>
      {warnings.map((warning) => (
        <Note key={warning} tone="warn">
          {warning}
        </Note>
      ))}
    </section>
  );
}
